"""Which joints of a model become coordinates: spanning trees, rooted in the ground or in bodies that follow paths.

A joint in a tree stays closed at no cost. A joint that closes a loop is cut: impulses along its rows keep it closed.
Trees grow from the ground and from bodies that follow paths, in this order of preference:

1. along joints with motors, because a motor's row then moves one speed;
2. along the joint with most rows (a hinge before a ball), so that a loop is cut where it has fewest;
3. from body to body before a second joint to the ground, because an impulse that closes a loop disturbs least if it
   acts on one tree and the ground;
4. near the root, which keeps chains of links short.

On the linkage of Peaucellier and Lipkin that takes 9 iterations to 1e-6; other cuts take up to 60. Soft joints and
joints that break are never in a tree, and those whose type does not reverse (rigid/joints/joint_type.py) in none that
runs from child to parent. A body that follows a path is a free root, whose six speeds are given (dynamics.py). Each
component without such a root or a joint to the ground gets a free root with six speeds: its heaviest body. Joints
between roots that nothing moves are in no tree.
"""

from dataclasses import dataclass

from rigid.names import GROUND


class LinkKind:
    """Kinds of links: free roots; those on a ball; those on joints with a speed for each declared coordinate."""

    FREE, BALL, COORDINATES = range(3)


# By JointType.special. Other joints are in no tree.
LINK_KINDS = {None: LinkKind.COORDINATES, "ball": LinkKind.BALL}


@dataclass
class Link:
    """A body in a tree."""

    body: int
    parent: int  # index of the link that carries it, -1 for the ground and for free roots
    joint: int | None  # index of the joint to the parent, None for a free root
    kind: int  # a LinkKind
    declared: tuple = ()  # the coordinates of the joint's type
    reversed: bool = False  # whether the joint's child is the parent here

    @property
    def speeds(self):
        """How many speeds the link has."""
        return {LinkKind.FREE: 6, LinkKind.BALL: 3}.get(self.kind, len(self.declared))

    @property
    def coordinates(self):
        """How many coordinates the link has. A ball has a quaternion, a free link also a position."""
        return {LinkKind.FREE: 7, LinkKind.BALL: 4}.get(self.kind, len(self.declared))


def spanning_trees(model):
    """Choose the links of all bodies. Among equal joints the first one of the model is taken.

    Args: model: a rigid.Model. Returns: list of Link, each after its parent, those of one tree together.
    """
    kinematic = [body for body, each in enumerate(model.bodies) if each.path is not None]
    waiting = set(range(len(model.bodies))) - set(kinematic)
    links = [Link(body, -1, None, LinkKind.FREE) for body in kinematic]
    link_of = {GROUND: -1} | {body: k for k, body in enumerate(kinematic)}
    depth = dict.fromkeys(link_of, 0)
    immovable = set(link_of)
    joints = {k: joint for k, joint in enumerate(model.joints) if may_be_link(joint)}
    while waiting:
        edge = [k for k, joint in joints.items() if may_grow(joint, waiting)]
        if edge:
            k = min(edge, key=lambda k: cost(joints[k], inner_end(joints[k], waiting), immovable, depth))
            joint, parent = joints[k], inner_end(joints[k], waiting)
            body = joint.parent if parent == joint.child else joint.child
            kind, declared = LINK_KINDS[joint.type.special], joint.type.coordinates
            link = Link(body, link_of[parent], k, kind, declared, reversed=parent == joint.child)
            depth[body] = depth[parent] + 1
        else:
            body = max(waiting, key=lambda body: (model.bodies[body].mass, -body))
            link, depth[body] = Link(body, -1, None, LinkKind.FREE), 0
        link_of[body] = len(links)
        links.append(link)
        waiting.remove(body)
    return sorted_by_tree(links)


def may_be_link(joint):
    """Whether a joint may be in a tree."""
    return joint.type.special in LINK_KINDS and joint.soft is None and not joint.breaks


def may_grow(joint, waiting):
    """Whether a tree may grow along a joint: it has one end, the parent's unless the joint's type reverses."""
    if joint.parent in waiting:
        return joint.child not in waiting and joint.type.reverses
    return joint.child in waiting


def cost(joint, inner, immovable, depth):
    """The preference for growing along a joint, lowest first.

    Args: joint; inner: its body in a tree; immovable: the ground and bodies that follow paths; depth: of each body.
    """
    return joint.motor is None, joint.degrees_of_freedom, inner in immovable, depth[inner]


def inner_end(joint, waiting):
    """The body of a joint that is in a tree already."""
    return joint.child if joint.parent in waiting else joint.parent


def sorted_by_tree(links):
    """The links with those of one tree together. Args: links: each after its parent."""
    roots = []
    for k, link in enumerate(links):
        roots.append(k if link.parent < 0 else roots[link.parent])
    order = sorted(range(len(links)), key=lambda k: (roots[k], k))
    position = {old: new for new, old in enumerate(order)} | {-1: -1}
    found = [links[k] for k in order]
    for link in found:
        link.parent = position[link.parent]
    return found


def tree_ends(links):
    """For each link, the first link of its tree and the one behind the last."""
    firsts = []
    for k, link in enumerate(links):
        firsts.append(k if link.parent < 0 else firsts[link.parent])
    ends = {first: k + 1 for k, first in enumerate(firsts)}
    return [(first, ends[first]) for first in firsts]
