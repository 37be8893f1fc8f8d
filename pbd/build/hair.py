"""Hair: strands that grow from points of a surface, each a rod."""

from dataclasses import dataclass

import numpy as np

from pbd.build.rod import masses_of, refuse_coinciding
from pbd.core.rotation import rotate
from pbd.core.transaction import builder
from pbd.core.validate import (
    finite_array,
    function_of_time,
    pose,
    refuse_gigabytes,
    spread,
    whole,
)
from pbd.description import rods
from pbd.description.rod_frames import frames_along_lines
from pbd.particles import Particles

BYTES_OF_SEGMENT = 4000  # of a strand in a description, and while it is made
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass
class Hair:
    """Indices of strands, all with as many segments.

    Attributes: particles: nodes from root to tip (strands, n); segments: rows of `pbd.Particles.rod_segments` (strands,
    n - 1); roots: segments that hold the first ones, beyond the roots (strands,); radius: of each strand [m].
    """

    particles: np.ndarray
    segments: np.ndarray
    roots: np.ndarray
    radius: np.ndarray


@builder(Particles)
def hair(
    particles, roots, directions=None, segments=20, *, length=None, radius, density, young, shear=None, poisson=None,
    stretching=None, natural="straight", damping=0.0, thickness=None, motion=None,
):  # fmt: skip
    """Add strands of hair that are clamped in a surface, which may move.

    Each strand is solved by itself, whatever the others do. Where all particles are alike strands, many lie in the
    lanes of the processor's vectors, and threads share them (pbd/execution/strands.py). They touch colliders, not one
    another.

    Args:
        particles: the pbd.Particles to which they are added.
        roots: points of the surface (strands, 3) [m]; or lines of the strands as they are added, roots first
            (strands, n, 3), without the following three.
        directions: in which they grow (strands, 3), or one for all.
        segments: of each strand, of equal length.
        length: [m]. This and the following are for all, or one for each strand.
        radius: of a strand [m].
        density: mass by volume [kg/m³].
        young: Young's modulus E [Pa].
        shear: shear modulus G [Pa]; None for E/2(1 + ν).
        poisson: Poisson's ratio ν, one for all; None for 0.3.
        stretching: EA [N]; None for that of a round section. Hair is so thin that in 32 bits it diverges with that.
        natural: shape without load: "straight"; "given", as they are added; or (curvatures, twist), with curvatures
            (2,) or (strands, 2) [1/m] and the twist, a number or (strands,) [rad/m]. With both a strand curls.
        damping: τ of bending and twist [s], see `pbd.build.rod`.
        thickness: distance that strands keep from colliders [m], as they do not keep any from one another: different
            ones give hair volume. None for the radius.
        motion: of the surface: a function of time [s] that returns its position (3,) [m], or (position, rotation), as
            that of a collider does (`pbd.Particles.add_collider`); or one for each root, (strands, 3) and (strands, 4).
            None for a surface at rest.

    Returns: a Hair.

    Raises: TypeError and ValueError for bad values.

    Source: see pbd/constraints/rod.py; measured hair is 0.04 mm thick, 1,300 kg/m³ and has E of 3 to 4 GPa.
    """
    lines = lines_of(roots, directions, segments, length)
    strands, nodes = lines.shape[:2]
    segments = nodes - 1
    each = {name: spread(name, value, (strands,)) for name, value in
            {"radius": radius, "density": density, "young": young}.items()}  # fmt: skip
    distance = each["radius"] if thickness is None else spread("thickness", thickness, (strands,), signed=False)
    others = {"shear": shear, "stretching": stretching}
    each |= {name: None if value is None else spread(name, value, (strands,)) for name, value in others.items()}
    values = {name: None if value is None else np.repeat(value, segments) for name, value in each.items()}
    others = dict.fromkeys(("area", "bending", "twisting", "yield_curvature", "yield_twist"))
    section = rods.section_of(strands * segments, poisson=poisson, **values, **others)
    frames = frames_along_lines(lines).as_matrix()[:, :, 0].reshape(strands, segments, 3)
    sides = rods.side_places(lines[:, :-1].reshape(-1, 3), lines[:, 1:].reshape(-1, 3), frames.reshape(-1, 3), section)
    beyond = 2 * lines[:, :1] - lines[:, 1:2]
    beside = sides.reshape(strands, segments, 3)[:, :1] - (lines[:, 1:2] - lines[:, :1])
    places = np.concatenate([lines, sides.reshape(strands, segments, 3), beyond, beside], axis=1)
    masses, inertial = mass_of_particles(section, lines), 1 - 1 / rods.LEVER**2
    scales, radii = np.zeros((strands, 2 * nodes + 1)), np.zeros((strands, 2 * nodes + 1))
    scales[:, :nodes], radii[:, :nodes] = 1 / inertial, distance[:, None]
    added = particles.add_particles(
        places.reshape(-1, 3), masses.ravel(), radius=radii.ravel(), gravity_scale=scales.ravel()
    )
    number = added.reshape(strands, -1)
    of_nodes, of_sides, outer = number[:, :nodes], number[:, nodes : 2 * nodes - 1], number[:, -2:]
    particles.radii()[np.concatenate([of_sides.ravel(), outer.ravel()])] = rods.TOUCHES_NOTHING
    members = np.stack([of_nodes[:, :-1], of_nodes[:, 1:], of_sides], axis=-1)
    grown = rods.describe_segments(particles, members.reshape(-1, 3), section).reshape(strands, segments)
    members = np.stack([outer[:, 0], of_nodes[:, 0], outer[:, 1]], axis=-1)
    first = rods.Section.from_table(section.table()[::segments])
    held = rods.describe_segments(particles, members, first, stretches=False, held=True)
    chain = np.concatenate([held[:, None], grown], axis=1)
    joints = np.stack([chain[:, :-1], chain[:, 1:]], axis=-1).reshape(-1, 2)
    rods.add_joints(particles, joints, natural_of_joints(natural, strands, segments), damping)
    if motion is not None:
        moved = np.column_stack([of_nodes[:, 0], outer])
        particles.add_path(moved.ravel(), path_of_roots(motion, particles.positions()[moved]))
    return Hair(of_nodes, grown, held, each["radius"])


def lines_of(roots, directions, segments, length):
    """Nodes of strands (strands, n, 3) [m]. Args: see `hair`."""
    roots = np.asarray(roots) if np.ndim(roots) == 3 else finite_array("roots", roots, (None, 3))
    if roots.ndim == 3:
        if directions is not None or length is not None:
            raise TypeError("directions or length with roots that are lines: expected lines alone, or points as roots")
        lines = finite_array("roots", roots, (None, None, 3))
        if lines.shape[1] < 2:
            raise ValueError(f"roots are lines of {lines.shape[1]} point: expected two or more")
    elif directions is None or length is None:
        raise TypeError(f"roots are {len(roots)} points without directions or length: expected both")
    else:
        segments = whole("segments", segments)
        refuse_gigabytes("segments", segments, BYTES_OF_SEGMENT * segments * len(roots))
        directions = spread("directions", directions, roots.shape)
        sizes = np.linalg.norm(directions, axis=1)
        if not sizes.all():
            raise ValueError(f"direction of strand {int(np.argmin(sizes))} is zero: expected one in which it grows")
        length = spread("length", length, (len(roots),), allowed=lambda x: x > 0, expected="a number above zero")
        along = np.linspace(0, 1, segments + 1)[:, None] * (length / sizes)[:, None, None]
        lines = roots[:, None] + along * directions[:, None]
    if not len(lines):
        raise ValueError("hair without roots: expected one or more")
    lengths = np.linalg.norm(np.diff(lines, axis=1), axis=2)
    worst = np.argmin(lengths.min(axis=1) / np.maximum(lengths.sum(axis=1), 1e-300))
    refuse_coinciding(lines[worst], lengths[worst], False)
    return lines


def mass_of_particles(section, lines):
    """Masses of the particles of strands (strands, 2 n + 1) [kg]: nodes, side particles, and two that hold the root."""
    strands, nodes = lines.shape[:2]
    lengths = np.linalg.norm(np.diff(lines, axis=1), axis=2)
    of_segments = masses_of(section, lengths.ravel()).reshape(lengths.shape)
    masses = np.full((strands, 2 * nodes + 1), np.inf)
    at_nodes = np.zeros((strands, nodes))
    at_nodes[:, :-1] += of_segments / 2
    at_nodes[:, 1:] += of_segments / 2
    masses[:, 1:nodes] = (1 - 1 / rods.LEVER**2) * at_nodes[:, 1:]
    masses[:, nodes : 2 * nodes - 1] = of_segments / rods.LEVER**2
    return masses


def natural_of_joints(natural, strands, segments):
    """The natural shape of all joints, see `pbd.build.rod`. Args: natural: see `hair`."""
    if isinstance(natural, str) or not isinstance(natural, (tuple, list)) or len(natural) != 2:
        return natural  # which `rest_rotations` checks
    curvatures = spread("curvatures of natural", natural[0], (strands, 2))
    twist = spread("twist of natural", natural[1], (strands,))
    return np.repeat(curvatures, segments, axis=0), np.repeat(twist, segments)


def path_of_roots(motion, places):
    """The path of particles that roots carry along. Args: motion: see `hair`; places: at 0 s (strands, 3, 3) [m]."""
    strands = len(places)
    start = poses_of_roots(function_of_time("motion", motion, "a pose")(0.0), strands)
    back = start[:, 3:] * (1, -1, -1, -1)
    local = rotate(back[:, None], places - start[:, None, :3])

    def path(time):
        now = poses_of_roots(motion(time), strands)
        return (now[:, None, :3] + rotate(now[:, None, 3:], local)).reshape(-1, 3)

    return path


def poses_of_roots(given, strands):
    """Position [m] and rotation of each root (strands, 7). Args: given: by a motion, see `hair`."""
    what = "given by a motion of hair"
    one_each = np.ndim(given[0] if isinstance(given, (tuple, list)) and len(given) == 2 else given) == 2
    if not one_each:
        return np.broadcast_to(pose(what, given, UNTURNED), (strands, 7))
    position, rotation = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, None)
    position = finite_array(f"positions {what}", position, (strands, 3), np.inf)
    if rotation is None:
        return np.column_stack([position, np.tile(UNTURNED, (strands, 1))])
    rotation = finite_array(f"rotations {what}", rotation, (strands, 4), np.inf)
    lengths = np.linalg.norm(rotation, axis=1)
    if not lengths.all():
        raise ValueError(f"rotation {int(np.argmin(lengths))} {what} is (0, 0, 0, 0): expected (w, x, y, z)")
    return np.column_stack([position, rotation / lengths[:, None]])
