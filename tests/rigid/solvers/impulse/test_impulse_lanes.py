"""Solver "impulse" with worlds in the lanes of vectors: each world has the bits that it has alone."""

from dataclasses import replace

import numpy as np
import pytest
from elsewhere import run_elsewhere
from marks import needs_lanes

import rigid
from rigid.build import ragdoll

pytestmark = needs_lanes

H = 1 / 60


def ragdolls(worlds, floor=False):
    """Ragdolls in the air or on a floor, with other masses in each world. Their joints have limits."""
    models = []
    for world in range(worlds):
        model = rigid.Model()
        if floor:
            model.add_ground()
        ragdoll(model, position=(0, 0, 0.1 * world), rotation=(0.8, 0.1, 0.6, 0), mass=60 + 10 * world)
        models.append(model)
    return models


def toys(worlds):
    """A box, a cylinder and two balls that roll on a floor, with restitution, other ones in each world."""
    models = []
    for world in range(worlds):
        model = rigid.Model(gravity=(0.2 * world, 0, -9.81))
        model.add_ground()
        model.add_box((0.3, 0.2, 0.2), mass=1.0, position=(0, 0, 0.2 + 0.05 * world), restitution=0.1 * world)
        model.add_cylinder(0.1, 0.3, mass=0.5, position=(0, 0, 0.6), friction=0.2 * world)
        for x in (0.02, 0.5):
            model.add_sphere(0.1, mass=0.2, position=(x, 0, 1.0), rolling_friction=0.01, spinning_friction=0.02)
        models.append(model)
    return models


def machines(worlds):
    """Joints of all kinds but wheels, with motors, springs, friction, gears, limits and armatures, in a chain."""
    models = []
    for world in range(worlds):
        model = rigid.Model()
        bodies = [
            model.add_box((0.3, 0.1, 0.1), mass=1.0 + 0.1 * world, position=(0.4 * k, 0, 0), name=f"link {k}")
            for k in range(10)
        ]
        before = [rigid.GROUND, *bodies]
        pairs = [(before[k], bodies[k], (0.4 * k - 0.2, 0, 0)) for k in range(10)]
        y = (0, 1, 0)
        first = model.add_hinge(*pairs[0], y, motor=rigid.Motor(speed=2.0 + world, max_effort=5.0), name="driven")
        model.add_hinge(*pairs[1], y, motor=rigid.Motor(position=0.3, position_gain=5.0, max_effort=8.0), name="servo")
        model.add_hinge(*pairs[2], y, limits=(-0.1 * world, 0.2), friction=0.1, armature=0.01 * world)
        model.add_ball(*pairs[3], swing_limit=0.3, twist_limits=(-0.2, 0.2), friction=0.05 * world)
        model.add_universal(*pairs[4], y, (0, 0, 1), parent_limits=(-0.4, 0.4), child_limits=(-0.3, 0.3))
        model.add_slider(*pairs[5], (1, 0, 0), limits=(-0.05, 0.05 * world), spring=rigid.Spring(50.0, 1.0))
        model.add_fixed(*pairs[6], soft=rigid.Soft(frequency=5.0 + world, damping_ratio=0.3))
        model.add_hinge(*pairs[7], y, motor=rigid.Motor(torque=0.5 * world), name="torque")
        last = model.add_hinge(*pairs[8], y, spring=rigid.Spring(5.0, 0.1))
        model.add_hinge(*pairs[9], y, motor=rigid.Motor(position=0.2, stiffness=20.0, damping=1.0), name="compliant")
        model.add_gear(first, last, ratio=1.0 + 0.5 * world)
        model.add_spring(bodies[0], bodies[9], stiffness=3.0)
        models.append(model)
    return models


def moved(state):
    """The same state with other velocities in each world. Fast ones need several parts of a substep."""
    random = np.random.default_rng(0)
    velocity, angular_velocity = random.normal(size=(2, *state.velocity.shape))
    angular_velocity *= np.linspace(1.0, 8.0, len(velocity))[:, None, None]
    return replace(state, velocity=0.3 * velocity, angular_velocity=angular_velocity, warm_start=())


def of_world(state, world):
    """The state of one world."""
    names = ("position", "rotation", "velocity", "angular_velocity", "joint_angles")
    return replace(state, **{name: getattr(state, name)[world] for name in names}, warm_start=())


def require_same(together, alone):
    """Check that all that can be read of each world is what it has alone, to the bit."""
    state, statistics = together.state(), together.statistics()
    assert np.isfinite(state.position).all()
    for world, single in enumerate(alone):
        own, one = single.state(), single.statistics()
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            assert getattr(state, name)[world].tobytes() == getattr(own, name).tobytes(), (world, name)
        found = [each[world] for each in (statistics.iterations, statistics.residual, statistics.contacts)]
        assert found == [one.iterations, one.residual, one.contacts], world
        assert together.energy().total[world] == single.energy().total, world
        for name, forces in single.joint_forces().items():
            assert np.array_equal(together.joint_forces()[name][world], forces), (world, name)
        for found, expected in zip(together.contact_forces(world), single.contact_forces()):
            assert np.array_equal(found, expected), world
    assert np.abs(state.position[0] - state.position[-1]).max() > 1e-3


def compare(models, lanes, steps=100, **options):
    """Run worlds in lanes and each alone, in two parts with a snapshot between them."""
    together = rigid.solver("impulse", models, dt=H, lanes=lanes, **options)
    alone = [rigid.solver("impulse", model, dt=H, **options) for model in models]
    start = moved(together.state())
    together.set_state(start)
    for world, single in enumerate(alone):
        single.set_state(of_world(start, world))
    for solver in (together, *alone):
        solver.step(steps // 2)
        if "driven" in [joint.name for joint in solver.model.joints]:
            solver.set_motor("driven", speed=-1.0)
            solver.set_motor("servo", position=-0.2)
        solver.set_forces(1, force=(0, 0, 3.0), point=(0.1, 0, 0))
    middle, ends = together.state(), []
    for _ in range(2):
        together.set_state(middle)
        together.step(steps - steps // 2)
        ends.append(together.digest())
    assert ends[0] == ends[1]
    for single in alone:
        single.step(steps - steps // 2)
    require_same(together, alone)
    return together


@pytest.mark.slow
def test_joints_of_all_kinds_have_the_bits_of_each_world_alone():
    compare(machines(5), lanes=4, iterations=20, contacts=False)


@pytest.mark.slow
def test_ragdolls_on_a_floor_have_the_bits_of_each_world_alone():
    together = compare(ragdolls(5, floor=True), lanes=4, iterations=20, tolerance=1e-4)
    assert len(set(together.statistics().contacts)) > 1


@pytest.mark.slow
def test_contacts_of_all_kinds_have_the_bits_of_each_world_alone():
    together = compare(toys(5), lanes=4, iterations=20)
    assert together.statistics().contacts.max() > 3


@pytest.mark.slow
def test_ragdolls_in_the_air_have_the_bits_of_each_world_alone():
    # The worlds need other numbers of iterations and of parts of a substep.
    together = compare(ragdolls(5), lanes=8, iterations=30, tolerance=1e-3, contacts=False)
    assert len(set(together.statistics().iterations)) > 1


def test_a_state_does_not_depend_on_lanes():
    models = ragdolls(5, floor=True)
    options = {"dt": H, "iterations": 10}
    together, apart = (rigid.solver("impulse", models, lanes=lanes, **options) for lanes in (4, 1))
    together.step(40)
    apart.set_state(together.state())
    for solver in (together, apart):
        solver.step(20)
    assert together.digest() == apart.digest()
    assert (together.statistics().lanes, apart.statistics().lanes) == (4, 1)


@pytest.mark.slow
def test_a_world_that_diverges_is_named():
    together = rigid.solver("impulse", ragdolls(5), dt=H, iterations=5, lanes=4, contacts=False)
    start = together.state()
    velocity = start.velocity.copy()
    velocity[3, 2] = 1e300
    together.set_state(replace(start, velocity=velocity, warm_start=()))
    with pytest.raises(rigid.Diverged) as error:
        together.step(2)
    assert error.value.world == 3


def test_what_lanes_do_not_do_is_named():
    models = ragdolls(3)
    for given, reason in (
        ({"sleep_speed": 0.02}, "bodies that sleep"),
        ({"integrator": "variational"}, "the variational integrator"),
    ):
        assert rigid.solver("impulse", models, contacts=False, **given).statistics().lanes == 1
        with pytest.raises(ValueError, match=f"lanes is 4 with {reason}: expected lanes=1"):
            rigid.solver("impulse", models, contacts=False, lanes=4, **given)
    with pytest.raises(ValueError, match=r"lanes is 3: expected one of \(1, 4, 8, 16\)"):
        rigid.solver("impulse", models, lanes=3)


def program():
    """Run in a process of its own."""
    compare(ragdolls(3, floor=True), lanes=16, steps=60, iterations=20)


@pytest.mark.slow
def test_lanes_of_32_bits():
    run_elsewhere(__file__, "program()", "f32", opt_level=0)
