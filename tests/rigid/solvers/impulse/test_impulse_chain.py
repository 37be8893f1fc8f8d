"""The five-link chain of source [3], and bodies in free flight: iterations, warm starting, the gyroscopic torque."""

import math

import numpy as np
import pytest
from marks import slow
from scipy.integrate import solve_ivp

import rigid
from rigid.constraints.joints.gaps import joint_gaps
from rigid.rotation import rotate


def solve(model, dt=0.01, **options):
    return rigid.solver("impulse", model, dt=dt, contacts=False, **options)


# Kernels are compiled for options, so these tests share them. The chain rotates about principal axes, so its gyroscopic
# torques are zero.
ROWS = {"block": False, "gyroscopic": "midpoint"}
COLD = {"warm_start": False, "gyroscopic": "explicit"}


def five_link_chain(friction=0.5):
    """Rods of 0.5 x 0.05 x 0.05 m and 1 kg on hinges, horizontal at first."""
    model = rigid.Model(gravity=(0, 0, -9.81))
    before = rigid.GROUND
    for k in range(5):
        rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.5 * k + 0.25, 0, 0))
        model.add_hinge(before, rod, (0.5 * k, 0, 0), (0, 1, 0), friction=friction, name=f"hinge {k}")
        before = rod
    return model


def angles(solver):
    return np.array(list(solver.joint_positions().values()))


def run(steps=100, **options):
    """Mean iterations over a run of the chain, its widest gap, and the solver."""
    model = five_link_chain()
    solver, counts, widest = solve(model, iterations=3000, tolerance=1e-6, **options), [], 0.0
    for _ in range(steps):
        solver.step()
        counts.append(solver.statistics().iterations)
        widest = max(widest, joint_gaps(model, solver.state()).max())
    return np.mean(counts), widest, solver


@pytest.mark.slow
def test_five_link_chain_of_source_3():
    # After 1 s, from an integration of the equations of motion to 1e-10: (2.16096, 0.10297, 0.12073, 0.15890, 0.23033).
    expected = (2.16096, 0.10297, 0.12073, 0.15890, 0.23033)
    found = {"warm": run(), "rows": run(**ROWS), "cold": run(**COLD)}
    for _, widest, solver in found.values():
        assert np.abs(angles(solver) - expected).max() < 0.05
        assert widest < 1e-5
    # Row by row, as in the source, 50 to 150 iterations to 1e-6; with blocks fewer; without warm starting a third more.
    assert 50 <= found["rows"][0] <= 150
    assert found["warm"][0] < found["rows"][0]
    assert found["warm"][0] < 0.75 * found["cold"][0]


def test_angles_of_the_chain_converge_with_the_step():
    expected = (2.16096, 0.10297, 0.12073, 0.15890, 0.23033)
    errors = []
    for h in (0.01, 0.005, 0.0025):
        solver = solve(five_link_chain(), dt=h, iterations=500)
        solver.step(round(1 / h))
        errors.append(np.abs(angles(solver) - expected).max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


def test_chain_comes_to_rest_hanging_down():
    # At rest the torque about each hinge is at most its friction of 0.5 N m. (The chain swings for a minute: in a swing
    # of amplitude A [rad] friction takes 2 A of 61 A²/2 J.)
    solver = solve(five_link_chain(), iterations=1000, tolerance=1e-9)
    solver.step(9000)
    assert np.abs(solver.state().velocity).max() < 1e-7
    found = angles(solver)
    tilt = np.cumsum(found)
    for k in range(5):
        # Torque about hinge k: the sum over rods below of m g times the horizontal distance of their centres.
        reach = sum(0.5 * np.cos(tilt[k:r]).sum() + 0.25 * math.cos(tilt[r]) for r in range(k, 5))
        assert abs(9.81 * reach) < 0.5 + 1e-3
    assert found[0] == pytest.approx(math.pi / 2, abs=0.05)


def test_substeps_are_better_than_iterations_for_equal_work():
    # First order: ten substeps of five iterations have about a tenth of the error of one step of fifty.
    expected = (2.16096, 0.10297, 0.12073, 0.15890, 0.23033)
    errors = []
    for options in ({"iterations": 50}, {"iterations": 5, "substeps": 10}):
        solver = solve(five_link_chain(), **options)
        solver.step(100)
        assert solver.time == pytest.approx(1.0)
        errors.append(np.abs(angles(solver) - expected).max())
    assert errors[1] < 0.3 * errors[0]


# Free flight ----------------------------------------------------------------------------------------------------------

def turning_over(h):
    """A free box that spins about its middle axis."""
    model = rigid.Model(gravity=(0, 0, 0))
    box = model.add_box((0.4, 0.2, 0.1), mass=1.2, angular_velocity=(0.05, 10, 0.1))
    with_a_joint(model)
    return model.bodies[box], solve(model, dt=h)


def with_a_joint(model):
    """The model with another joint, far away, so that it has the kernel of other tests."""
    model.add_ball(rigid.GROUND, model.add_body(mass=1.0, inertia=(1, 1, 1), position=(9, 9, 9)), (9, 9, 9))


def in_body(state):
    """Angular velocity of the first body in its own frame."""
    return rotate(rigid.rotation.conjugate(state.rotation[0]), state.angular_velocity[0])


def first_flip(h):
    """The time when the spin about the middle axis reverses, and the kinetic energy relative to the start."""
    _, solver = turning_over(h)
    start, before = solver.energy().kinetic, None
    while True:
        solver.step()
        now = in_body(solver.state())[1]
        if now < 0:
            return solver.time - h * now / (now - before), solver.energy().kinetic / start
        before = now


def test_dzhanibekov_effect():
    # When ω_y = 0 by Euler's equations I ω' = -ω × I ω, integrated to 1e-12. First order: the error halves with h.
    body, _ = turning_over(0.01)
    moments = np.diag(body.inertia)
    found = solve_ivp(
        lambda _, w: np.cross(moments * w, w) / moments, (0, 3), body.angular_velocity, "DOP853",
        events=lambda _, w: w[1], rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    results = {h: first_flip(h) for h in (0.01, 0.005, 0.001)}
    late = {h: abs(flip - found.t_events[0][0]) for h, (flip, _) in results.items()}
    assert late[0.01] < 0.05
    assert late[0.001] < 0.005
    assert late[0.01] / late[0.005] == pytest.approx(2, abs=0.2)
    # Implicit never gains energy, and loses less at half the step.
    lost = [1 - results[h][1] for h in (0.01, 0.005, 0.001)]
    assert lost[0] > lost[1] > lost[2] > 0


@pytest.mark.parametrize(("form", "options"), [("implicit", {}), slow("midpoint", ROWS), slow("explicit", COLD)])
def test_energy_of_gyroscopic_methods(form, options):
    # A tumbling box, 5 s: the explicit form gains (33 % at 10 ms), implicit loses, midpoint keeps both
    # energy and |L| to round-off.
    model = rigid.Model(gravity=(0, 0, 0))
    box = model.add_box((0.1, 0.2, 0.4), mass=1.0, angular_velocity=(6.0, 1.0, 3.0))
    inertia = model.bodies[box].inertia
    with_a_joint(model)
    changes = []
    for h in (0.01, 0.005):
        solver = solve(model, dt=h, **options)
        start, energies = solver.energy().kinetic, []
        for _ in range(20):
            solver.step(round(0.25 / h))
            energies.append(solver.energy().kinetic / start - 1)
        changes.append(energies[-1])
        if form == "implicit":
            assert np.diff([0, *energies]).max() < 0  # it never gains
        if form == "midpoint":
            local = in_body(solver.state())
            assert np.abs(energies).max() < 1e-12
            size = np.linalg.norm(inertia @ model.bodies[box].angular_velocity)
            assert np.linalg.norm(inertia @ local) == pytest.approx(size, rel=1e-12)
    if form == "explicit":
        assert changes[0] > changes[1] > 0
    if form == "implicit":
        assert changes[0] < changes[1] < 0
    if form != "midpoint":
        assert 1.5 < changes[0] / changes[1] < 3  # first order


def test_free_fall_follows_the_recurrence():
    # Semi-implicit Euler: x_n = n h v0 + g h² n(n+1)/2, exactly; a constant spin about a principal axis turns by ω t.
    model = rigid.Model(gravity=(0.5, 0, -9.81))
    model.add_box((0.1, 0.2, 0.4), mass=0.3, velocity=(1, 2, 3), angular_velocity=(0, 0, 7.0))
    with_a_joint(model)
    solver = solve(model)
    solver.step(100)
    state = solver.state()
    expected = np.array([1.0, 2.0, 3.0]) + 0.01**2 * 5050 * np.array([0.5, 0, -9.81])
    assert state.position[0] == pytest.approx(expected, abs=1e-13)
    turn = 2 * math.atan2(state.rotation[0, 3], state.rotation[0, 0])
    assert math.remainder(turn - 7.0, 2 * math.pi) == pytest.approx(0, abs=1e-12)
