"""Mass properties: closed forms, sums over points, invariances, and refused inertias."""

import itertools
import math

import numpy as np
import pytest
import trimesh

import pbd
import rigid
from rigid import mass, rotation

DENSITY = 700.0
TRIANGLE = "triangle inequality"


def compare(found, expected, tolerance=1e-13):
    """Assert that MassProperties agree: relative errors, the centre relative to the radius of gyration."""
    gyration = math.sqrt(np.trace(expected.inertia) / expected.mass)
    assert abs(found.mass - expected.mass) <= tolerance * expected.mass
    assert np.abs(found.centre - expected.centre).max() <= tolerance * gyration
    assert np.abs(found.inertia - expected.inertia).max() <= tolerance * np.abs(expected.inertia).max()


def expect(m, centre, inertia):
    inertia = np.asarray(inertia, float)
    return mass.MassProperties(m, np.asarray(centre, float), np.diag(inertia) if inertia.ndim == 1 else inertia)


def random_pose(seed):
    random = np.random.default_rng(seed)
    return random.normal(size=3), rotation.normalised(random.normal(size=4))


# Closed forms -------------------------------------------------------------------------------------------------------


def test_sphere():
    """m = ρ 4/3 π r³, I = 2/5 m r²."""
    m = DENSITY * 4 / 3 * math.pi * 0.3**3
    compare(mass.sphere(0.3, density=DENSITY), expect(m, (0, 0, 0), [0.4 * m * 0.09] * 3))


def test_box():
    """m = ρ a b c, I_x = m (b² + c²)/12."""
    m = DENSITY * 0.4 * 0.2 * 0.1
    inertia = m / 12 * np.array([0.2**2 + 0.1**2, 0.4**2 + 0.1**2, 0.4**2 + 0.2**2])
    compare(mass.box((0.4, 0.2, 0.1), density=DENSITY), expect(m, (0, 0, 0), inertia))


def test_cylinder():
    """m = ρ π r² h, I_z = m r²/2, I_x = m (3 r² + h²)/12."""
    m = DENSITY * math.pi * 0.09 * 0.8
    across = m * (3 * 0.09 + 0.64) / 12
    compare(mass.cylinder(0.3, 0.8, density=DENSITY), expect(m, (0, 0, 0), [across, across, m * 0.09 / 2]))


def test_capsule_is_the_integral_of_its_slices():
    """Slices of radius s(z): m = ρ ∫ π s² dz, I_z = ρ ∫ π s⁴/2 dz, I_x = ρ ∫ π (s⁴/4 + s² z²) dz.

    Polynomials of degree four in z on each of the three pieces, so Gauss-Legendre with three points is exact.
    """
    r, h = 0.3, 0.8
    nodes, weights = np.polynomial.legendre.leggauss(3)
    m = along = across = 0.0
    for low, high in ((-h / 2 - r, -h / 2), (-h / 2, h / 2), (h / 2, h / 2 + r)):
        z, w = (low + high) / 2 + (high - low) / 2 * nodes, (high - low) / 2 * weights
        s2 = r * r - np.maximum(np.abs(z) - h / 2, 0) ** 2
        m += DENSITY * math.pi * (w @ s2)
        along += DENSITY * math.pi * (w @ s2**2) / 2
        across += DENSITY * math.pi * (w @ (s2**2 / 4 + s2 * z * z))
    compare(mass.capsule(r, h, density=DENSITY), expect(m, (0, 0, 0), [across, across, along]))


def test_a_short_capsule_approaches_a_sphere():
    """h -> 0: the difference is of first order in h."""
    compare(mass.capsule(0.3, 1e-12, density=DENSITY), mass.sphere(0.3, density=DENSITY), tolerance=1e-11)


def test_mass_and_density_are_equivalent():
    """I is proportional to m."""
    m = mass.capsule(0.1, 0.5, density=DENSITY).mass
    compare(mass.capsule(0.1, 0.5, mass=m), mass.capsule(0.1, 0.5, density=DENSITY))


# Meshes and hulls ---------------------------------------------------------------------------------------------------

TETRAHEDRON = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)


def test_tetrahedron():
    """Tetrahedron at the origin: V = 1/6, centre 1/4; about the origin ∫ x² = 1/60, ∫ x y = 1/120."""
    second = (np.eye(3) + 1) / 120 - np.full((3, 3), 1 / 6 / 16)
    expected = expect(1 / 6, (0.25, 0.25, 0.25), np.trace(second) * np.eye(3) - second)
    compare(mass.convex_hull(TETRAHEDRON, density=1.0), expected, 1e-14)
    compare(mass.mesh((TETRAHEDRON, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), density=1.0), expected, 1e-14)


def test_hull_of_the_corners_of_a_box_far_away():
    """A hull of the corners is the box, at any position. An offset of 1000 loses three digits of the centre."""
    size, q = np.array([0.4, 0.2, 0.1]), rotation.normalised((1, 2, 3, 4))
    corners = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T * size
    away = np.array([600.0, -800.0, 0.0])
    points = rotation.rotate(q, corners) + away
    compare(mass.convex_hull(points, mass=2.0), mass.box(size, mass=2.0).moved(away, q), 1e-11)


def test_inner_points_do_not_change_a_hull():
    random = np.random.default_rng(0)
    corners = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
    crowd = np.concatenate([random.uniform(-0.5, 0.5, (200, 3)), corners])
    compare(mass.convex_hull(crowd, density=3.0), mass.box((1, 1, 1), density=3.0))
    assert len(rigid.ConvexHull(crowd).vertices) == 8


def test_closed_meshes_against_trimesh():
    """A rotated and translated torus, not convex. Trimesh uses another method: Gauss's theorem."""
    random = np.random.default_rng(1)
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12)
    q, p = rotation.normalised(random.normal(size=4)), random.normal(size=3)
    torus.vertices = rotation.rotate(q, torus.vertices) + p
    torus.density = DENSITY
    compare(mass.mesh(torus, density=DENSITY), expect(torus.mass, torus.center_mass, torus.moment_inertia), 1e-12)
    assert mass.convex_hull(torus.vertices, density=1.0).mass > 1.5 * mass.mesh(torus, density=1.0).mass


@pytest.mark.parametrize("shape", ["capsule", "cylinder", "sphere"])
def test_round_shapes_as_fine_meshes(shape):
    """Inscribed meshes: the error is of second order in the angle of the facets. Half the angle, a quarter of it."""
    r, h = 0.3, 0.8
    exact = {"capsule": mass.capsule(r, h, density=1.0), "cylinder": mass.cylinder(r, h, density=1.0),
             "sphere": mass.sphere(r, density=1.0)}[shape]  # fmt: skip
    errors = []
    for n in (16, 32):
        made = {
            "capsule": lambda n: trimesh.creation.capsule(height=h, radius=r, count=[n, n]),
            "cylinder": lambda n: trimesh.creation.cylinder(radius=r, height=h, sections=n),
            "sphere": lambda n: trimesh.creation.uv_sphere(radius=r, count=[n, n]),
        }[shape](n)
        found = mass.mesh((np.asarray(made.vertices), np.asarray(made.faces)), density=1.0)
        errors.append([abs(found.mass / exact.mass - 1), *np.abs(np.diag(found.inertia) / np.diag(exact.inertia) - 1)])
    coarse, fine = np.array(errors)
    assert (coarse < 0.1).all()
    assert np.all((coarse / fine > 3.4) & (coarse / fine < 4.6))


def test_mass_properties_of_shapes():
    """of_shape agrees with the function for the same shape."""
    hull = rigid.ConvexHull(TETRAHEDRON)
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=8, minor_sections=6)
    for shape, expected in (
        (rigid.Sphere(0.3, centre=(1, 2, 3)), mass.sphere(0.3, mass=2.0)),
        (rigid.Capsule(0.3, start=(0, 0, 0), end=(1, 2, 2)), mass.capsule(0.3, 3.0, mass=2.0)),
        (rigid.Cylinder(0.3, start=(0, 0, 0), end=(1, 2, 2)), mass.cylinder(0.3, 3.0, mass=2.0)),
        (rigid.Box((0.4, 0.2, 0.1), centre=(1, 2, 3)), mass.box((0.4, 0.2, 0.1), mass=2.0)),
        (hull, mass.convex_hull(TETRAHEDRON - hull.centre, mass=2.0)),
        (pbd.MeshCollider(torus, resolution=8), mass.mesh(torus, mass=2.0)),
    ):
        compare(mass.of_shape(shape, mass=2.0), expected, 1e-13)


# Compounds ----------------------------------------------------------------------------------------------------------


def test_combined_mass_of_a_dumbbell():
    """Masses 1 and 3 at x = 0 and 2: the centre is at 1.5, and m₁m₂/(m₁+m₂) d² = 3 is added about y and z."""
    small, large = mass.sphere(0.1, mass=1.0), mass.sphere(0.2, mass=3.0).moved(np.array([2.0, 0, 0]))
    own = 0.4 * (1 * 0.01 + 3 * 0.04)
    compare(mass.combined([small, large]), expect(4.0, (1.5, 0, 0), (own, own + 3, own + 3)), 1e-15)


def test_combined_mass_of_three_parts_of_a_box():
    """Three parts of a box, in a rotated frame, combine to the box: parallel-axis theorem to round-off."""
    p, q = random_pose(5)
    cuts = np.array([-0.5, -0.1, 0.2, 0.5])
    parts = [
        mass.box((b - a, 0.6, 0.3), density=DENSITY).moved(p + rotation.rotate(q, ((a + b) / 2, 0, 0)), q)
        for a, b in itertools.pairwise(cuts)
    ]
    compare(mass.combined(parts), mass.box((1, 0.6, 0.3), density=DENSITY).moved(p, q), 1e-13)


def test_second_moment_and_principal_axes():
    """S = ∫ x xᵀ dm is m a²/12 on each axis of a box. Q diag(moments) Qᵀ = I."""
    own = mass.box((0.4, 0.2, 0.1), mass=12.0)
    assert np.allclose(mass.second_moment(own.inertia), np.diag([0.16, 0.04, 0.01]), rtol=1e-14, atol=1e-16)
    _, q = random_pose(6)
    moved = own.moved(np.zeros(3), q)
    moments, axes = mass.principal_axes(moved.inertia)
    Q = rotation.to_matrix(axes)
    assert np.allclose(moments, [0.05, 0.17, 0.20], rtol=1e-14)
    assert np.allclose(Q @ np.diag(moments) @ Q.T, moved.inertia, atol=1e-15)
    assert mass.second_moment(np.stack([own.inertia] * 5)).shape == (5, 3, 3)


# Refusals -----------------------------------------------------------------------------------------------------------

IMPOSSIBLE = {
    "not symmetric": ([(1, 0.1, 0), (0, 1, 0), (0, 0, 1)], ["symmetric", "asymmetry is 0.1"]),
    "negative": ((1, 1, -1), ["-1, 1, 1", "above zero"]),
    "a rod without width": ((0, 1, 1), ["0, 1, 1", "above zero"]),
    "not definite": ([(1, 2, 0), (2, 1, 0), (0, 0, 1)], ["-1, 1, 3", "above zero"]),
    "one moment too large": ((1, 1, 2.1), ["2.1 > 2", TRIANGLE]),
    "one too large, off the axes": ([(1.5, 1.5, 0), (1.5, 2.5, 0), (0, 0, 1)], [TRIANGLE]),
    "NaN": ((1, 1, math.nan), ["inertia is nan", "finite"]),
    "infinite": ((1, 1, math.inf), ["inertia is inf", "finite"]),
    "four": ((1, 1, 1, 1), ["(4,)", "(3,)"]),
    "two by two": (np.eye(2), ["(2, 2)", "(3, 3)"]),
    "a number": (1.0, ["()", "(3, 3)"]),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_inertias_are_refused(case):
    inertia, words = IMPOSSIBLE[case]
    with pytest.raises(ValueError, match="inertia") as refusal:
        mass.checked_inertia(inertia)
    for word in words:
        assert word in str(refusal.value)


def test_inertias_of_flat_bodies_are_accepted():
    """A disc: I_z = I_x + I_y. In other axes round-off puts it on either side of the bound."""
    for seed in range(20):
        _, q = random_pose(seed)
        disc = mass.MassProperties(1.0, np.zeros(3), np.diag([0.1, 0.2, 0.30000000000000004]))
        tensor = disc.moved(np.zeros(3), q).inertia
        assert np.array_equal(mass.checked_inertia(tensor), (tensor + tensor.T) / 2)
    assert np.array_equal(mass.checked_inertia((0.1, 0.2, 0.3)), np.diag([0.1, 0.2, 0.3]))


REFUSED = {
    "neither": (lambda: mass.sphere(1.0), ["neither mass nor density", "one of"]),
    "both": (lambda: mass.box((1, 1, 1), mass=1.0, density=2.0), ["mass 1.0 and density 2.0", "one of"]),
    "no mass": (lambda: mass.sphere(1.0, mass=0), ["mass is 0", "above zero"]),
    "density": (lambda: mass.sphere(1.0, density=-5), ["density is -5", "above zero"]),
    "infinite mass": (lambda: mass.sphere(1.0, mass=math.inf), ["mass is inf", "finite"]),
    "radius": (lambda: mass.sphere(-1.0, mass=1), ["radius is -1", "above zero"]),
    "length": (lambda: mass.capsule(1.0, 0.0, mass=1), ["length is 0", "above zero"]),
    "flat box": (lambda: mass.box((1, 0, 1), mass=1), ["size is 0", "above zero"]),
    "plane": (lambda: mass.of_shape(rigid.Plane(), mass=1), ["mass of a Plane", "bounded shape"]),
    "open mesh": (lambda: mass.mesh((TETRAHEDRON, [(0, 2, 1), (0, 1, 3)]), mass=1), ["open edges"]),
    "hull of three": (lambda: mass.convex_hull(TETRAHEDRON[:3], mass=1), ["3 points", "volume"]),
    "flat hull": (lambda: mass.convex_hull(TETRAHEDRON * (1, 1, 0), mass=1), ["4 points", "volume"]),
    "hull of one place": (lambda: mass.convex_hull(np.ones((9, 3)), mass=1), ["9 points", "volume"]),
    "hull of nothing": (lambda: mass.convex_hull(np.zeros((0, 3)), mass=1), ["0 points", "volume"]),
    "hull NaN": (lambda: mass.convex_hull(TETRAHEDRON * math.nan, mass=1), ["hull points", "nan"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_impossible_solids_are_refused(case):
    make, words = REFUSED[case]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the words follow
        make()
    for word in words:
        assert word in str(refusal.value)
