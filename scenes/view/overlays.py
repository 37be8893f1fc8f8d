"""What is inside of a picture, as lines: sticks, frames of bodies, contacts, joints, limits."""

import numpy as np

from rigid.collision.overlaps import may_overlap
from rigid.constraints.joints.gaps import joint_ends
from rigid.joint import Ball, Hinge, Slider, Universal
from rigid.rotation import from_axis_angle, rotate
from scenes.comparison.measure import state_of

INK, VIOLET, RED, GREEN, BLUE, ORANGE = (
    (40, 40, 48), (120, 60, 190), (220, 40, 40), (30, 150, 70), (40, 90, 220), (240, 140, 20),
)  # fmt: skip
NORMAL = 0.1  # a contact's normal is drawn so long, and half of a joint's axis at most [m]
ARC = 16  # lines of an arc or a cone
AT_LIMIT = 1e-3  # what is so near to its limit is drawn as at it [rad or m]
WIDTH = 2.0  # of a line [pixels]


class Overlays:
    """Lines on a page, of what is chosen. Arguments: a viser.ViserServer. Attributes: chosen: names of LINES."""

    def __init__(self, server):
        self.server, self.chosen, self.handles = server, set(), {}

    def show(self, running, frame):
        """Show what is chosen of a Run. Arguments: running; its Frame."""
        for name, find in LINES.items():
            lines = find(running, frame) if name in self.chosen else None
            if lines is None or not len(lines[0]):
                if name in self.handles:
                    self.handles.pop(name).remove()
                continue
            points, colours = lines
            colours = np.broadcast_to(np.reshape(colours, (-1, 1, 3)), points.shape).astype(np.uint8)
            if name not in self.handles:
                self.handles[name] = self.server.scene.add_line_segments(
                    f"/lines/{name}", points, colours, thickness=WIDTH, thickness_units="screen"
                )
            else:
                self.handles[name].points, self.handles[name].colors = points, colours

    def clear(self):
        """Take all lines off the page."""
        for handle in self.handles.values():
            handle.remove()
        self.handles = {}


def possible(running):
    """Names of LINES that a Run has anything for."""
    scene = running.scene
    joints = scene.model is not None and bool(scene.model.joints)
    there = {
        "sticks": scene.particles is not None and bool(scene.particles.constraint_sets),
        "frames": scene.model is not None and running.particles is not None,
        "contacts": scene.model is not None and may_overlap(scene.model),
        "joints": joints,
        "limits": joints,
    }
    return [name for name in LINES if there[name]]


def sticks(running, frame):
    """Sticks between a person's own particles."""
    if running.scene.particles is None:
        return None
    pairs, lengths = running.particles.sticks()
    pairs = pairs[(pairs < len(running.scene.particles)).all(axis=1) & (lengths > 0)]
    return frame.positions[pairs], INK


def frames(running, frame):
    """Sticks of the frames that bodies are made of."""
    if running.scene.model is None or running.particles is None:
        return None
    own = 0 if running.scene.particles is None else len(running.scene.particles)
    pairs, _ = running.particles.sticks()
    return running.particles.positions()[pairs[(pairs >= own).all(axis=1)]], VIOLET


def contacts(running, frame):
    """Points of contact of bodies, each with its normal."""
    system = running.system
    if running.scene.model is None:
        return None
    found = system.contact_forces()
    touching = found.forces.any(axis=1)
    points, normals = found.points[touching], found.normals[touching]
    return np.stack([points, points + NORMAL * normals], axis=1), RED


def joints(running, frame):
    """Of each joint, lines from its anchor to both bodies, and its axis; in red, how far it is open."""
    model = running.scene.model
    if model is None or not model.joints:
        return None
    points, triads = joint_ends(model, state_of(frame))
    lines, colours = [], []
    for k, joint in enumerate(model.joints):
        for side, body in enumerate((joint.parent, joint.child)):
            if body >= 0:
                lines.append((points[side, k], frame.body_poses[body, :3]))
                colours.append(INK)
        lines.append((points[0, k], points[1, k]))
        colours.append(RED)
        for axis in axes_of(joint, triads[:, k]):
            reach = min(NORMAL, 0.5 * max(np.linalg.norm(joint.child_anchor), 1e-3))
            lines.append((points[0, k] - reach * axis, points[0, k] + reach * axis))
            colours.append(BLUE)
    return np.array(lines), np.array(colours)


def axes_of(joint, triads):
    """The axes (3,) about or along which a joint moves. Arguments: joint; triads of parent and child (2, 3, 3)."""
    if isinstance(joint, (Hinge, Slider)):
        return [triads[0, 0]]
    return [triads[0, 0], triads[1, 1]] if isinstance(joint, Universal) else []


def limits(running, frame):
    """Where joints may go: arcs of hinges and universal joints, cones of balls, ways of sliders, each with where it is;
    green, or red where it is at its limit."""
    model = running.scene.model
    if model is None or not model.joints:
        return None
    state = state_of(frame)
    points, (parents, children) = joint_ends(model, state)
    positions = running.system.joint_positions()
    lines, colours = [], []
    for k, joint in enumerate(model.joints):
        at, reach = points[0, k], 0.6 * max(np.linalg.norm(joint.child_anchor), 0.05)
        found = ways(joint, at, reach, parents[k], children[k])
        colour = RED if at_limit(joint, positions.get(joint.name)) else GREEN
        for line in found:
            lines += line
            colours += [colour] * len(line)
        if found:
            lines.append((at, at + reach * needle(joint, children[k])))
            colours.append(ORANGE)
    return (np.array(lines), np.array(colours)) if lines else None


def ways(joint, at, reach, parent, child):
    """Lists of lines along the limits of a joint; none where it has none."""
    if isinstance(joint, Hinge):
        return arc(at, reach, parent[0], parent[1], joint.limits)
    if isinstance(joint, Universal):
        return arc(at, reach, parent[0], parent[1], joint.parent_limits) + arc(
            at, reach, child[1], parent[0], joint.child_limits
        )
    if isinstance(joint, Slider) and np.isfinite(joint.limits).all():
        return [[(at + joint.limits[0] * parent[0], at + joint.limits[1] * parent[0])]]
    if isinstance(joint, Ball) and joint.swing_limit < np.pi:
        turn = np.linspace(0, 2 * np.pi, ARC + 1)
        across = np.outer(np.cos(turn), parent[1]) + np.outer(np.sin(turn), parent[2])
        rim = at + reach * (np.cos(joint.swing_limit) * parent[0] + np.sin(joint.swing_limit) * across)
        return [list(zip(rim[:-1], rim[1:])), [(at, point) for point in rim[: -1 : ARC // 4]]]
    return []


def arc(at, reach, axis, zero, limits):
    """Lines along an arc between two angles from a direction, right-handed about an axis, and from its middle to its
    ends; only to the end that is finite."""
    finite = [angle for angle in limits if np.isfinite(angle)]
    if not finite:
        return []
    angles = np.linspace(*limits, ARC + 1) if len(finite) == 2 else np.array(finite)
    rim = at + reach * np.array([rotate(from_axis_angle(axis, angle), zero) for angle in angles])
    return [list(zip(rim[:-1], rim[1:])), [(at, rim[0]), (at, rim[-1])]]


def needle(joint, child):
    """The direction that limits are about, where the child has it (3,)."""
    return child[0] if isinstance(joint, (Ball, Slider)) else child[1]


def at_limit(joint, q):
    """Whether a joint is at one of its limits, or beyond. Arguments: joint; q: its position."""
    if isinstance(joint, (Hinge, Slider)):
        pairs = [(q, joint.limits)]
    elif isinstance(joint, Universal):
        pairs = [(q[0], joint.parent_limits), (q[1], joint.child_limits)]
    elif isinstance(joint, Ball):
        pairs = [(q[0], (-np.inf, joint.swing_limit)), (q[1], joint.twist_limits)]
    else:
        pairs = []
    return any(value < low + AT_LIMIT or value > high - AT_LIMIT for value, (low, high) in pairs)


LINES = {"sticks": sticks, "frames": frames, "contacts": contacts, "joints": joints, "limits": limits}
