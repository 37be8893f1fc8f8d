"""Contacts of the penalty solver: depth and forces at rest, energy, restitution.

Other tests of contacts are in test_row_contacts.py. All shapes are boxes, because kernels are compiled for the kinds of
shape that can touch.
"""

import warnings

import numpy as np
import pytest
from described import ASIDE, model_of

import rigid
from rigid.rotation import from_axis_angle

g = 9.81


def solve(model, dt=0.003, **options):
    return rigid.solver("penalty", model, dt=dt, **options)


@pytest.mark.parametrize("mass", [0.01, 3.0])
def test_depth_of_a_resting_box(mass):
    # At a corner A m = 1 + y²/k_x² + x²/k_y², with radii of gyration k. Four springs of α*/A carry m g at a depth of
    # g A m/(4 α*).
    size = np.array([0.4, 0.2, 0.2])
    model = model_of()
    box = model.add_box(size, mass=mass, position=(0, 0, 0.1))
    solver = solve(model)
    solver.step(700)
    x, y = size[:2] / 2
    gyration = np.array([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2]) / 12
    depth = g * (1 + y * y / gyration[0] + x * x / gyration[1]) / (4 * 5000)
    assert 0.1 - solver.state().position[box, 2] == pytest.approx(depth, rel=1e-6)
    found, stats = solver.contact_forces(), solver.statistics()
    assert (stats.contacts, len(found.forces)) == (4, 4)
    assert stats.residual == pytest.approx(depth, rel=1e-6)
    # Springs that carry m g at a depth d store m g d/2. So does the joint of the box aside, of 1 kg, with d = g/α*.
    aside = g * (50 - g / 5000 / 2)
    assert solver.energy().total - aside == pytest.approx(mass * g * (0.1 - depth / 2), rel=1e-6, abs=1e-9)
    assert found.gaps == pytest.approx(-depth, rel=1e-6)
    assert np.array_equal(found.bodies, [(box, -1)] * 4)
    assert np.abs(found.normals - (0, 0, 1)).max() < 1e-12
    assert found.forces == pytest.approx(np.tile([0, 0, mass * g / 4], (4, 1)), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("stiffness", [5e3, 4e5])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_boxes_dropped_on_edges_and_corners_gain_no_energy(restitution, stiffness):
    # Energy of motion and height falls. What springs store is left out: steps in which contacts begin and end are off
    # by h² α* K. With the larger stiffness a single row is almost unstable: h² α* = 3.6.
    model = model_of(friction=0.6)
    for k in range(6):
        turn = from_axis_angle((1, 0.3 * k, 0.2), 0.4 * k)
        model.add_box((0.3, 0.2, 0.15), mass=0.2 + k, position=(0.1 * k, 0, 0.5 + 0.3 * k), rotation=turn,
                      friction=0.6, restitution=restitution)  # fmt: skip
    solver = solve(model, stiffness=stiffness, damping=0.1)
    weights = model.masses * g
    energies = [solver.energy().kinetic + weights @ solver.state().position[:, 2]]
    for _ in range(150):
        solver.step(10)
        energies.append(solver.energy().kinetic + weights @ solver.state().position[:, 2])
    assert max(energies) < energies[0] + 0.01 * weights[ASIDE:].sum()
    assert solver.state().position[ASIDE:, 2].min() > 0.02
    if (restitution, stiffness) == (0.0, 5e3):
        assert np.abs(solver.state().velocity[ASIDE:]).max() < 0.05


@pytest.mark.parametrize("dt", [0.0025, 0.00125])
def test_impact_without_loss_keeps_the_energy(dt):
    # The springs of a contact take the kinetic energy K and give it back. Velocities are half a step behind the poses,
    # so the total is off by m v g h/2, with v = √(2 g H). A contact begins and ends within a step, in which it moves by
    # v h at most: α* m (v h)²/2 = h² α* K.
    model, mass, fall = model_of(), 0.7, 1.0
    model.add_box((0.2, 0.2, 0.2), mass=mass, position=(0, 0, 0.1 + fall), restitution=1.0)
    solver = solve(model, dt)
    solver.step(round(0.3 / dt))  # it still falls
    energies = []
    for _ in range(round(0.3 / dt)):
        solver.step()
        energies.append(solver.energy())
    total, kinetic = np.array([(each.total, each.kinetic) for each in energies]).T
    most = mass * g * fall
    assert kinetic.min() < 0.02 * most < 0.9 * kinetic.max()  # all of it was in the springs
    tolerance = mass * np.sqrt(2 * g * fall) * g * dt / 2 + dt**2 * 5000 * most
    assert np.abs(total - total[0]).max() < tolerance


@pytest.mark.parametrize("restitution", [0.3, 0.6, 1.0])
def test_rebound_height_converges_with_stiffness(restitution):
    # An impact takes π/√α*, 70 ms at first, and the weight acts meanwhile. Sixteen times α* leave a quarter of that
    # error. The error of the scheme, h √α* = 0.01, is the same. (A corner of a cube has A = 4/m, so four corners have
    # the stiffness and damping of one point below the centre.)
    errors = []
    for k in (1, 4):
        model = model_of()
        box = model.add_box((0.2, 0.2, 0.2), mass=0.7, position=(0, 0, 1.1), restitution=restitution)
        solver = solve(model, 0.00025 / k, stiffness=2e3 * k**2)
        solver.step(2100 * k)  # it has hit the ground at 0.45 s, and left it
        heights = []
        while solver.time < 1.0:
            solver.step(8 * k)
            heights.append(solver.state().position[box, 2] - 0.1)
        errors.append(abs(max(heights) - restitution**2))
    assert errors[0] < 0.1
    assert errors[1] < 0.4 * errors[0] + 1e-4  # heights are read every 2 ms: g (1 ms)²/2 at most


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("shape", ["sphere", "box", "capsule", "cylinder"])
def test_elastic_bodies_that_turn_gain_no_energy(shape, friction):
    # A spring whose stiffness stays gives back what it took, whatever the pose; friction only takes energy. In steps of
    # a contact's spring its energy is that of semi-implicit Euler to O(h² α*), 1e-3 here. Points of a cylinder that
    # begin at a depth store nothing: with springs as long as that depth two of these gained 79 and 12 times theirs.
    models = []
    cylinders = [(0.15, 0.1), (0.1, 0.3), (0.05, 0.5), (0.3, 0.05)]
    for seed in range(4):
        random, model = np.random.default_rng(seed), rigid.Model()
        model.add_ground(friction=friction, restitution=1.0)
        turn = from_axis_angle(random.normal(size=3), random.uniform(0, np.pi))
        given = {"mass": 1.0, "position": (0, 0, 1), "rotation": turn, "restitution": 1.0, "friction": friction,
                 "angular_velocity": 2 * random.normal(size=3)}  # fmt: skip
        if shape == "sphere":
            model.add_sphere(0.1, **given)
        elif shape == "box":
            model.add_box((0.3, 0.2, 0.1), **given)
        elif shape == "capsule":
            model.add_capsule(0.1, 0.3, **given)
        else:
            model.add_cylinder(*cylinders[seed], **given)
        models.append(model)
    solver = rigid.solver("penalty", models, dt=1 / 240, substeps=32)
    start = solver.energy().total
    for _ in range(24):
        solver.step(60)
        assert (solver.energy().total < 1.01 * start).all()


@pytest.mark.slow
@pytest.mark.parametrize("stiffness", [2e3, 4e4])
def test_elastic_cylinders_gain_no_energy_at_other_stiffnesses(stiffness):
    # A contact begins within a step, in which it moves by v h at most: α* m (v h)²/2 = h² α* K, 0.01 K here at most.
    h, models = 0.0005, []
    for seed in range(12):
        random, model = np.random.default_rng(seed), rigid.Model()
        model.add_ground(restitution=1.0)
        turn = from_axis_angle(random.normal(size=3), random.uniform(0, np.pi))
        radius, length = random.uniform(0.05, 0.3), random.uniform(0.05, 0.5)
        model.add_cylinder(radius, length, mass=random.uniform(0.1, 10), position=(0, 0, 1), rotation=turn,
                           angular_velocity=3 * random.normal(size=3), restitution=1.0)  # fmt: skip
        models.append(model)
    solver = rigid.solver("penalty", models, dt=h, stiffness=stiffness)
    start = solver.energy().total
    for _ in range(60):
        solver.step(200)
        assert (solver.energy().total < (1 + max(0.01, 2 * h * h * stiffness)) * start).all()


def told(solver, steps=300):
    """The warnings of contacts that give way, in steps."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        solver.step(steps)
    return [each for each in found if "contacts give way" in str(each.message)]


def loaded(load, size=0.1):
    """A die of 1 kg under another one of a mass."""
    model = rigid.Model()
    model.add_ground()
    model.add_box((size, size, size), mass=1.0, position=(0, 0, size / 2), name="die")
    model.add_box((size, size, size), mass=load, position=(0, 0, 1.5 * size), name="load")
    return model


@pytest.mark.parametrize(("load", "is_told"), [(1.0, False), (100.0, True)])
def test_bodies_that_give_way_to_their_load_are_told(load, is_told):
    # As above, with A = 4/m + 4/M between cubes of m = 1 kg and M: the load sinks in by d = M g A/(4 α*), 4 mm for
    # equal masses and 0.2 m for a hundred times the mass, which is more than the die. It is told from 2.5 cm on.
    solver = rigid.solver("penalty", loaded(load))
    found = told(solver)
    assert len(found) == is_told
    assert all(each.filename == __file__ for each in found)
    assert not told(solver)


@pytest.mark.parametrize("loads", [(1.0, 100.0), (100.0, 1.0)])
def test_the_world_is_told_in_which_bodies_give_way(loads):
    found = told(rigid.solver("penalty", [loaded(load, size) for load, size in zip(loads, (0.3, 0.1))]))
    assert [f"world {loads.index(100.0)}" in str(each.message) for each in found] == [True]


def test_a_thin_shape_elsewhere_on_a_body_is_not_told():
    model = rigid.Model()
    model.add_ground()
    block = model.add_body(position=(0, 0, 0.5))
    for size in ((1, 1, 1), (0.2, 0.2, 1e-4)):
        model.add_shape(block, rigid.Box(size), density=1000.0, local=True)
    assert not told(rigid.solver("penalty", model))
