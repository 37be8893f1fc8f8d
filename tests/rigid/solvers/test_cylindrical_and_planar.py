"""Cylindrical and planar joints, which are a record each, with all four solvers."""

import math

import numpy as np
import pytest
from described import ZERO, X, Z, refusal
from marks import cases, slow

import rigid

g = 9.81
SOLVERS = ("verlet", "impulse", "articulated", "penalty")
STEP, STEPS = 1 / 1000, 400
T = STEP * STEPS
SLOPE = math.radians(30)
DOWN, NORMAL = (math.cos(SLOPE), 0, -math.sin(SLOPE)), (math.sin(SLOPE), 0, math.cos(SLOPE))
FALL = g * math.sin(SLOPE)  # acceleration down the slope
INERTIA = 0.2  # about all axes
# Penalties leave joints open by micrometres, which turns axes a little.
SOFT = {"penalty": 2e-3}

# Joints of a body on a slope: along and about the slope's direction; in the slope, and about its normal.
GIVEN = {"cylindrical": {"axis": DOWN}, "planar": {"normal": NORMAL, "axis": DOWN}}
AXES = {"cylindrical": DOWN, "planar": NORMAL}
KINDS = tuple(GIVEN)


def on_a_slope(kind, point=ZERO, spin=0.0, velocity=ZERO, gravity=(0, 0, -g), **joint):
    """A body of 2 kg at the origin. Args: kind; point: of the joint; spin: about its axis; joint: fields."""
    model = rigid.Model(gravity=gravity)
    turning = spin * np.array(AXES[kind])
    body = model.add_body(mass=2.0, inertia=(INERTIA,) * 3, position=ZERO, velocity=velocity, angular_velocity=turning)
    getattr(model, f"add_{kind}")(rigid.GROUND, body, point, **GIVEN[kind], **joint, name="joint")
    return model


def run(solver, model, steps=STEPS, **options):
    """A solver after some steps."""
    made = rigid.solver(solver, model, dt=STEP, **options)
    made.step(steps)
    return made


def angle_of(kind, positions):
    """The angle among the joint's coordinates, the last one."""
    assert positions["joint"].shape == ({"cylindrical": 2, "planar": 3}[kind],)
    return positions["joint"][-1]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_body_slides_down_and_spins(solver, kind):
    # q = g sin(slope) t²/2 and the angle is ω t: nothing acts along the coordinates but gravity. A first-order scheme
    # is off by q̈ h t/2 at most.
    made = run(solver, on_a_slope(kind, spin=3.0))
    q, speeds = made.joint_positions()["joint"], made.joint_velocities()["joint"]
    near = FALL * STEP * T / 2 * 1.01 + SOFT.get(solver, 0.0) * q[0]
    assert q[0] == pytest.approx(FALL * T**2 / 2, abs=near)
    assert speeds[0] == pytest.approx(FALL * T, abs=2 * FALL * STEP + SOFT.get(solver, 0.0))
    assert q[-1] == pytest.approx(3.0 * T, abs=1e-5 + SOFT.get(solver, 0.0))
    assert speeds[-1] == pytest.approx(3.0, abs=1e-4 + SOFT.get(solver, 0.0))
    assert q[1:-1] == pytest.approx(0, abs=1e-9 + SOFT.get(solver, 0.0))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_point_of_a_spinning_body_stays_in_the_plane(solver):
    # Nothing turns the body about its normal, and its centre of mass is free in the plane: a parabola, about which the
    # joint's point p goes around. q = c(t) + R(ω t) p - p along both axes.
    point, spin, across = 0.3 * np.array(DOWN), 2.0, (0, 0.5, 0)
    made = run(solver, on_a_slope("planar", tuple(point), spin, across))
    first, second, angle = made.joint_positions()["joint"]
    tolerance = (FALL + 0.3 * spin**2) * STEP * T / 2 * 1.01 + SOFT.get(solver, 0.0)  # of first order, as above
    assert angle == pytest.approx(spin * T, abs=1e-5 + SOFT.get(solver, 0.0))
    assert first == pytest.approx(FALL * T**2 / 2 + 0.3 * (math.cos(spin * T) - 1), abs=tolerance)
    assert second == pytest.approx(0.5 * T + 0.3 * math.sin(spin * T), abs=tolerance)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_body_beside_a_cylindrical_axis_swings_and_slides(solver):
    # The axis is level, so the swing is that of a physical pendulum: m g r (1 - cos φ) becomes (I + m r²) φ̇²/2. The
    # body keeps its speed along the axis.
    model, r = rigid.Model(gravity=(0, 0, -g)), 0.3
    body = model.add_body(mass=2.0, inertia=(INERTIA,) * 3, position=(0, r, 0), velocity=(0.4, 0, 0))
    model.add_cylindrical(rigid.GROUND, body, ZERO, X, name="joint")
    made = run(solver, model)
    shift, angle = made.joint_positions()["joint"]
    rates = made.joint_velocities()["joint"]
    assert angle < -0.5
    assert 2.0 * g * r * math.sin(-angle) == pytest.approx((INERTIA + 2.0 * r * r) * rates[1] ** 2 / 2, rel=0.02)
    assert shift == pytest.approx(0.4 * T, abs=1e-5 + SOFT.get(solver, 0.0))
    assert rates[0] == pytest.approx(0.4, abs=1e-3)


def pair(kind, heavy):
    """Two free bodies without gravity, of which the heavier is the tree's root: 0 for the parent, 1 for the child."""
    model = rigid.Model(gravity=ZERO)
    for k in range(2):
        model.add_body(mass=3.0 if k == heavy else 1.0, inertia=(0.2, 0.3, 0.25), position=(0.5 * k, 0.1 * k, 0),
                       velocity=(0, 0.2 * k, 0), angular_velocity=(0.5, 0.3, 1.0 - k))  # fmt: skip
    if kind == "cylindrical":
        model.add_cylindrical(0, 1, (0.2, 0.1, 0), (1, 0.4, 0.2), name="joint")
    else:
        model.add_planar(0, 1, (0.2, 0.1, 0), (0.3, 0.2, 1), name="joint")
    return model


@pytest.mark.parametrize("heavy", [0, slow(1)])
@pytest.mark.parametrize("kind", KINDS)
def test_solvers_agree_and_conserve_momentum(kind, heavy):
    # "verlet" and the variational "articulated" have the same scheme but for rotations; they are of second order. The
    # others are of first order.
    model = pair(kind, heavy)
    made = {solver: run(solver, model, 300) for solver in SOLVERS}
    made["articulated"] = run("articulated", model, 300, integrator="variational")
    found = {solver: each.joint_positions()["joint"] for solver, each in made.items()}
    assert np.abs(found["verlet"]).min() > 1e-3
    assert found["articulated"] == pytest.approx(found["verlet"], abs=1e-5)
    assert found["impulse"] == pytest.approx(found["verlet"], abs=2e-3)
    assert found["penalty"] == pytest.approx(found["verlet"], abs=5e-3)
    for solver in ("impulse", "articulated"):
        stepped = run(solver, model, 1)
        start = stepped.state()
        stepped.step(299)
        end = stepped.state()
        assert rigid.linear_momentum(model, end) == pytest.approx(rigid.linear_momentum(model, start), abs=1e-12)
        assert rigid.angular_momentum(model, end) == pytest.approx(rigid.angular_momentum(model, start), abs=2e-5)


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet"]))
@pytest.mark.parametrize("kind", KINDS)
def test_limits_stop_shift_and_angle(solver, kind):
    names = {"cylindrical": "shift_limits", "planar": "first_limits"}
    limits = {names[kind]: (-0.1, 0.05), "angle_limits": (-0.1, 0.2)}
    made = run(solver, on_a_slope(kind, spin=1.0, **limits), 800)
    q = made.joint_positions()["joint"]
    assert q[0] == pytest.approx(0.05, abs=1e-3)  # gravity keeps it there
    assert -0.101 < q[-1] < 0.201


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet"]))
@pytest.mark.parametrize("kind", KINDS)
def test_friction_holds_or_slows(solver, kind):
    # Below the load m g sin(slope) a body stays. Above, it accelerates by g sin(slope) - F/m. A torque τ slows the spin
    # by τ/I.
    load = 2.0 * FALL
    stays = run(solver, on_a_slope(kind, shift_friction=1.1 * load))
    creep = 3e-3 if solver == "penalty" else 1e-5  # its friction is a damper up to the bound
    assert stays.joint_positions()["joint"] == pytest.approx(0, abs=creep)
    slides = run(solver, on_a_slope(kind, spin=3.0, shift_friction=0.5 * load, angle_friction=0.4))
    q = slides.joint_positions()["joint"]
    near = FALL * STEP * T + (2 * creep if solver == "penalty" else 0.0)
    assert q[0] == pytest.approx(0.5 * FALL * T**2 / 2, abs=near)
    assert q[-1] == pytest.approx(3.0 * T - 0.4 / INERTIA * T**2 / 2, abs=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_springs_carry_the_load(solver, kind):
    # At rest k q = m g sin(slope), and the angle is at its spring's rest.
    springs = {"shift_spring": rigid.Spring(200.0, 40.0), "angle_spring": rigid.Spring(20.0, 4.0, rest=0.3)}
    made = run(solver, on_a_slope(kind, **springs), 3000)
    q = made.joint_positions()["joint"]
    assert q[0] == pytest.approx(2.0 * FALL / 200.0, rel=2e-3)
    assert q[-1] == pytest.approx(0.3, rel=2e-3)
    assert q[1:-1] == pytest.approx(0, abs=1e-4)
    if solver != "penalty":  # which counts the energy of its stiff rows, too
        height = 2.0 * g * made.state().position[0, 2]
        assert made.energy().potential == pytest.approx(height + 200.0 * q[0] ** 2 / 2, rel=0.01)


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet"]))
def test_a_motor_drives_a_cylindrical_joint_along_or_about_its_axis(solver):
    along = run(solver, on_a_slope("cylindrical", spin=2.0, shift_motor=rigid.Motor(speed=-0.5, max_effort=100.0)))
    assert along.joint_positions()["joint"] == pytest.approx((-0.5 * T, 2.0 * T), abs=3e-3)
    along.set_motor("joint", speed=0.25)
    along.step(200)
    assert along.joint_velocities()["joint"] == pytest.approx((0.25, 2.0), abs=3e-3)
    about = run(solver, on_a_slope("cylindrical", angle_motor=rigid.Motor(speed=1.5, max_effort=100.0)))
    assert about.joint_positions()["joint"] == pytest.approx((FALL * T**2 / 2, 1.5 * T), abs=4e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_angles_are_counted_past_full_turns(solver):
    for kind in KINDS:
        made = run(solver, on_a_slope(kind, spin=20.0))
        assert angle_of(kind, made.joint_positions()) == pytest.approx(20.0 * T, abs=0.02)
        state = made.state()
        again = rigid.solver(solver, on_a_slope(kind, spin=20.0), dt=STEP)
        again.set_state(state)
        assert again.joint_positions()["joint"] == pytest.approx(made.joint_positions()["joint"], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_iterative_solve_of_verlet_agrees_with_the_direct_one(kind):
    made = [run("verlet", pair(kind, 1), solve=solve, iterations=100) for solve in ("iterative", "direct")]
    one, other = (each.joint_positions()["joint"] for each in made)
    assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize("solver", [slow("verlet"), "impulse"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_breaks(solver, kind):
    # The weight across the slope exceeds the force: the body falls freely.
    made = run(solver, on_a_slope(kind, break_force=1.0))
    assert made.state().position[0] == pytest.approx((0, 0, -g * T**2 / 2), abs=0.02)


def test_reactions_across_the_axis():
    # A level cylindrical joint carries the weight across its axis alone.
    model = on_a_slope("cylindrical")
    made = run("impulse", model, 10)
    force, torque = made.joint_forces()["joint"]
    weight = 2.0 * np.array((0, 0, -g))
    across = weight - weight @ np.array(DOWN) * np.array(DOWN)
    assert force == pytest.approx(-across, abs=1e-6)
    assert torque == pytest.approx(0, abs=1e-6)


def test_axes_of_a_planar_joint():
    model = on_a_slope("planar")
    joint = model.joint("joint")
    assert joint.parent_axes == pytest.approx(np.array([NORMAL, DOWN, np.cross(NORMAL, DOWN)]), abs=1e-15)
    said = refusal(lambda: model.add_planar(rigid.GROUND, 0, ZERO, Z, axis=(1, 0, 1)), ValueError)
    assert "normal and axis are 45° apart" in said


def test_one_motor_in_a_joint():
    motor = rigid.Motor(speed=1.0)
    said = refusal(lambda: on_a_slope("cylindrical", shift_motor=motor, angle_motor=motor), ValueError)
    assert "expected one motor" in said


@pytest.mark.parametrize(
    ("field", "value"), [("shift_friction", -1.0), ("angle_spring", 3.0), ("angle_limits", (0.1, 0.2))]
)
def test_refused_fields_are_named(field, value):
    assert field in refusal(lambda: on_a_slope("planar", **{field: value}), (TypeError, ValueError))


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_worlds_have_the_bits_that_they_have_alone(solver):
    models = [on_a_slope("planar", spin=1.0 + k, shift_friction=0.5 * k, angle_limits=(-0.5, 0.02)) for k in range(3)]
    together = rigid.solver(solver, models, dt=STEP)
    together.step(50)
    for k, model in enumerate(models):
        alone = rigid.solver(solver, [model, model, model], dt=STEP)
        alone.step(50)
        for name in ("position", "rotation", "velocity"):
            assert np.array_equal(getattr(alone.state(), name)[1], getattr(together.state(), name)[k])
