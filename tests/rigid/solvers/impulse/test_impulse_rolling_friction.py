"""Rolling and spinning friction of a ball on the ground: closed forms. All tests share one kernel."""

import math

import pytest

import rigid

g, r, h = 9.81, 0.1, 1 / 240


def ball(slope=0.0, rolling=0.0, spinning=0.0, **options):
    """A ball of 2 kg on ground that slopes down along x, in the ground's frame. A contact has the geometric mean."""
    model = rigid.Model(gravity=(g * math.sin(slope), 0, -g * math.cos(slope)))
    model.add_ground(friction=0.8, rolling_friction=2 * rolling, spinning_friction=4 * spinning)
    model.add_sphere(
        r, mass=2.0, position=(0, 0, r), friction=0.8, rolling_friction=rolling / 2, spinning_friction=spinning / 4,
        **options,
    )  # fmt: skip
    return rigid.solver("impulse", model, dt=h, iterations=500, tolerance=1e-14)


def test_rolling_friction_stops_a_ball_after_its_distance():
    # Without slip (I/r + m r) dv/dt = -b m g, I = 2/5 m r²: it slows by a = 5/7 g b/r, and stops after v0²/2a =
    # 7 v0² r/(10 b g). In steps v_k = v0 - k a h, and the place is their sum: for v0 = N a h it is N (N - 1) a h²/2.
    b, steps = 0.01, 96
    a = 5 / 7 * g * b / r
    v = steps * a * h
    solver = ball(rolling=b, velocity=(v, 0, 0), angular_velocity=(0, v / r, 0))
    solver.step(steps + 20)
    x = solver.state().position[0, 0]
    assert x == pytest.approx(steps * (steps - 1) / 2 * a * h * h, rel=1e-6)
    assert x == pytest.approx(7 * v * v * r / (10 * b * g), rel=1.5 / steps)
    assert abs(solver.state().velocity[0]).max() < 1e-9


@pytest.mark.parametrize("part", [0.98, 1.02])
def test_ball_rests_on_a_slope_up_to_an_angle(part):
    # tan α = b/r; beyond it a = 5/7 g (sin α - b/r cos α), and after n steps x = a h² n (n + 1)/2.
    b, steps = 0.01, 240
    slope = math.atan(part * b / r)
    solver = ball(slope=slope, rolling=b)
    solver.step(steps)
    a = 5 / 7 * g * max(math.sin(slope) - b / r * math.cos(slope), 0.0)
    assert solver.state().position[0, 0] == pytest.approx(a * h * h * steps * (steps + 1) / 2, rel=1e-6, abs=1e-9)


def test_spinning_friction_stops_a_ball_after_its_time():
    # I dω/dt = -b m g: it stops after I ω0/(b m g); here after 100.5 steps.
    b = 0.005
    loss = b * g / (0.4 * r * r)
    solver = ball(spinning=b, angular_velocity=(0, 0, 100.5 * loss * h))
    solver.step(100)
    assert solver.state().angular_velocity[0, 2] == pytest.approx(0.5 * loss * h, rel=1e-6)
    solver.step(1)
    assert abs(solver.state().angular_velocity[0]).max() < 1e-9


def test_verlet_refuses_rolling_friction():
    model = rigid.Model()
    model.add_sphere(r, mass=1.0, rolling_friction=0.1, name="ball")
    with pytest.raises(NotImplementedError, match=r"rolling_friction of a shape on 'ball' is 0.1"):
        rigid.solver("verlet", model)
