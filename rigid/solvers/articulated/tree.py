"""Which joints hold a model's bodies together as coordinates do: spanning trees, rooted in the ground.

A joint in a tree costs nothing to keep closed; one that closes a loop is cut, and its rows are left to impulses. So the
trees grow, from the ground, along joints with motors, whose rows then move one speed each; along the joint that holds
most (a hinge before a ball), so that a loop is cut where it has fewest rows; rather from body to body than from the
ground a second time, as an impulse that closes a loop disturbs least where it acts on one tree and the ground; and
where it is nearest to the ground, which keeps paths short. On the linkage of Peaucellier and Lipkin that makes 9 sweeps
to 1e-6, where other cuts make up to 60. Soft joints are never in a tree. What nothing holds floats: the heaviest body
of each such lot is a root with six coordinates.
"""

from dataclasses import dataclass

from rigid.names import GROUND

# Kinds of links by their joint to the parent; the names of joints are those of Joint.kind.
FREE, BALL, HINGE, UNIVERSAL, SLIDER, FIXED = range(6)
KINDS = {"ball": BALL, "hinge": HINGE, "universal": UNIVERSAL, "slider": SLIDER, "fixed": FIXED}

# Speeds and coordinates of each kind: a ball has a quaternion, what is free a position besides.
FREEDOM = {FREE: 6, BALL: 3, HINGE: 1, UNIVERSAL: 2, SLIDER: 1, FIXED: 0}
COORDINATES = {FREE: 7, BALL: 4, HINGE: 1, UNIVERSAL: 2, SLIDER: 1, FIXED: 0}


@dataclass
class Link:
    """A body in a tree. Arguments: body; parent: index of the link that carries it, -1 for the ground; joint: index of
    the joint between them, None where it floats; kind; reversed: whether the joint's child is the parent here."""

    body: int
    parent: int
    joint: int | None
    kind: int
    reversed: bool = False


def spanning_trees(model):
    """Links of all bodies, each after its parent and those of one tree together. Arguments: a Model.

    Of joints that cost the same, the first one of the model is taken.
    """
    waiting = set(range(len(model.bodies)))
    link_of, depth, links = {GROUND: -1}, {GROUND: 0}, []
    joints = {k: joint for k, joint in enumerate(model.joints) if joint.kind in KINDS and joint.soft is None}
    while waiting:
        edge = [k for k, joint in joints.items() if (joint.parent in waiting) != (joint.child in waiting)]
        if edge:
            k = min(edge, key=lambda k: cost(joints[k], depth[inner(joints[k], waiting)], waiting))
            joint, parent = joints[k], inner(joints[k], waiting)
            body = joint.parent if parent == joint.child else joint.child
            link = Link(body, link_of[parent], k, KINDS[joint.kind], reversed=parent == joint.child)
            depth[body] = depth[parent] + 1
        else:
            body = max(waiting, key=lambda body: (model.bodies[body].mass, -body))
            link, depth[body] = Link(body, -1, None, FREE), 0
        link_of[body] = len(links)
        links.append(link)
        waiting.remove(body)
    return together(links)


def cost(joint, depth, waiting):
    """What it costs to grow along a joint, least first. Arguments: depth: of its end in a tree, from the ground."""
    return joint.motor is None, joint.degrees_of_freedom, inner(joint, waiting) == GROUND, depth


def inner(joint, waiting):
    """Which end of a joint is in a tree already."""
    return joint.child if joint.parent in waiting else joint.parent


def together(links):
    """The same links, those of one tree one after another. Arguments: links, each after its parent."""
    roots = []
    for k, link in enumerate(links):
        roots.append(k if link.parent < 0 else roots[link.parent])
    order = sorted(range(len(links)), key=lambda k: (roots[k], k))
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    found = [links[k] for k in order]
    for link in found:
        link.parent = place[link.parent]
    return found


def ends_of_trees(links):
    """For each link the first one of its tree, and the one behind its last."""
    firsts = []
    for k, link in enumerate(links):
        firsts.append(k if link.parent < 0 else firsts[link.parent])
    ends = {first: k + 1 for k, first in enumerate(firsts)}
    return [(first, ends[first]) for first in firsts]
