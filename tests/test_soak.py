"""An hour of simulated time: nothing grows, nothing creeps, what is conserved stays, and a restore changes no bit."""

import resource

import pytest

import rigid
from rigid.constraints.contact_rows import TOUCHING

pytestmark = pytest.mark.slow

MINUTES, STEPS_PER_MINUTE = 60, 3600  # at 1/60 s
SUBSTEPS = {"penalty": 16}
GROWTH = 2**20  # of memory [bytes]


def solver_of(name, model):
    return rigid.solver(name, model, dt=1 / 60, substeps=SUBSTEPS.get(name, 1))


def tumbling():
    """Three rods on ball joints that tumble freely."""
    model, parent = rigid.Model(gravity=(0, 0, 0)), None
    for k in range(3):
        velocity = (0.1, 0.02 * k, -0.05)
        rod = model.add_box((0.4, 0.1, 0.1), mass=1.0 + k, position=(0.4 * k, 0, 0), velocity=velocity)
        if parent is not None:
            model.add_ball(parent, rod, (0.4 * k - 0.2, 0, 0))
        parent = rod
    return model


def at_rest():
    """Two boxes on the ground, one on the other, and a rod that hangs from a hinge."""
    model = rigid.Model()
    model.add_ground(friction=0.5)
    for k in range(2):
        model.add_box((0.4, 0.4, 0.2), mass=1.0 + k, position=(0, 0, 0.1 + 0.2 * k))
    rod = model.add_box((0.05, 0.05, 0.5), mass=1.0, position=(2, 0, 1.0))
    model.add_hinge(rigid.GROUND, rod, (2, 0, 1.25), (0, 1, 0))
    return model


def momentum(solver):
    """Linear momentum of all bodies (3,) [kg m/s]."""
    return solver.model.masses @ solver.state().velocity


def memory():
    """Largest memory of this process so far [bytes]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("name", rigid.SOLVERS)
def test_an_hour_of_tumbling(name):
    # The joints' impulses are pairs, so the linear momentum is kept to round-off: 216,000 steps (3.5 million of
    # "penalty") of 1e-16 each add up to at most 1e-9. Velocities of "verlet" are differences of positions, which are
    # 400 m away after an hour and have a round-off of 3e-14 m: with 1/h, the mass of 6 kg and the root of 216,000 steps
    # it is 1e-11 a step, and 5e-9; twenty times as much is allowed. No method may gain 1 % of the energy at the start.
    model = tumbling()
    solver, again = solver_of(name, model), solver_of(name, model)
    solver.step(STEPS_PER_MINUTE)
    again.step(STEPS_PER_MINUTE)
    start, energy, used = momentum(solver), solver.energy().total, memory()
    lowest = energy
    for _ in range(MINUTES - 1):
        solver.step(STEPS_PER_MINUTE)
        lowest = min(lowest, solver.energy().total)
        assert solver.energy().total - lowest < 0.01 * energy
    round_off = 1e-7 if name == "verlet" else 1e-9
    assert momentum(solver) == pytest.approx(start, abs=round_off)
    assert memory() - used < GROWTH
    again.step(STEPS_PER_MINUTE * (MINUTES // 2 - 1))
    kept = again.state()
    restored = solver_of(name, model)
    restored.step(7)
    restored.set_state(kept)
    restored.step(STEPS_PER_MINUTE * MINUTES // 2)
    assert restored.time == pytest.approx(solver.time)
    assert restored.digest() == solver.digest()


@pytest.mark.parametrize("name", rigid.SOLVERS)
def test_an_hour_of_rest(name):
    # What rests on the ground, on another body and in a joint neither creeps nor sinks: it stays within a tenth of a
    # millimetre of where it was after a minute. Solvers with impulses take gaps below TOUCHING g h², 0.7 mm, as closed,
    # so boxes may move so far, and tilt by 2 · 0.7 mm/0.4 m, which moves the upper one by 1 mm.
    touching = name in ("impulse", "articulated")
    distance = 2 * TOUCHING * 9.81 / 60**2 if touching else 1e-4
    solver = solver_of(name, at_rest())
    solver.step(STEPS_PER_MINUTE)
    start, used = solver.state(), memory()
    for _ in range(MINUTES - 1):
        solver.step(STEPS_PER_MINUTE)
    assert solver.state().position == pytest.approx(start.position, abs=distance)
    assert solver.state().rotation == pytest.approx(start.rotation, abs=distance / 0.4 if touching else 1e-4)
    assert memory() - used < GROWTH
