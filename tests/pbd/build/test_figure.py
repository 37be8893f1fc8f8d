"""The figure of particles: masses and lengths of the table, symmetry, and a fall that comes to rest."""

import numpy as np
import pytest

import pbd
from pbd.build import figure

SIDES = (("left", "right", 1), ("right", "left", -1))


def made(**options):
    particles = pbd.Particles()
    return particles, figure(particles, **options)


def bends(person, positions):
    """Angles by which elbows and knees are bent in their permitted direction [rad].

    A forearm is in front of the plane through chest, shoulder and elbow, a shin behind the plane through hips and knee.
    The angle is that between limb and plane.
    """
    x = {name: positions[index] for name, index in person.parts.items()}
    found = {}
    for side, other, sign in SIDES:
        for name, corner, reference, end in (
            ("elbow", "shoulder", "chest", "wrist"), ("knee", "hip", f"{other} hip", "ankle")
        ):  # fmt: skip
            vertex, foot, tip = x[f"{side} {name}"], x[f"{side} {corner}"], x[f"{side} {end}"]
            normal = sign * np.cross(x[reference] - foot, vertex - foot) * (1 if name == "elbow" else -1)
            limb = tip - vertex
            found[f"{side} {name}"] = np.arcsin(normal @ limb / np.linalg.norm(normal) / np.linalg.norm(limb))
    return found


def test_masses_and_lengths_match_the_published_table():
    particles, person = made(height=2.0, mass=60.0)
    x, m = particles.positions(), dict(zip(person.parts, particles.masses()))
    assert particles.masses().sum() == pytest.approx(60.0, rel=1e-14)
    assert len(person.particles) == len(particles) == 16
    # Thigh .100 with its centre at .433 of the way, leg and foot .061 at .606: Winter, table 4.1.
    assert m["left knee"] == pytest.approx(60 * (0.100 * 0.433 + 0.061 * (1 - 0.606)))
    assert m["left wrist"] == pytest.approx(60 * 0.022 * 0.682)
    for a, b, length in (("shoulder", "elbow", 0.186), ("elbow", "wrist", 0.146), ("hip", "knee", 0.245),
                         ("knee", "ankle", 0.246)):  # fmt: skip
        apart = np.linalg.norm(x[person.parts[f"left {a}"]] - x[person.parts[f"left {b}"]])
        assert apart == pytest.approx(2 * length, abs=2e-3)
    assert (x[:, 2] - particles.radii()).min() == pytest.approx(0, abs=1e-15)
    assert (x[:, 2] + particles.radii()).max() == pytest.approx(2.0, rel=1e-14)
    centre = particles.masses() @ x / 60
    assert centre[1] == pytest.approx(0, abs=1e-15)
    assert centre[2] / 2 == pytest.approx(0.56, abs=0.02)


def test_left_and_right_are_mirror_images():
    particles, person = made(height=1.6)
    for name, left in person.parts.items():
        right = person.parts[name.replace("left ", "right ")]
        assert particles.masses()[left] == particles.masses()[right]
        assert particles.radii()[left] == particles.radii()[right]
        if left != right:
            assert np.array_equal(particles.positions()[left] * (1, -1, 1), particles.positions()[right])
        elif not name.startswith("right "):
            assert particles.positions()[left, 1] == 0
    # The constraints are symmetric, too: mirrored, each kind has the same members and numbers.
    swap = np.arange(16)
    for name, index in person.parts.items():
        side, _, rest = name.partition(" ")
        other = {"left": "right", "right": "left"}.get(side)
        swap[index] = person.parts[f"{other} {rest}" if other else name]
    for (kind, _), batch in particles.constraint_sets.items():
        members, numbers = batch.arrays()
        if kind == "plane limit":  # the mirror image of a span has the opposite order
            mirror = swap[members][:, [0, 1, 3, 2]]
        else:
            members, mirror = np.sort(members, axis=1), np.sort(swap[members], axis=1)
        given = sorted((*row.tolist(), round(float(number), 12)) for row, (number,) in zip(members, numbers))
        mirrored = sorted((*row.tolist(), round(float(number), 12)) for row, (number,) in zip(mirror, numbers))
        assert given == mirrored


def test_a_standing_figure_violates_no_constraint():
    particles, person = made(position=(3, -2, 1), rotation=(0.3, 0.5, -0.4, 0.2))
    assert pbd.ParticleSystem(particles).statistics().residual < 1e-14
    assert min(bends(person, particles.positions()).values()) > 0.05
    types = {constraint_type for constraint_type, _ in particles.constraint_sets}
    assert types == {"stick", "stick at least", "stick at most", "plane limit"}
    assert len(person.sticks) == 22


def test_sticks_leave_the_degrees_of_freedom_of_a_person():
    """48 coordinates minus the rank of the rigid sticks' Jacobian. Free are 6 of the whole, 3 of the hips about the
    loins, and 2 of each of the eight limbs and of the head: 27."""
    particles, person = made()
    jacobian = np.zeros((len(person.sticks), 16, 3))
    for row, (a, b) in enumerate(person.sticks):
        way = particles.positions()[b] - particles.positions()[a]
        jacobian[row, a], jacobian[row, b] = -way, way
    assert 48 - np.linalg.matrix_rank(jacobian.reshape(len(person.sticks), -1)) == 6 + 3 + 8 * 2 + 2


def test_velocities_are_those_of_the_arguments():
    velocity, spin = np.array([1.0, 2.0, 3.0]), np.array([-0.5, 1.0, 2.0])
    particles, _ = made(velocity=velocity, angular_velocity=spin, position=(4, 4, 4))
    centre = particles.masses() @ particles.positions() / particles.masses().sum()
    assert np.abs(particles.velocities() - velocity - np.cross(spin, particles.positions() - centre)).max() < 1e-13
    assert particles.masses() @ particles.velocities() == pytest.approx(75 * velocity, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_limb_bends_backwards_in_a_fall_of_a_metre(seed):
    random = np.random.default_rng(seed)
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.6)
    person = figure(particles, rotation=random.normal(size=4), velocity=random.normal(size=3),
                    angular_velocity=2 * random.normal(size=3))  # fmt: skip
    particles.positions()[:, 2] += 1.0 - (particles.positions()[:, 2] - particles.radii()).min()
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=8, iterations=5, damping=0.01)
    least = {name: np.inf for name in bends(person, particles.positions())}
    highest = kinetic = 0.0
    for step in range(360):
        system.step()
        for name, angle in bends(person, system.positions()).items():
            least[name] = min(least[name], angle)
        kinetic = system.energy().kinetic / particles.masses().sum()
        if step >= 345:
            highest = max(highest, kinetic)
    assert min(least.values()) > -np.radians(1)
    assert highest < 1e-4  # [J/kg], over the last quarter of a second: a centimetre a second
    lying = system.positions()
    # The floor is projected last in each iteration. So no particle is below it, and lying particles touch it.
    assert (lying[:, 2] - particles.radii()).min() == pytest.approx(0, abs=1e-12)
    assert lying[person.parts["head"], 2] < 0.6 * 1.75
    for a, b in person.sticks:
        length = np.linalg.norm(particles.positions()[a] - particles.positions()[b])
        assert np.linalg.norm(lying[a] - lying[b]) == pytest.approx(length, abs=5e-3)


def test_several_figures_share_a_description():
    particles = pbd.Particles()
    particles.add_particle((9, 9, 9))
    first, second = figure(particles), figure(particles, (2, 0, 0), height=1.0, mass=20.0)
    assert first.particles.tolist() == list(range(1, 17))
    assert second.parts["head"] == second.particles[0] == 17
    assert second.limbs.min() == 17
    assert second.head_radius == pytest.approx(0.064)
    assert first.radii.shape == (len(first.limbs),)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"height": 0}, "height is 0"),
        ({"mass": -3}, "mass is -3"),
        ({"rotation": (0, 0, 0, 0)}, "rotation is"),
        ({"position": (0, np.nan, 0)}, "position is nan"),
    ],
)
def test_bad_input_is_refused(options, says):
    particles = pbd.Particles()
    with pytest.raises(ValueError, match=says):
        figure(particles, **options)
    assert len(particles) == 0
