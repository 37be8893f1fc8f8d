"""Wheels, capsules and rims that roll: they stay on their line, whatever the order of their contact points."""

import math

import numpy as np
import pytest
from marks import cases

import rigid

SIDE = rigid.rotation.from_axis_angle((1, 0, 0), math.pi / 2)  # the axis along y


def rolled(add, speed, radius, steps=480, friction=0.8, direction=(1, 0, 0), **options):
    """Roll a body over the ground. Args: add: (model, **options of the body); direction: of the speed.

    Returns: the solver, and the way across the direction [m].
    """
    model = rigid.Model()
    model.add_ground(friction=friction)
    along = np.array(direction, float)
    across = np.cross((0, 0, 1), along)
    heading = rigid.rotation.from_axis_angle((0, 0, 1), math.atan2(along[1], along[0]))
    add(
        model, position=(0, 0, radius), rotation=rigid.rotation.multiply(heading, SIDE), velocity=speed * along,
        angular_velocity=speed / radius * across, friction=friction, mass=2.0,
    )  # fmt: skip
    solver = rigid.solver("verlet", model, **{"dt": 1 / 240, "substeps": 4, **options})
    solver.step(steps)
    return solver, solver.state().position[0] @ across


WHEELS = {
    "wheel": (lambda model, **o: model.add_cylinder(0.3, 0.04, **o), 3.0, 0.3),
    "wide wheel": (lambda model, **o: model.add_cylinder(0.5, 0.2, **o), 4.0, 0.5),
    "capsule": (lambda model, **o: model.add_capsule(0.1, 0.3, **o), 1.5, 0.1),
    "ball": (lambda model, **o: model.add_sphere(0.2, **o), 2.0, 0.2),
}


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.8])
@pytest.mark.parametrize("name", cases(WHEELS, slow=[name for name in WHEELS if name != "wheel"]))
def test_a_wheel_stays_on_its_line(name, friction):
    # The plane through the line is one of symmetry, so y = 0. Iterations that have not converged load one rim more than
    # the other at first; that makes a yaw rate of up to 1e-4/s, and 1e-4 t v t/2 = 0.6 mm in 2 s.
    add, speed, radius = WHEELS[name]
    solver, across = rolled(add, speed, radius, friction=friction)
    assert abs(across) < 1e-3
    assert solver.state().position[0, 0] == pytest.approx(2 * speed, rel=1e-3)


@pytest.mark.slow
def test_the_direction_of_a_wheel_does_not_matter():
    # Three coordinates of the normal, tangents and frame differ, the motion does not.
    add, speed, radius = WHEELS["wheel"]
    _, across = rolled(add, speed, radius, direction=(0.6, -0.8, 0))
    assert abs(across) < 1e-3


@pytest.mark.slow
def test_a_wheel_at_a_long_step_drifts_no_more_than_with_impulses():
    # At 1/60 s the wheel turns by 10° in a step. "impulse" leaves a line of 12 m by 3.6 cm there.
    add, speed, radius = WHEELS["wheel"]
    _, across = rolled(add, speed, radius, steps=240, dt=1 / 60, substeps=1)
    assert abs(across) < 0.05


def leaning_disc(dt, lean=1e-3, speed=2.0, radius=0.3, duration=0.6, **options):
    """Lean of a thin disc on a rim without slip, which begins upright but for a small lean (samples,) [rad]."""
    model = rigid.Model()
    moments = radius**2 * np.array([0.26, 0.5, 0.26])
    rotation = rigid.rotation.from_axis_angle((1, 0, 0), lean)
    hub, axis = (0, -radius * math.sin(lean), radius * math.cos(lean)), np.array([0, math.cos(lean), math.sin(lean)])
    body = model.add_body(mass=1.0, inertia=moments, position=hub, rotation=rotation, velocity=(speed, 0, 0),
                          angular_velocity=speed / radius * axis)  # fmt: skip
    model.add_wheel(body, axis, radius)
    solver = rigid.solver("verlet", model, dt=dt, **options)
    found = []
    for _ in range(round(duration / 0.02)):
        solver.step(round(0.02 / dt))
        found.append(rigid.rotation.rotate(solver.state().rotation[body], np.array([0, 1.0, 0]))[2])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"solve": "direct"}, {"solve": "iterative", "iterations": 100}])
def test_a_rim_without_slip_leans_as_a_rolling_disc_to_second_order(options):
    # With the spin s = v/r, lean q and yaw rate u:  (A + m r²) q'' = m g r q - (C + m r²) s u,  A u' = C s q',
    # A = 0.26 m r² and C = 0.5 m r². From q_0 at rest: q = e + (q_0 - e) cos(w t), with k = C (C + m r²) s²/A,
    # w² = (k - m g r)/(A + m r²) and e = k q_0/(k - m g r). The error has a quarter of its size at half the step.
    g, r, s, lean = 9.81, 0.3, 2.0 / 0.3, 1e-3
    k = 0.5 * 1.5 / 0.26 * r**2 * s**2
    w, e = math.sqrt((k - g * r) / (1.26 * r**2)), k * lean / (k - g * r)
    times = 0.02 * np.arange(1, 31)
    expected = e + (lean - e) * np.cos(w * times)
    errors = [np.abs(leaning_disc(dt, lean, **options) - expected).max() / lean for dt in (0.004, 0.002)]
    assert errors[0] < 0.05
    assert errors[1] < 0.3 * errors[0]
