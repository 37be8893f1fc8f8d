"""Hair: strands that are rods, clamped in a surface that moves."""

import numpy as np
import pytest
from marks import slow
from rods import BENDING, DENSITY, LENGTH, LINE, REST, elastica

import pbd
from pbd import build
from pbd.core.kernels import KERNELS
from pbd.core.rotation import rotate

# A strand of the length and bending stiffness of tests/rods.py: EI = E π r⁴/4, and w L³/EI = Γ.
RADIUS = 1e-3
YOUNG = 4 * BENDING / (np.pi * RADIUS**4)
STRAND = {"length": LENGTH, "radius": RADIUS, "density": DENSITY, "young": YOUNG}
MATERIAL = {"radius": 1e-3, "density": 1300.0, "young": 1e7}


def system_of(particles, **options):
    """A system of strands that no collider reaches, with the kernels of the scene `hair`: its lanes and shapes."""
    particles.add_collider(pbd.Sphere(0.1, centre=(0, 0, -50)))
    particles.add_collider(pbd.Capsule(0.1, start=(0, 0, -60), end=(0, 0, -70)))
    return pbd.ParticleSystem(particles, lanes=8 if KERNELS == "quick" else 1, **options)


@pytest.mark.parametrize("gamma", [slow(1), 10])
def test_strands_hang_as_an_elastica(gamma):
    # Whatever their heading: they begin level, in three directions.
    angles = np.array([0.0, 1.0, 4.0])
    directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    particles = pbd.Particles(gravity=(0, 0, -gamma * BENDING / (LINE * LENGTH**3)))
    made = build.hair(particles, 0.1 * directions, directions, 40, damping=0.01, **STRAND)
    system = system_of(particles, **REST)
    system.step(900)
    tips = system.positions()[made.particles[:, -1]] - 0.1 * directions
    reach, fall, _ = elastica(0, gamma)
    assert (tips * directions).sum(axis=1) == pytest.approx(reach, rel=5e-3)
    assert -tips[:, 2] == pytest.approx(fall, rel=5e-3)


def test_strands_are_rods():
    # The same particles, masses and constraints as those of `build.rod`, in another order.
    line = np.array([(0, 0, 0), (0.1, 0, 0.02), (0.2, 0.03, 0.0), (0.25, 0.1, 0.0)])
    one, other = pbd.Particles(), pbd.Particles()
    hair = build.hair(one, line[None], natural=((2.0, 1.0), 3.0), damping=0.01, **MATERIAL)
    rod = build.rod(other, line, natural=((2.0, 1.0), 3.0), damping=0.01, clamps="start", **MATERIAL)
    order = np.concatenate(
        [hair.particles[0], one.rod_segments()[hair.segments[0], 2], one.rod_segments()[hair.roots[0], [0, 2]]]
    )
    same = np.concatenate(
        [rod.particles, other.rod_segments()[rod.segments, 2], other.rod_segments()[rod.clamps["start"], [0, 2]]]
    )
    for name in ("positions", "masses", "gravity_scales"):
        assert getattr(one, name)()[order] == pytest.approx(getattr(other, name)()[same], rel=1e-12, abs=1e-15)
    systems = [pbd.ParticleSystem(each, dt=1 / 60, substeps=4, iterations=8) for each in (one, other)]
    for system in systems:
        system.step(60)
    assert systems[0].positions()[order] == pytest.approx(systems[1].positions()[same], abs=1e-8)


def test_roots_follow_the_surface():
    directions = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    quarter = np.array([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)])

    def motion(time):
        angle = np.pi / 4 * min(time, 1.0)
        return (0.3 * min(time, 1.0), 0.0, 0.0), (np.cos(angle), 0.0, 0.0, np.sin(angle))

    particles = pbd.Particles(gravity=(0, 0, 0))
    made = build.hair(particles, 0.1 * directions, directions, 8, length=0.2, motion=motion, damping=0.01, **MATERIAL)
    system = system_of(particles, dt=1 / 60, substeps=2, iterations=2, damping=0.1)
    system.step(600)
    # At rest and without weight, strands stand out as they did at first.
    expected = (0.3, 0, 0) + rotate(quarter, particles.positions()[made.particles])
    assert system.positions()[made.particles] == pytest.approx(expected, abs=1e-5)


def test_each_root_may_have_a_motion_of_its_own():
    roots = np.array([(0, 0, 0), (1.0, 0, 0), (2.0, 0, 0)])

    def motion(time):
        return roots + np.array([(0, 0, 0.1), (0, 0.2, 0), (0.1, 0, 0)]) * min(time, 1.0)

    particles = pbd.Particles(gravity=(0, 0, 0))
    made = build.hair(particles, roots, (0, 0, 1), 4, length=0.2, motion=motion, damping=0.01, **MATERIAL)
    system = system_of(particles, dt=1 / 60, damping=0.1)
    system.step(120)
    assert system.positions()[made.particles[:, 0]] == pytest.approx(motion(2.0), abs=1e-12)


@pytest.mark.slow
def test_strands_keep_their_thickness_from_colliders():
    angles = np.linspace(0, 2 * np.pi, 6)[:5]
    directions = np.stack([0.4 * np.cos(angles), 0.4 * np.sin(angles), 0 * angles + 0.9], axis=1)
    particles = pbd.Particles()
    thickness = np.array([0.0, 0.002, 0.004, 0.006, 0.008])
    soft = {**MATERIAL, "young": 1e5}
    made = build.hair(particles, 0.1 * directions, directions, 12, length=0.2, thickness=thickness, **soft)
    particles.add_collider(pbd.Sphere(0.1), friction=0.2)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=2, iterations=4, damping=0.05)
    system.step(300)
    nearest = np.linalg.norm(system.positions()[made.particles[:, 3:]], axis=2).min(axis=1) - 0.1
    assert nearest == pytest.approx(thickness, abs=1e-4)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"roots": np.zeros((0, 3)), "directions": (0, 0, 1)}, "without roots"),
        ({"directions": None}, "without directions or length"),
        ({"length": None}, "without directions or length"),
        ({"length": 0.0}, "length is 0"),
        ({"length": [0.1, 0.2]}, "length is"),
        ({"directions": (0, 0, 0)}, "direction of strand 0 is zero"),
        ({"segments": 0}, "segments is 0"),
        ({"segments": 10**9}, "segments is"),
        ({"radius": -1.0}, "radius is -1"),
        ({"young": np.nan}, "young is nan"),
        ({"thickness": -1.0}, "thickness is -1"),
        ({"natural": ((1.0, 2.0, 3.0), 0.0)}, "curvatures of natural"),
        ({"natural": "curly"}, "natural is 'curly'"),
        ({"motion": 3.0}, "motion is 3"),
        ({"motion": lambda time: (np.zeros((2, 3)))}, "given by a motion of hair"),
        ({"motion": lambda time: (np.zeros((3, 3)), np.zeros((3, 4)))}, "(0, 0, 0, 0)"),
        ({"roots": np.zeros((3, 1, 3)), "directions": None, "length": None}, "lines of 1 point"),
        ({"roots": np.zeros((3, 4, 3)), "directions": None, "length": None}, "coincide"),
        ({"roots": np.zeros((3, 4, 3))}, "lines alone"),
    ],
)
def test_bad_input_is_refused(changed, message):
    particles = pbd.Particles()
    given = {"roots": np.eye(3), "directions": np.eye(3), "length": 0.1, "segments": 4, **MATERIAL, **changed}
    with pytest.raises((ValueError, TypeError, MemoryError)) as caught:
        build.hair(particles, **given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(particles) == 0
