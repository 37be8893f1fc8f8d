"""Bodies that platforms carry along arcs: no drift below the limit of friction, slip above it."""

import numpy as np
import pytest
from described import FAR, ZERO, Y, Z, g
from marks import cases, slow

import rigid
from rigid.rotation import from_axis_angle, rotate

OPTIONS = {
    "impulse": {"dt": 1 / 240}, "articulated": {"dt": 1 / 120}, "penalty": {"dt": 1 / 240, "substeps": 16},
    "verlet": {"dt": 1 / 240},
}  # fmt: skip
MU, RAMP = 0.5, 1.0
CASES = cases(OPTIONS, slow=("articulated", "penalty", "verlet"))  # their kernels compile longer


def platform(turning, share, radius):
    """A platform that turns about z, and a box of 1 kg on it at a radius.

    Args: turning: "path" or "motor"; share: ω² r/(μ g).
    """
    speed = np.sqrt(share * MU * g / radius)
    model = rigid.Model()
    size = (4 * radius, 4 * radius, 0.2)
    if turning == "path":
        def path(time):
            angle = speed * (time * time / (2 * RAMP) if time < RAMP else time - RAMP / 2)
            return (0, 0, -0.1), from_axis_angle(Z, angle)

        model.add_box(size, path=path, friction=MU)
    else:
        disc = model.add_box(size, mass=30.0, position=(0, 0, -0.1), friction=MU)
        model.add_hinge(rigid.GROUND, disc, ZERO, Z, motor=rigid.Motor(speed=speed, max_effort=120.0))
    model.add_box(radius * np.array((0.2, 0.2, 0.1)), mass=1.0, position=(radius, 0, 0.05 * radius), friction=MU)
    model.add_ground(-FAR)  # the kernel of boxes on the ground
    return model


def place(solver):
    """Where the box is on the platform (3,) [m]."""
    state = solver.state()
    return rotate(state.rotation[0] * (1, -1, -1, -1), state.position[1] - state.position[0])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("turning", "radius"), [("path", 1.0), ("path", 0.3), slow("motor", 1.0)])
def test_box_on_a_turning_platform_does_not_drift(name, turning, radius):
    # Straight steps would take the box r ω² h/2 outwards in a second: 0.8 μ g h/2 = 8.2 mm/s at 1/240 s. Arcs are
    # followed exactly, so what is left is round-off of the iterations, far below 0.1 mm/s.
    if (name, turning) == ("penalty", "motor"):
        pytest.skip("its motor needs longer to reach its speed")
    solver = rigid.solver(name, platform(turning, 0.8, radius), **OPTIONS[name])
    solver.step(round(1.5 / solver.dt))
    before = place(solver)
    solver.step(round(2.0 / solver.dt))
    assert np.linalg.norm(place(solver) - before) < 1e-4
    assert np.linalg.norm(place(solver)[:2]) == pytest.approx(radius, abs=3e-3)


@pytest.mark.parametrize("name", ["impulse", slow("articulated")])
def test_box_drifts_where_joints_carry_the_centre_of_the_platform(name):
    # Steps of its centre of mass, at a distance r from the hinge, are straight: r ω² h/2 outwards in a second.
    model, radius, speed, h = rigid.Model(), 0.4, 1.5, 1 / 240
    disc = model.add_box((0.6, 0.6, 0.2), mass=30.0, position=(radius, 0, -0.1), friction=MU)
    model.add_hinge(rigid.GROUND, disc, ZERO, Z, motor=rigid.Motor(speed=speed))
    model.add_box((0.1, 0.1, 0.06), mass=1.0, position=(radius, 0, 0.03), friction=MU)
    model.add_ground(-FAR)  # the kernel of boxes on the ground
    solver = rigid.solver(name, model, dt=h)
    solver.step(120)
    before = place(solver)
    solver.step(480)
    assert (place(solver) - before)[:2] / 2 == pytest.approx([radius * speed**2 * h / 2, 0], abs=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_box_slides_off_above_the_limit(name):
    solver = rigid.solver(name, platform("path", 1.2, 1.0), **OPTIONS[name])
    solver.step(round(3.0 / solver.dt))
    assert np.linalg.norm(place(solver)[:2]) > 1.05


@pytest.mark.parametrize("name", CASES)
def test_box_on_a_tilting_platform_does_not_drift(name):
    # Its circle is upright: the platform tilts by 0.3 rad and back, 0.8 m from the axis. tan 0.3 = 0.31 and the
    # acceleration along the platform, 0.8 m (0.15 · 2π/2 /s)² = 0.18 m/s² at most, need less than μ = 0.6.
    def path(time):
        return ZERO, from_axis_angle(Y, 0.15 * (1 - np.cos(np.pi * time)))

    model = rigid.Model()
    model.add_box((4, 4, 0.2), path=path, friction=0.6)
    model.add_box((0.2, 0.2, 0.1), mass=1.0, position=(0.8, 0.3, 0.15), friction=0.6)
    model.add_ground(-FAR)
    solver = rigid.solver(name, model, **OPTIONS[name])
    solver.step(round(2.0 / solver.dt))
    before = place(solver)
    solver.step(round(4.0 / solver.dt))
    assert np.linalg.norm(place(solver) - before) < 2e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impulse", slow("articulated")])
def test_ball_rolls_its_circumference_on_a_level_floor(name):
    # Nothing carries what rolls on the ground: v = ω r to round-off, also at 0.3 rad in a step.
    model = rigid.Model()
    model.add_ground(friction=0.9)
    spin = 0.3 / OPTIONS[name]["dt"]
    motion = {"velocity": (0.1 * spin, 0, 0), "angular_velocity": (0, spin, 0)}
    ball = model.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1), friction=0.9, **motion)
    solver = rigid.solver(name, model, **OPTIONS[name])
    solver.step(60)
    state = solver.state()
    assert state.velocity[ball, 0] == pytest.approx(0.1 * spin, rel=1e-9)
    assert state.angular_velocity[ball, 1] == pytest.approx(10 * state.velocity[ball, 0], rel=1e-9)
