"""Energy: what rows store is counted, and passive chains do not gain any, or the solver says so."""

import warnings

import numpy as np
import pytest
from elsewhere import run_elsewhere
from marks import slow

import pbd
import rigid
from benchmarks.chains import CLASSES, energy_scale, random_chain
from rigid.state import State

ROW_SOLVERS = ("impulse", "articulated", "penalty")


def displaced(solver, shift):
    """Move the one body of a solver by a shift [m]."""
    rest = solver.state()
    solver.set_state(State(rest.position + shift, rest.rotation, rest.velocity, rest.angular_velocity))
    return solver


@pytest.mark.parametrize("name", ROW_SOLVERS)
def test_soft_joints_and_springs_store_energy(name):
    # A soft ball of stiffness k that is open by d stores k d²/2, a spring between points k (l - l0)²/2.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0))
    model.add_ball(rigid.GROUND, body, (0, 0, 0), soft=rigid.Soft(stiffness=50.0, damping=1.0))
    model.add_spring(rigid.GROUND, body, (1, 0, 0), (0, 0, 0), stiffness=30.0, rest_length=0.5)
    solver = displaced(rigid.solver(name, model, dt=1e-3), (0.1, 0, 0))
    assert solver.energy().total == pytest.approx(50.0 * 0.1**2 / 2 + 30.0 * 0.4**2 / 2, rel=1e-12)


@pytest.mark.parametrize("name", ROW_SOLVERS)
def test_reading_the_energy_changes_nothing(name):
    digests = []
    for reads in (False, True):
        model = rigid.Model()
        body = model.add_box((0.2, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), (0, 1, 0), spring=rigid.Spring(stiffness=2.0), friction=0.1)
        solver = rigid.solver(name, model, dt=1e-3)
        for _ in range(5):
            solver.step(4)
            if reads:
                solver.energy()
        digests.append(solver.digest())
    assert digests[0] == digests[1]


def fall_in_short_steps():
    """A ball falls from rest in single precision: n = 640 substeps of h = 1/3840 s give v = -g h n."""
    for name in ROW_SOLVERS:
        model = rigid.Model()
        model.add_sphere(0.1, mass=1.0, position=(0, 0, 10))
        solver = rigid.solver(name, model, dt=1 / 60, substeps=64)
        solver.step(10)
        # Each of the n sums is rounded by 2^-24 of its result at most.
        assert solver.state().velocity[0, 2] == pytest.approx(-9.81 / 6, rel=640 * 2.0**-24)


@pytest.mark.slow
def test_free_bodies_fall_in_short_steps_in_single_precision():
    run_elsewhere(__file__, "fall_in_short_steps()", "f32", opt_level=0)


def test_hard_rows_of_penalties_store_energy():
    # At its centre of mass a body of mass m hangs with the stiffness m α*: m α* d²/2.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_box((0.2, 0.2, 0.2), mass=3.0, position=(0, 0, 0))
    model.add_ball(rigid.GROUND, body, (0, 0, 0))
    solver = displaced(rigid.solver("penalty", model, dt=1e-3, stiffness=4000.0), (0, 0.01, 0))
    assert solver.energy().total == pytest.approx(3.0 * 4000.0 * 0.01**2 / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["impulse", "articulated"])
def test_small_chains_gain_nothing(name):
    # By default both once gained up to 1e5 of the scale here. Velocities pay for what rises above 2 %; what a substep
    # adds before that, and velocities half a part behind the poses, stay below 3 % more.
    length = CLASSES["1 mm"].length
    model = random_chain(0, length)
    solver = rigid.solver(name, model, dt=1 / 60, contacts=False)
    energies = [solver.energy().total]
    for _ in range(60):
        solver.step()
        energies.append(solver.energy().total)
    rises = np.array(energies) - np.minimum.accumulate(energies)
    assert rises.max() < 0.05 * energy_scale(model, length)


def test_rising_energy_is_said_once_by_name_time_and_joint():
    # Joints of 1 mm sag by g/α* = 2 mm with penalties: they are open, whatever the step.
    solver = rigid.solver("penalty", random_chain(0, 0.001), contacts=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            solver.step(20)
            solver.step(20)
        except pbd.Diverged:
            pass
    said = [str(each.message) for each in caught if "solver" in str(each.message)]
    assert len(said) == 1
    assert said[0].startswith('solver "penalty", world 0, 0.')
    assert any(joint.name in said[0] for joint in solver.model.joints)


def test_driven_worlds_are_not_watched():
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_box((0.2, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), (0, 1, 0))
    solver = rigid.solver("impulse", model, dt=0.01)
    solver.set_forces(body, torque=(0, 1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        solver.step(50)
    assert solver.energy().kinetic > 1.0


@pytest.mark.parametrize(
    ("floor", "share", "said"), [(False, 0.13, True), slow(True, 0.13, True), slow(True, 0.07, False)]
)
def test_an_open_joint_of_penalties_is_said_with_contacts_too(floor, share, said):
    # The weight opens the joint of a body by g/α* along z, and a sideways gravity as much along x: both together are
    # `share` of a link, which is the distance of the joint from the centre of mass.
    stiffness, length = 500.0, 0.4
    each = share * length * stiffness / np.sqrt(2)
    model = rigid.Model(gravity=(each, 0, -each))
    if floor:
        model.add_ground()
    body = model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 2))
    model.add_ball(rigid.GROUND, body, np.array([-1, 0, 1]) * length / np.sqrt(2) + (0, 0, 2), name="hook")
    solver = rigid.solver("penalty", model, dt=1e-3, stiffness=stiffness, damping=2 * np.sqrt(stiffness))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        solver.step(2000)
    assert ["joint 'hook'" in str(each.message) for each in caught] == [True] * said


def test_the_scale_of_small_chains_is_theirs_with_particles_too():
    # The frame of the ground is a metre long, the chain some millimetres.
    model = random_chain(0, *CLASSES["1 mm"])
    solver = rigid.solver("verlet", model, contacts=False)
    anchors = [np.linalg.norm(joint.child_anchor) for joint in model.joints]
    assert 2 * max(anchors) <= solver.particle_system.energy_watch.length <= 4 * sum(anchors)
