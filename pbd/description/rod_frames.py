"""Frames of the segments of rods, and rotations of their joints at rest. Plain numpy and scipy.

The columns of a frame are d_1, towards the side particle, d_2 and d_3, along the segment: see pbd/constraints/rod.py.
"""

import numpy as np
import scipy

from pbd.core.messages import shown
from pbd.core.validate import spread


def rotations():
    """SciPy's class Rotation, which is imported where it is used first: a start without rods does not wait for it."""
    return scipy.spatial.transform.Rotation


def frames_along(points, closed, twist):
    """Frames of segments that follow a line without twisting, or evenly twisted.

    Args: points: nodes (n, 3) [m]; closed: whether the last node is joined to the first; twist: from the first to the
    last segment, or of a closed line all the way round [rad].

    Returns: the frames as a Rotation of (segments,), whose columns are d_1, d_2, d_3.
    """
    ends = np.concatenate([points, points[:1]]) if closed else points
    frames = frames_along_lines(ends[None])
    step = twist / max(1, len(frames) - (not closed))
    refuse_half_turns("twist", np.abs([step]))
    return frames * rotations().from_rotvec(step * np.arange(len(frames))[:, None] * np.array([0.0, 0.0, 1.0]))


def frames_along_lines(lines):
    """Frames of segments that follow lines without twisting: those of the first line, then those of the next, ...

    The first axis of a line's first frame is horizontal, or along x where the line is vertical. Each frame turns to the
    next by the shortest rotation, which takes d_1 to d_1 - (t'·d_1)/(1 + t·t') (t + t') if it takes t to t'.

    Args: lines: nodes of each (lines, n, 3) [m].

    Returns: the frames as a Rotation of (lines · (n - 1),).
    """
    tangents = np.diff(lines, axis=1)
    tangents = tangents / np.linalg.norm(tangents, axis=2)[..., None]
    horizontal = np.cross((0.0, 0.0, 1.0), tangents[:, 0])
    is_vertical = np.linalg.norm(horizontal, axis=1) <= 1e-6
    horizontal[is_vertical] = (1.0, 0.0, 0.0)
    firsts = [at_right_angles(horizontal, tangents[:, 0])]
    for before, after in zip(tangents.swapaxes(0, 1)[:-1], tangents.swapaxes(0, 1)[1:]):
        bent = (after * firsts[-1]).sum(axis=1) / np.maximum(1 + (before * after).sum(axis=1), 1e-12)
        firsts.append(at_right_angles(firsts[-1] - bent[:, None] * (before + after), after))
    d_1, d_3 = np.stack(firsts, axis=1), tangents
    return rotations().from_matrix(np.stack([d_1, np.cross(d_3, d_1), d_3], axis=-1).reshape(-1, 3, 3))


def at_right_angles(vectors, units):
    """Unit vectors (n, 3) along what vectors (n, 3) have across unit vectors (n, 3)."""
    across = vectors - (vectors * units).sum(axis=1)[:, None] * units
    return across / np.linalg.norm(across, axis=1)[:, None]


def frames_of(positions, segments):
    """Frames of segments, a Rotation. Args: positions: of all particles (particles, 3) [m]; segments: (n, 3)."""
    return frame_of_points(*(positions[segments[:, k]] for k in range(3)))


def frame_of_points(a, b, side):
    """Frames of segments, a Rotation. Args: both nodes and the side particle of each (n, 3) [m]."""
    along = b - a
    d_3 = along / np.linalg.norm(along, axis=1)[:, None]
    p = side - (a + b) / 2
    p = p - (p * d_3).sum(axis=1)[:, None] * d_3
    d_1 = p / np.linalg.norm(p, axis=1)[:, None]
    return rotations().from_matrix(np.stack([d_1, np.cross(d_3, d_1), d_3], axis=2))


def quaternions_of(positions, segments):
    """Rotations of segments (segments, 4), quaternions (w, x, y, z). Args: see `frames_of`."""
    if not len(segments):
        return np.zeros((0, 4))
    return np.roll(frames_of(positions, segments).as_quat(), 1, axis=1)


def rest_rotations(natural, present, lengths):
    """Rotations Q of joints at rest, a Rotation.

    Args: natural: see `pbd.build.rod`; present: rotations of joints now, a Rotation; lengths: of joints (joints,) [m].
    """
    count = len(lengths)
    expected = '"straight", "given", or (curvatures, twist)'
    if isinstance(natural, str):
        if natural not in ("straight", "given"):
            raise ValueError(f"natural is {shown(natural)}: expected {expected}")
        return present if natural == "given" else rotations().from_rotvec(np.zeros((count, 3)))
    if not isinstance(natural, (tuple, list)) or len(natural) != 2:
        raise TypeError(f"natural is {shown(natural)}: expected {expected}")
    curvatures = spread("curvatures of natural", natural[0], (count, 2))
    twist = spread("twist of natural", natural[1], (count,))
    vectors = lengths[:, None] * np.column_stack([curvatures, twist])
    refuse_half_turns("natural", np.linalg.norm(vectors, axis=1))
    return rotations().from_rotvec(vectors)


def refuse_half_turns(name, angles):
    """Raise ValueError if joints are turned by half a turn or more, which have two ways. Args: angles: [rad]."""
    if len(angles) and not angles.max() < np.pi:
        raise ValueError(
            f"{name} turns joint {int(np.argmax(angles))} by {angles.max():.3g} rad: expected less than half a turn, "
            "so more segments"
        )


def natural_at_end(natural, place):
    """The natural shape between a clamp and the segment at an end. Args: natural: see `pbd.build.rod`; place: 0 or -1.

    It is that of the joint at this end. A clamp lies in line with the segment, so "given" is straight.
    """
    if isinstance(natural, str):
        return natural
    curvatures, twist = (np.asarray(each, float) for each in natural)
    return curvatures[place] if curvatures.ndim == 2 else curvatures, twist[place] if twist.ndim else twist


def with_closing_twist(rest, present, angle):
    """Rotations of joints at rest, where the last joint is now twisted by an angle [rad] more than it is at rest."""
    twist = rotations().from_rotvec((0.0, 0.0, twist_of(present[-1]) - angle))
    return rotations().concatenate([rest[:-1], rest[-1:] * twist])


def twist_of(rotation):
    """The twist in a rotation about the third axis, after a shortest turn of that axis [rad]."""
    _x, _y, z, w = rotation.as_quat(canonical=True)
    return 2 * np.arctan2(z, w)
