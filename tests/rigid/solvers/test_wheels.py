"""Wheels that roll on a plane: rows, slopes, friction, and a coin on a circle, with the solvers on rows."""

import math

import numpy as np
import pytest
from described import Y, refusal
from marks import slow

import rigid
from rigid.constraints.joints.data import JOINT
from rigid.constraints.joints.gaps import joint_gaps
from rigid.constraints.rows import ROW
from rigid.rotation import exponential, from_axis_angle, multiply, rotate

g = 9.81
RADIUS, MASS = 0.3, 2.0
EXACT = ("impulse", "articulated")


def disc(model, position=(0, 0, RADIUS), about=Y, name="wheel", **body):
    """A uniform disc of MASS and RADIUS. Args: about: its spin axis."""
    spin, across = MASS * RADIUS**2 / 2, MASS * RADIUS**2 / 4
    inertia = across * np.eye(3) + (spin - across) * np.outer(about, about)
    return model.add_body(mass=MASS, inertia=inertia, position=position, name=name, **body)


def on_a_slope(angle, **wheel):
    """A disc on a slope that falls along x. Args: angle [rad]."""
    normal = np.array([math.sin(angle), 0, math.cos(angle)])
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_wheel(disc(model, RADIUS * normal), Y, RADIUS, normal=normal, **wheel)
    return model


def solve(name, model, dt=0.002, **options):
    """A solver with tight tolerances."""
    more = {"tolerance": 1e-14, "iterations": 500} if name != "penalty" else {}
    return rigid.solver(name, model, dt=dt, contacts=False, **more, **options)


# Rows -----------------------------------------------------------------------------------------------------------------


def test_height_row_has_the_derivative_of_the_height_and_slip_rows_that_of_the_rim():
    # dG/dt = J V by central differences, error h² G'''/6; the other rows are the velocity of the material point of the
    # rim at the plane, along the heading and across it. All for a hub aside from the centre of mass.
    random, h = np.random.default_rng(4), 1e-5
    for _ in range(8):
        normal = rigid.rotation.rotate(exponential(0.4 * random.normal(size=3)), np.array([0.0, 0, 1]))
        axis = rotate(exponential(random.normal(size=3) * 0.5), np.array(Y))
        up = normal - normal @ axis * axis
        hub = RADIUS * up / np.linalg.norm(up) + 0.3 * np.cross(normal, axis)
        hub += (0.7 - hub @ normal + RADIUS * np.linalg.norm(up)) * normal
        model = rigid.Model(gravity=(0, 0, 0))
        centre = hub + (0.03, -0.02, 0.05)
        body = disc(model, centre, np.eye(3)[1], velocity=random.normal(size=3), angular_velocity=random.normal(size=3))
        model.bodies[body].inertia = np.eye(3)
        model.add_wheel(body, axis, RADIUS, point=hub, height=0.7, normal=normal, name="rim")
        state, errors = model.initial_state(), []
        for time in (-h, h, 0.0):
            turn = exponential(time * state.angular_velocity)
            solver = rigid.solver("impulse", model, dt=1e-12, iterations=0, contacts=False)
            position, rotation = state.position + time * state.velocity, multiply(turn, state.rotation)
            solver.set_state(rigid.State(position, rotation, state.velocity, state.angular_velocity))
            solver.step()
            joint = solver.data.joints.integers.to_numpy()[0]
            rows = solver.data.rows.numbers.to_numpy()[0]
            height = rows[joint[JOINT.first_row]]
            errors.append(height[ROW.error])
            assert joint_gaps(model, solver.state())[0] == pytest.approx(abs(height[ROW.error]), abs=1e-11)
        velocity, spin = state.velocity[0], state.angular_velocity[0]
        rates = -rows[:, ROW["linear"]] @ velocity + rows[:, ROW["angular_j"]] @ spin
        assert errors[2] == pytest.approx(0.0, abs=1e-9)
        assert rates[0] == pytest.approx((errors[1] - errors[0]) / (2 * h), abs=1e-8)
        ahead = np.cross(axis, normal) / np.linalg.norm(np.cross(axis, normal))
        contact = hub - RADIUS * up / np.linalg.norm(up)
        moving = velocity + np.cross(spin, contact - centre)
        assert rates[1:3] == pytest.approx([moving @ ahead, moving @ np.cross(normal, ahead)], abs=1e-9)


# Slopes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [None, 0.5])
@pytest.mark.parametrize("name", [*EXACT, "penalty"])
def test_disc_rolls_down_a_slope(name, friction):
    # v = g sin(α)/(1 + I/(m r²)) t and ω r = v, in any scheme that is exact for constant forces. Penalties oscillate at
    # first, with decay rates above 12/s, and lose no momentum to that: after 3 s, e^-36 is left.
    angle, time = 0.4, 3.0
    model = on_a_slope(angle, friction=friction)
    solver = solve(name, model)
    solver.step(round(time / 0.002))
    state = solver.state()
    speed = g * math.sin(angle) / 1.5 * time
    down = np.array([math.cos(angle), 0, -math.sin(angle)])
    assert state.velocity[0] @ down == pytest.approx(speed, rel=1e-9)
    assert state.angular_velocity[0] == pytest.approx(np.array(Y) * speed / RADIUS, rel=1e-9, abs=1e-9)
    gap = joint_gaps(model, state)[0]
    assert gap == pytest.approx(g * math.cos(angle) / 5000 if name == "penalty" else 0.0, abs=1e-9)


@pytest.mark.parametrize("solve", ["iterative", slow("direct")])
def test_cylinder_of_particles_rolls_down_a_slope(solve):
    # With "verlet" x = a t²/2, and velocities are those of half a step before, a (t - h/2). A frame of particles whose
    # sticks are iterated turns by chords, an error of second order: 1e-8 at 4 ms, a quarter at 2 ms. With the direct
    # solve round-off is left, if no step ends before its 40 iterations: 1e-18 m is below the violation of every one.
    angle, errors = 0.4, []
    normal, across = np.array([math.sin(angle), 0, math.cos(angle)]), np.array([0, 0.05, 0])
    down = np.array([math.cos(angle), 0, -math.sin(angle)])
    acceleration = g * math.sin(angle) / 1.5
    options = {"solve": solve, "iterations": 40, "tolerance": 1e-18 if solve == "direct" else None, "contacts": False}
    for h in (0.004, 0.002):
        model = rigid.Model(gravity=(0, 0, -g))
        start, end = RADIUS * normal - across, RADIUS * normal + across
        model.add_wheel(model.add_cylinder(RADIUS, start=start, end=end, mass=MASS), Y, RADIUS, normal=normal)
        solver = rigid.solver("verlet", model, dt=h, **options)
        solver.step(round(1 / h))
        state = solver.state()
        assert state.velocity[0] @ down == pytest.approx(acceleration * (1 - h / 2), rel=1e-6)
        assert state.angular_velocity[0, 1] == pytest.approx(acceleration * (1 - h / 2) / RADIUS, rel=1e-6)
        assert joint_gaps(model, state)[0] < 1e-12
        errors.append(state.position[0] @ down / (acceleration / 2) - 1)
    if solve == "direct":
        assert np.abs(errors).max() < 1e-11
    else:
        assert 0 < errors[0] < 1e-8
        assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("name", EXACT)
def test_load_and_traction_of_a_wheel_on_a_slope(name):
    # The plane pushes with m g cos(α), and holds the rim with m g sin(α) (I/m r²)/(1 + I/m r²), a third for a disc.
    angle = 0.4
    solver = solve(name, on_a_slope(angle))
    solver.step(5)
    force, torque = solver.joint_forces()["wheel 0"]
    normal, up_hill = [math.sin(angle), 0, math.cos(angle)], [-math.cos(angle), 0, math.sin(angle)]
    assert force @ normal == pytest.approx(MASS * g * math.cos(angle), rel=1e-9)
    assert force @ up_hill == pytest.approx(MASS * g * math.sin(angle) / 3, rel=1e-9)
    # About the hub the traction alone has a torque, r times it.
    assert torque == pytest.approx(np.array(Y) * RADIUS * MASS * g * math.sin(angle) / 3, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_wheel_with_little_friction_slides_down_a_slope(name):
    # Above tan(α) = 3 μ a disc slides: dv/dt = g (sin(α) - μ cos(α)), dω/dt = μ m g cos(α) r/I.
    angle, friction, time = 0.8, 0.2, 0.5
    solver = solve(name, on_a_slope(angle, friction=friction))
    solver.step(250)
    state, down = solver.state(), np.array([math.cos(angle), 0, -math.sin(angle)])
    assert state.velocity[0] @ down == pytest.approx(
        g * (math.sin(angle) - friction * math.cos(angle)) * time, rel=1e-9
    )
    assert state.angular_velocity[0, 1] == pytest.approx(2 * friction * g * math.cos(angle) / RADIUS * time, rel=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_wheel_that_slips_catches_up(name):
    # A disc that slides at v without spin rolls after v/(3 μ g), with 2 v/3: angular momentum about the contact stays.
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_wheel(disc(model, velocity=(3.0, 0, 0)), Y, RADIUS, friction=0.5)
    solver = solve(name, model)
    solver.step(500)
    state = solver.state()
    assert state.velocity[0] == pytest.approx([2.0, 0, 0], abs=1e-9)
    assert state.angular_velocity[0, 1] == pytest.approx(2.0 / RADIUS, rel=1e-9)


@pytest.mark.parametrize("name", [*EXACT, "penalty"])
def test_only_a_wheel_with_friction_leaves_the_plane(name):
    # Gravity points up. A wheel with friction falls up, z = r + h² Σ k g; an ideal one stays on the plane.
    for friction in (0.5, None):
        model = rigid.Model(gravity=(0, 0, g))
        model.add_wheel(disc(model), Y, RADIUS, friction=friction)
        solver = solve(name, model)
        solver.step(50)
        rise = 0.002**2 * g * 50 * 51 / 2 if friction else 0.0
        within = 1e-9 if friction or name != "penalty" else 2 * g / 5000  # a spring overshoots to twice its rest
        assert solver.state().position[0, 2] == pytest.approx(RADIUS + rise, abs=within)


@pytest.mark.slow
def test_worlds_have_radii_and_friction_of_their_own():
    # Each world equals a run of its model alone, bit for bit.
    models = [on_a_slope(0.8, friction=friction) for friction in (0.1, 0.2, 0.9)]
    together = solve("impulse", models)
    together.step(40)
    for world, model in enumerate(models):
        alone = solve("impulse", model)
        alone.step(40)
        assert np.array_equal(together.state().velocity[world], alone.state().velocity)
    message = refusal(lambda: solve("impulse", [on_a_slope(0.1), on_a_slope(0.1, friction=0.3)]), ValueError)
    assert "different structure" in message


# A coin on a circle ---------------------------------------------------------------------------------------------------


def coin(lean=0.35, circle=1.5):
    """A disc that rolls on a circle about the origin, leaning inward, in steady motion.

    With w its spin and Ω its rate of precession about the vertical, H = A Ω cos(φ) u + C w a is the angular momentum
    about the hub, u the radius up from the contact and a the axis. Ω × H equals the torque of the forces at the
    contact, m g up and m Ω² (R - r sin(φ)) inward:

        Ω² = m g r tan(φ)/((m r + C/r)(R - r sin(φ)) + A sin(φ)),   w = Ω (R - r sin(φ))/r

    Returns: model, Ω [rad/s].
    """
    sine, cosine = math.sin(lean), math.cos(lean)
    spin, across = MASS * RADIUS**2 / 2, MASS * RADIUS**2 / 4
    out = circle - RADIUS * sine  # distance of the hub from the vertical through the middle
    rate = math.sqrt(
        MASS * g * RADIUS * math.tan(lean) / ((MASS * RADIUS + spin / RADIUS) * out + across * sine)
    )
    axis = np.array([0, cosine, -sine])  # heading along x at y = -R, the middle on the left
    body_spin = rate * np.array([0, 0, 1.0]) + rate * circle / RADIUS * axis
    model = rigid.Model(gravity=(0, 0, -g))
    wheel = model.add_body(
        mass=MASS, inertia=(across, spin, across), position=(0, -out, RADIUS * cosine), velocity=(rate * out, 0, 0),
        rotation=from_axis_angle((1, 0, 0), -lean), angular_velocity=body_spin,
    )  # fmt: skip
    model.add_wheel(wheel, axis, RADIUS)
    return model, rate


@pytest.mark.parametrize("name", EXACT)
def test_coin_rolls_on_a_circle_in_first_order(name):
    # After a quarter of a turn the hub is at (out, 0), the lean is that of the start, and energy is lost: errors of
    # first order in the step. They halve with it, within the second order that is left, a twentieth at these steps.
    model, rate = coin()
    out, time, errors = -model.bodies[0].position[1], math.pi / 2 / rate, []
    for steps in (1000, 2000):
        solver = solve(name, model, dt=time / steps)
        energy = solver.energy().total
        solver.step(steps)
        state = solver.state()
        axis = rotate(state.rotation[0], np.array(Y))
        apart = np.linalg.norm(state.position[0] - (out, 0, model.bodies[0].position[2]))
        errors.append((apart, math.asin(-axis[2]) - 0.35, energy - solver.energy().total))
        assert joint_gaps(model, state).max() < 1e-9
    assert (np.array(errors[1]) < (0.011, 0.007, 0.006)).all()
    assert min(errors[1]) > 0
    assert np.divide(errors[0], errors[1]) == pytest.approx(2.0, rel=0.05)


# Bad input ------------------------------------------------------------------------------------------------------------


def test_invalid_wheels_are_refused():
    model = rigid.Model()
    body, other = disc(model), disc(model, (2, 0, RADIUS), name="other")
    cases = (
        ((body, (0, 0, 1), RADIUS), {}, ValueError, "the normal of the ground: expected an axis across it"),
        ((body, (0, 0, 0), RADIUS), {}, ValueError, "axis"),
        ((body, Y, 0.0), {}, ValueError, "radius is 0"),
        ((body, Y, -0.3), {}, ValueError, "radius is -0.3"),
        ((body, Y, math.nan), {}, ValueError, "radius"),
        ((body, Y, 0.25), {}, ValueError, "the rim is 0.05 m above the plane"),
        ((body, Y, RADIUS), {"height": 0.1}, ValueError, "the rim is -0.1 m above the plane"),
        ((body, Y, RADIUS), {"normal": (0, 0, 0)}, ValueError, "normal"),
        ((body, Y, RADIUS), {"friction": -0.1}, ValueError, "friction is -0.1"),
        (((body, other), Y, RADIUS), {}, TypeError, "wheel is (0, 1): expected the index or name of a body"),
        ((rigid.GROUND, Y, RADIUS), {}, ValueError, "wheel is rigid.GROUND: expected a body"),
        (("whel", Y, RADIUS), {}, ValueError, "wheel"),
    )  # fmt: skip
    for given, options, error, expected in cases:
        assert expected in refusal(lambda: model.add_wheel(*given, **options), error)  # noqa: B023 - called at once
    model.add_wheel(body, Y, RADIUS)
    assert "is a wheel already" in refusal(lambda: model.add_wheel(body, Y, RADIUS), ValueError)
    assert [joint.name for joint in model.joints] == ["wheel 0"]
    slipping = rigid.Model()
    slipping.add_wheel(disc(slipping), Y, RADIUS, friction=0.5)
    with pytest.raises(NotImplementedError, match='has friction: solver "verlet" has ideal wheels alone'):
        rigid.solver("verlet", slipping)
