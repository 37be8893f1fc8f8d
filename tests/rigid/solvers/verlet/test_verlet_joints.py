"""Joints of the solver verlet in motion: limits, friction, motors, springs and gears against their equations."""

import itertools
import math

import numpy as np
import pytest
from marks import slow
from scipy.optimize import brentq

import rigid
from rigid.solvers.verlet.builder import build_particles

g = 9.81


def solve(model, dt=0.01, iterations=30, **options):
    return rigid.solver("verlet", model, dt=dt, iterations=iterations, contacts=False, **options)


def rod_model(gravity=(0, 0, -g), **joint):
    """A rod of 0.5 m and 1 kg, hinged to the ground at its end, horizontal; it falls towards positive angles."""
    model = rigid.Model(gravity=gravity)
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    model.add_hinge(rigid.GROUND, rod, point=(0, 0, 0), axis=(0, 1, 0), name="pivot", **joint)
    return model


def test_models_with_the_same_kinds_of_joints_share_a_kernel():
    # Kernels are compiled for the types of constraints in their order.
    joints = [
        lambda model, a, b, p: model.add_ball(a, b, p, swing_limit=0.5, friction=0.1),
        lambda model, a, b, p: model.add_hinge(a, b, p, (0, 1, 0), limits=(-0.2, 0.3), motor=rigid.Motor(speed=1.0)),
        lambda model, a, b, p: model.add_slider(a, b, p, (1, 0, 0), limits=(-0.2, 0.3), friction=0.1),
        lambda model, a, b, p: model.add_universal(a, b, p, (0, 1, 0), (0, 0, 1)),
    ]
    orders = set()
    for order in itertools.permutations(joints):
        model, parent = rigid.Model(), rigid.GROUND
        for k, add in enumerate(order):
            rod = model.add_box((1, 0.2, 0.2), mass=1.0, position=(k + 0.5, 0, 0))
            add(model, parent, rod, (k, 0, 0))
            parent = rod
        orders.add(tuple(build_particles(model, rows=True).particles.constraint_sets))
    assert len(orders) == 1


ROD = (0.5**2 + 0.05**2) / 12 + 0.25**2  # its moment of inertia about the pivot [kg m²]


def wheel_model(**joint):
    """A box that turns about its own middle, without gravity."""
    model = rigid.Model(gravity=(0, 0, 0))
    speed = joint.pop("angular_velocity", (0, 0, 0))
    box = model.add_box((0.4, 0.2, 0.3), mass=2.0, angular_velocity=speed)
    model.add_hinge(rigid.GROUND, box, point=(0, 0, 0), axis=(0, 1, 0), name="pivot", **joint)
    return model


WHEEL = 2.0 * (0.4**2 + 0.3**2) / 12

# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limits", "side", "rests_at"), [
    ((-0.5, 0.5), 1, 0.5),
    ((-0.5, 0.5), -1, -0.5),
    ((0.0, 2.5), 1, math.pi / 2),
    ((0.0, 2.5), -1, 0.0),
    ((-3.0, 0.1), 1, 0.1),
    ((-3.0, 0.1), -1, -math.pi / 2),
    slow((-math.inf, 0.5), 1, 0.5),
])  # fmt: skip
def test_hinge_limit_stops_a_rod(limits, side, rests_at):
    # The rod falls, with gravity down or up, and comes to rest on the limit or, if the limit is further, hanging. It is
    # damped, so that it comes to rest. The limit holds it to 0.1°.
    solver = solve(rod_model((0, 0, -g * side), limits=limits), dt=1 / 60, damping=0.03)
    reached = []
    for _ in range(60):
        solver.step(10)
        reached.append(solver.joint_positions()["pivot"])
    assert reached[-1] == pytest.approx(rests_at, abs=math.radians(0.1))
    # The excess is never more than the error of one step's unconverged iterations.
    assert limits[0] - math.radians(1) < min(reached)
    assert max(reached) < limits[1] + math.radians(1)


def limb(hand):
    """An arm at a shoulder with a cone and a twist, with or without a hand at a wrist with others; their limits."""
    model = rigid.Model(gravity=(0, 2.0, -g))
    spin = (0, 0, 0) if hand else (8, 0, 0)
    arm = model.add_capsule(0.04, start=(0, 0, 0), end=(0.4, 0, 0), mass=2.0, angular_velocity=spin)
    limits = {"shoulder": (0.6, -0.4, 0.3)}
    model.add_ball(rigid.GROUND, arm, (0, 0, 0), axis=(1, 0, 0), swing_limit=0.6, twist_limits=(-0.4, 0.3),
                   name="shoulder")  # fmt: skip
    if hand:
        limits["wrist"] = (0.3, -0.2, 0.5)
        hand = model.add_box((0.2, 0.08, 0.05), mass=0.5, position=(0.52, 0, 0), angular_velocity=(8, 0, 0))
        model.add_ball(arm, hand, (0.42, 0, 0), axis=(1, 0, 0), swing_limit=0.3, twist_limits=(-0.2, 0.5), name="wrist")
    return model, limits


@pytest.mark.parametrize(("hand", "iterations", "degrees"), [(False, 10, 0.5), (True, 10, 3.0), slow(True, 5, 4.0)])
@pytest.mark.parametrize("direction", ["start", slow("current")])
def test_ball_swing_and_twist_limits_hold(hand, iterations, degrees, direction):
    # A limb swings and spins into both limits, at 1/60 s. A light hand at its end meets its own limits at 16 rad/s, 15°
    # a step, and is beyond them by a few degrees for a step or two. The frames do not invert.
    model, limits = limb(hand)
    solver = solve(model, dt=1 / 60, iterations=iterations, direction=direction)
    met = dict.fromkeys(limits, 0)
    for _ in range(300):
        solver.step()
        for name, (swing, twist) in solver.joint_positions().items():
            cone, low, high = limits[name]
            assert swing < cone + math.radians(degrees)
            assert low - math.radians(degrees) < twist < high + math.radians(degrees)
            met[name] += swing > cone - 0.01 or not low + 0.01 < twist < high - 0.01
    assert min(met.values()) > 10


# Springs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_torsion_spring_follows_implicit_euler(damping):
    # SHAKE conserves Σ m x_n × (x_{n+1} - x_n) = I sin(q_{n+1} - q_n) about the axis, and a torque changes it by its λ:
    # I (sin Δ_{n+1} - sin Δ_n) = -k h² (q_{n+1} - rest) - c h Δ_{n+1}. Its root is the recurrence. A direct solve would
    # make these steps in parts.
    k, rest, h = 3.0, 0.8, 0.02
    solver = solve(wheel_model(spring=rigid.Spring(k, damping, rest)), dt=h, iterations=100, solve="iterative")
    q, last = 0.0, 0.0
    for _ in range(60):
        solver.step()

        def defect(turn, q=q, last=last):
            torque = -k * (q + turn - rest) - damping * turn / h
            return WHEEL * (math.sin(turn) - math.sin(last)) - torque * h * h

        last = brentq(defect, -1.5, 1.5, xtol=1e-14)
        q += last
        assert solver.joint_positions()["pivot"] == pytest.approx(q, abs=1e-9)


@pytest.mark.slow
def test_torsion_spring_converges_to_the_damped_oscillator():
    # q = rest (1 - e^(-γt) (cos ωt + γ/ω sin ωt)), γ = c/2I, ω² = k/I - γ²; implicit Euler: first order.
    k, c, rest, time = 3.0, 0.05, 0.8, 0.6
    decay = c / (2 * WHEEL)
    omega = math.sqrt(k / WHEEL - decay**2)
    exact = rest * (1 - math.exp(-decay * time) * (math.cos(omega * time) + decay / omega * math.sin(omega * time)))
    errors = []
    for h in (0.004, 0.002, 0.001):
        solver = solve(wheel_model(spring=rigid.Spring(k, c, rest)), dt=h)
        solver.step(round(time / h))
        errors.append(solver.joint_positions()["pivot"] - exact)
    for coarse, fine in zip(errors, errors[1:]):
        assert coarse / fine == pytest.approx(2, abs=0.15)


def test_energy_includes_springs_and_not_friction():
    # For a wheel at rest, k rest²/2 and k |φ|²/2. Friction and motors store no energy.
    spring = rigid.Spring(3.0, 0.1, rest=0.8)
    solver = solve(wheel_model(spring=spring, friction=1.0, motor=rigid.Motor(position=0.0)))
    assert solver.energy().potential == pytest.approx(3.0 * 0.8**2 / 2, rel=1e-12)
    model = rigid.Model(gravity=(0, 0, 0))
    box = model.add_box((0.4, 0.2, 0.3), mass=2.0)
    model.add_ball(rigid.GROUND, box, (0, 0, 0), spring=rigid.Spring(3.0, 0.1), friction=0.5, name="one")
    solver = solve(model)
    state = model.initial_state()
    state.rotation[0] = rigid.rotation.exponential([0.3, -0.4, 1.2])
    solver.set_state(state)
    assert solver.energy().potential == pytest.approx(3.0 * 1.3**2 / 2, rel=1e-9)


# Friction and motors --------------------------------------------------------------------------------------------------


def test_friction_slows_a_wheel_in_proportion_to_time():
    # I (sin Δ_{n+1} - sin Δ_n) = -τ h²: the velocity I⁻¹ Σ m x × Δx/h = sin Δ/h decreases by τ h/I in each step, to
    # round-off of the iterations, until it is zero.
    torque, h, speed = 0.05, 0.01, 3.0
    solver = solve(wheel_model(friction=torque, angular_velocity=(0, speed, 0)), dt=h, iterations=60)
    found = []
    for _ in range(300):
        solver.step()
        found.append(solver.joint_velocities()["pivot"])
    expected = np.maximum(speed - torque * h / WHEEL * np.arange(1, 301), 0)
    assert expected[-1] == 0
    assert np.abs(found - expected).max() < 1e-8


@pytest.mark.slow
def test_ball_friction_acts_about_all_axes():
    # A cube has the same I about all axes, so ω keeps its direction and decreases by τ h/I in each step.
    torque, h, inertia = 0.02, 0.01, 2.0 * 2 * 0.3**2 / 12
    model = rigid.Model(gravity=(0, 0, 0))
    spin = np.array([1.0, -2.0, 1.5])
    box = model.add_box((0.3, 0.3, 0.3), mass=2.0, angular_velocity=spin)
    model.add_ball(rigid.GROUND, box, (0, 0, 0), friction=torque, name="one")
    solver = solve(model, dt=h, iterations=60)
    for k in range(1, 101):
        solver.step()
        left = 1 - torque * h * k / inertia / np.linalg.norm(spin)
        assert solver.joint_velocities()["one"] == pytest.approx(spin * left, abs=1e-3)


def test_friction_holds_a_rod_up_to_its_torque():
    # τ > m g l/2 holds the rod level, up to the error of unconverged iterations. With less it falls, and comes to rest
    # where the load m g l/2 cos q is within τ.
    load = g * 0.25
    solver = solve(rod_model(friction=1.05 * load), dt=0.005, iterations=60)
    solver.step(400)
    assert abs(solver.joint_positions()["pivot"]) < 1e-3
    solver = solve(rod_model(friction=0.4 * load), dt=0.005, iterations=60)
    solver.step(2000)
    before = solver.joint_positions()["pivot"]
    solver.step(200)
    rest = solver.joint_positions()["pivot"]
    assert abs(rest - before) < 1e-3
    assert abs(math.cos(rest)) < 0.4


def test_motor_keeps_its_speed_and_stalls_beyond_its_effort():
    # q = speed t, over full turns, lifting m g l/2 = 2.45 N m at most. With less it hangs where the load is its effort.
    solver = solve(rod_model(motor=rigid.Motor(speed=-2.0, max_effort=4.0)), dt=0.005)
    solver.step(100)  # it reaches its speed in about 0.1 s
    first = solver.joint_positions()["pivot"]
    for k in range(1, 17):
        solver.step(50)
        assert solver.joint_positions()["pivot"] == pytest.approx(first - 2.0 * 0.25 * k, abs=0.002)
        assert solver.joint_velocities()["pivot"] == pytest.approx(-2.0, abs=0.05)
    solver = solve(rod_model(motor=rigid.Motor(speed=-2.0, max_effort=1.0)), dt=0.005, damping=0.005)
    solver.step(4000)
    # near q = π/2 the load m g l/2 cos q is balanced by the motor's 1 N m
    assert solver.joint_positions()["pivot"] == pytest.approx(math.acos(1.0 / (g * 0.25)), abs=0.01)


@pytest.mark.parametrize("rate", [20.0, 8.0])
def test_motor_reaches_a_position_beyond_a_full_turn(rate):
    # By implicit Euler of q̇ = rate (position - q), effort unbounded: q_{n+1} = q_n + (position - q_n) h/(1/rate + h).
    # The direct solve makes the jolt of the first step in parts, see test_motor_approaches_its_position_under_any_load.
    h, model = 0.002, wheel_model(motor=rigid.Motor(position=7.0, position_gain=rate))
    solver = solve(model, dt=h, iterations=60, solve="iterative")
    q = 0.0
    for _ in range(250):
        solver.step()
        q += (7.0 - q) * h / (1 / rate + h)
        assert solver.joint_positions()["pivot"] == pytest.approx(q, abs=1e-6)


# Universal joints, gears ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_universal_joint_rotates_about_two_axes_only():
    # n_0 and n_1 stay at a right angle. A torque about either axis rotates the child, one about the third both bodies.
    model = rigid.Model(gravity=(0, 0, 0))
    shaft = model.add_box((0.5, 0.06, 0.06), mass=1.0, position=(-0.25, 0, 0), angular_velocity=(5, 0, 0))
    other = model.add_box((0.5, 0.06, 0.06), mass=1.0, position=(0.25, 0, 0))
    model.add_hinge(rigid.GROUND, shaft, (-0.5, 0, 0), (1, 0, 0), name="bearing")
    model.add_universal(shaft, other, (0, 0, 0), (0, 1, 0), (0, 0, 1), name="cross")
    solver = solve(model, dt=0.002)
    solver.step(500)
    state = solver.state()
    n0 = rigid.rotation.rotate(state.rotation[shaft], np.array([0, 1.0, 0]))
    n1 = rigid.rotation.rotate(state.rotation[other], np.array([0, 0, 1.0]))
    assert abs(n0 @ n1) < 1e-3
    # A straight joint transmits the rotation: both bodies rotate at half the speed (equal inertia) and keep their
    # angles.
    spin = state.angular_velocity[:, 0]
    assert spin == pytest.approx([2.5, 2.5], abs=0.05)
    assert np.abs(solver.joint_positions()["cross"]).max() < 0.05


def geared(ratio, **wheel):
    model = wheel_model(**wheel)
    other = model.add_box((0.3, 0.2, 0.3), mass=1.0, position=(1, 0, 0))
    model.add_hinge(rigid.GROUND, other, point=(1, 0, 0), axis=(0, 1, 0), name="driven")
    model.add_gear("pivot", "driven", ratio=ratio)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [-0.37, 2.5])
def test_gear_ratio_holds_over_several_turns(ratio):
    # q_b = ratio q_a after 12 rad. Angles are counted, not added up, so the error is that of one step's iterations.
    solver = solve(geared(ratio, motor=rigid.Motor(speed=4.0)), iterations=40)
    for _ in range(30):
        solver.step(10)
        found = solver.joint_positions()
        assert found["driven"] == pytest.approx(ratio * found["pivot"], abs=1e-6)
    assert found["pivot"] == pytest.approx(12.0, abs=1e-3)


@pytest.mark.slow
def test_rack_and_pinion():
    # A wheel of 0.1 m drives a rack: x = 0.1 q. The rack falls with a = m g/(m + I/r²).
    model = wheel_model()
    model.gravity = np.array([0, 0, -g])
    rack = model.add_box((0.1, 0.1, 0.4), mass=1.5, position=(1, 0, 0))
    model.add_slider(rigid.GROUND, rack, None, (0, 0, -1), name="rack")
    model.add_gear("pivot", "rack", ratio=0.1)
    solver = solve(model, dt=0.002, iterations=60)
    solver.step(250)
    a = 1.5 * g / (1.5 + WHEEL / 0.1**2)
    found = solver.joint_positions()
    assert found["rack"] == pytest.approx(a * 0.5**2 / 2, rel=2e-3)
    assert found["rack"] == pytest.approx(0.1 * found["pivot"], abs=1e-6)


# Worlds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_worlds_may_differ_in_limits_motors_and_springs():
    # Three wheels at 3 rad/s: without friction, with friction, with limits. Each equals a single run.
    spinning = {"angular_velocity": (0, 3.0, 0)}
    models = [wheel_model(**spinning), wheel_model(friction=0.05, **spinning), wheel_model(limits=(-1, 1), **spinning)]
    solver = solve(models, iterations=60)
    solver.step(100)
    found = solver.joint_positions()["pivot"]
    for k, model in enumerate(models):
        alone = solve(model, iterations=60)
        alone.step(100)
        assert found[k] == pytest.approx(alone.joint_positions()["pivot"], abs=1e-6)
    assert solver.joint_velocities()["pivot"].shape == (3,)


@pytest.mark.slow
def test_snapshot_beyond_a_full_turn_continues_bit_for_bit():
    # The turns that a limit counts are part of the state.
    def wheel():
        model = rigid.Model(gravity=(0, 0, 0))
        body = model.add_box((0.3, 0.3, 0.1), mass=1.0, angular_velocity=(0, 0, 20.0))
        model.add_hinge(rigid.GROUND, body, point=(0, 0, 0), axis=(0, 0, 1), limits=(-9.0, 9.0), name="axle")
        return rigid.solver("verlet", model, dt=0.005)

    solver, other = wheel(), wheel()
    solver.step(70)
    other.set_state(solver.state())
    solver.step(60)
    other.step(60)
    assert solver.digest() == other.digest()
    angles = []
    for _ in range(100):
        solver.step()
        angles.append(solver.joint_positions()["axle"])
    assert max(angles) < 9.01
