"""Debug lines: sticks, frames of bodies, contacts, joints and limits, drawn over the picture."""

import numpy as np

from rigid.collision.overlaps import may_overlap
from rigid.constraints.joints.gaps import joint_ends
from rigid.joints.ball import Swing
from rigid.joints.joint_type import Angle, Shift
from rigid.rotation import from_axis_angle, rotate
from scenes.comparison.measure import state_of

DARK, VIOLET, RED, GREEN, BLUE, ORANGE = (
    (40, 40, 48), (120, 60, 190), (220, 40, 40), (30, 150, 70), (40, 90, 220), (240, 140, 20),
)  # fmt: skip
LENGTH = 0.1  # of contact normals, and largest half length of joint axes [m]
SEGMENTS = 16  # of an arc or a cone
LIMIT_TOLERANCE = 1e-3  # a joint so near to its limit is drawn as at the limit [rad or m]
WIDTH = 2.0  # of a line [pixels]


class DebugLines:
    """Line segments on a page. Args: a viser.ViserServer. Attributes: chosen: names of LINES that are shown."""

    def __init__(self, server):
        self.server, self.chosen, self.handles = server, set(), {}

    def show(self, run, frame):
        """Show the chosen lines. Args: a Run; its Frame."""
        for name, lines_of in LINES.items():
            lines = lines_of(run, frame) if name in self.chosen else None
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
        """Remove all lines from the page."""
        for handle in self.handles.values():
            handle.remove()
        self.handles = {}


def available_lines(run):
    """Names of the LINES that a Run can show."""
    scene = run.scene
    has_joints = scene.model is not None and bool(scene.model.joints)
    available = {
        "sticks": scene.particles is not None and bool(scene.particles.constraint_sets),
        "frames": scene.model is not None and run.particles is not None,
        "contacts": scene.model is not None and may_overlap(scene.model),
        "joints": has_joints,
        "limits": has_joints,
    }
    return [name for name in LINES if available[name]]


# Each of these functions takes a Run and its Frame. It returns the ends of lines (n, 2, 3) [m] and their colours, one
# for all or (n, 3); or None.


def stick_lines(run, frame):
    """Sticks between the particles of the scene."""
    if run.scene.particles is None:
        return None
    pairs, lengths = run.particles.sticks()
    pairs = pairs[(pairs < len(run.scene.particles)).all(axis=1) & (lengths > 0)]
    return frame.positions[pairs], DARK


def frame_lines(run, frame):
    """Sticks between the particles that bodies consist of with solver "verlet"."""
    if run.scene.model is None or run.particles is None:
        return None
    first = 0 if run.scene.particles is None else len(run.scene.particles)
    pairs, _ = run.particles.sticks()
    return run.particles.positions()[pairs[(pairs >= first).all(axis=1)]], VIOLET


def contact_lines(run, frame):
    """Contact points of bodies with their normals, if there is a force between the bodies."""
    if run.scene.model is None:
        return None
    contacts = run.system.contact_forces()
    touching = contacts.forces.any(axis=1)
    points, normals = contacts.points[touching], contacts.normals[touching]
    return np.stack([points, points + LENGTH * normals], axis=1), RED


def joint_lines(run, frame):
    """For each joint: lines from its anchor to both bodies, its axes, and its gap in red."""
    model = run.scene.model
    if model is None or not model.joints:
        return None
    points, axes = joint_ends(model, state_of(frame))
    lines, colours = [], []
    for k, joint in enumerate(model.joints):
        for side, body in enumerate((joint.parent, joint.child)):
            if body >= 0:
                lines.append((points[side, k], frame.body_poses[body, :3]))
                colours.append(DARK)
        lines.append((points[0, k], points[1, k]))
        colours.append(RED)
        for axis in axes_of(joint, axes[:, k]):
            length = min(LENGTH, 0.5 * max(np.linalg.norm(joint.child_anchor), 1e-3))
            lines.append((points[0, k] - length * axis, points[0, k] + length * axis))
            colours.append(BLUE)
    return np.array(lines), np.array(colours)


def limit_lines(run, frame):
    """For each joint with limits: its range in green, or in red at a limit, and its position in orange.

    Angles have arcs, swings have cones, shifts have lines.
    """
    model = run.scene.model
    if model is None or not model.joints:
        return None
    points, (parents, children) = joint_ends(model, state_of(frame))
    positions = run.system.joint_positions()
    lines, colours = [], []
    for k, joint in enumerate(model.joints):
        anchor, radius = points[0, k], 0.6 * max(np.linalg.norm(joint.child_anchor), 0.05)
        found = range_lines(joint, anchor, radius, parents[k], children[k])
        if found:
            lines += found
            colours += [RED if at_limit(joint, positions.get(joint.name)) else GREEN] * len(found)
            # The direction whose angle is limited. It rotates with the child.
            angles = [coordinate for coordinate in joint.type.coordinates if isinstance(coordinate, Angle)]
            needle = children[k][angles[0].cosine[1] if angles else 0]
            lines.append((anchor, anchor + radius * needle))
            colours.append(ORANGE)
    return (np.array(lines), np.array(colours)) if lines else None


LINES = {
    "sticks": stick_lines, "frames": frame_lines, "contacts": contact_lines, "joints": joint_lines,
    "limits": limit_lines,
}  # fmt: skip


def axes_of(joint, axes):
    """The axes (3,) that a joint turns about or slides along. Args: joint; axes of parent and child (2, 3, 3)."""
    return [
        axes[joint.type.side(k), coordinate.axis]
        for k, coordinate in enumerate(joint.type.coordinates) if isinstance(coordinate, (Angle, Shift))
    ]  # fmt: skip


def range_lines(joint, anchor, radius, parent, child):
    """Lines around the range of a joint; an empty list without limits.

    Args: joint; anchor (3,) [m]; radius of arcs and cones [m]; parent, child: axes (3, 3) of both sides.
    """
    lines = []
    for k, (coordinate, limits) in enumerate(zip(joint.type.coordinates, joint.coordinate_limits())):
        axis = (parent, child)[joint.type.side(k)][coordinate.axis]
        if isinstance(coordinate, Angle):
            lines += arc_lines(anchor, radius, axis, parent[coordinate.cosine[0]], limits)
        elif isinstance(coordinate, Shift) and np.isfinite(limits).all():
            lines.append((anchor + limits[0] * axis, anchor + limits[1] * axis))
        elif isinstance(coordinate, Swing) and limits[1] < np.pi:
            lines += cone_lines(anchor, radius, parent, limits[1])
    return lines


def cone_lines(anchor, radius, axes, swing):
    """Lines along the rim of a cone and to it. Args: anchor (3,) [m]; radius [m]; axes (3, 3); swing [rad]."""
    angles = np.linspace(0, 2 * np.pi, SEGMENTS + 1)
    across = np.outer(np.cos(angles), axes[1]) + np.outer(np.sin(angles), axes[2])
    rim = anchor + radius * (np.cos(swing) * axes[0] + np.sin(swing) * across)
    return [*zip(rim[:-1], rim[1:]), *((anchor, point) for point in rim[: -1 : SEGMENTS // 4])]


def arc_lines(centre, radius, axis, zero, limits):
    """Lines along an arc and to its ends; only to the finite end if one limit is infinite.

    Args: centre (3,) [m]; radius [m]; axis (3,), right-handed; zero: direction of angle zero (3,); limits [rad].
    """
    finite = [angle for angle in limits if np.isfinite(angle)]
    if not finite:
        return []
    angles = np.linspace(*limits, SEGMENTS + 1) if len(finite) == 2 else np.array(finite)
    rim = centre + radius * np.array([rotate(from_axis_angle(axis, angle), zero) for angle in angles])
    return [*zip(rim[:-1], rim[1:]), (centre, rim[0]), (centre, rim[-1])]


def at_limit(joint, position):
    """Whether a joint is at a limit or beyond. Args: joint; position: as `joint_positions` has it, or None."""
    pairs = [] if position is None else zip(np.atleast_1d(position), joint.coordinate_limits())
    return any(value < low + LIMIT_TOLERANCE or value > high - LIMIT_TOLERANCE for value, (low, high) in pairs)
