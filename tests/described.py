"""Models that tests of several solvers share."""

import numpy as np
import pytest

import rigid

g = 9.81
X, Y, Z, ZERO = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)

ASIDE = 1  # number of bodies far away in each model of model_of

# Height of ground and bodies that must not touch others [m]. They give a model the kernel of other models.
FAR = 1000.0


def model_of(gravity=(0, 0, -g), ground=True, **surface):
    """A model with the ground alone. Far away there are a joined box and another shape, so that all models share a
    kernel."""
    model = rigid.Model(gravity=gravity)
    model.add_fixed(rigid.GROUND, model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(55, 50, 50)), name="aside")
    model.add_shape(rigid.GROUND, rigid.Box((1, 1, 1), centre=(60, 50, 50)))
    model.add_ground(0.0 if ground else -1e3, **surface)
    return model


def all_at_once(number=0):
    """Falling boxes, a wheel that turns many times, a chain with limits, friction, springs and a gear.

    Args: number: changes masses, positions, friction and gravity alone.
    """
    model = model_of(gravity=(0.1 * number, 0, -9.81 + 0.5 * number), friction=0.4)
    for k in range(4):
        model.add_box((0.3, 0.2 + 0.01 * number, 0.1), mass=1.0 + k + number, friction=0.5, restitution=0.2,
                      position=(0.02 * k, 0.01 * number, 0.07 + 0.12 * k), angular_velocity=(0.3, 0, 1.0))  # fmt: skip
    wheel = model.add_body(mass=1.0, inertia=(0.2, 0.2, 0.2 + 0.01 * number), position=(3, 0, 1),
                           angular_velocity=(0, 0, 40.0 - number))  # fmt: skip
    model.add_hinge(rigid.GROUND, wheel, (3, 0, 1), Z, friction=0.1, name="wheel")
    other = model.add_body(mass=1.0, inertia=(0.2, 0.2, 0.3), position=(4, 0, 1))
    model.add_hinge(rigid.GROUND, other, (4, 0, 1), Z, name="geared")
    model.add_gear("wheel", "geared", -0.5)
    last = rigid.GROUND
    for k in range(3):
        link = model.add_box((0.4, 0.05, 0.05), mass=0.5 + number, position=(-1 - 0.4 * k, 0, 0.5))
        point = (-0.8 - 0.4 * k, 0, 0.5)
        if k == 1:
            model.add_ball(last, link, point, swing_limit=0.3, twist_limits=(-0.2, 0.2), friction=0.05)
        else:
            model.add_hinge(last, link, point, Y, limits=(-0.5, 0.4), spring=rigid.Spring(2.0, 0.1))
        last = link
    model.add_spring(rigid.GROUND, last, (-3, 0, 1), stiffness=20.0, damping=0.5)
    return model


def rod_on_a_pivot(**joint):
    """A level rod of 0.5 m and 1 kg on a hinge at its end; it falls to positive angles. Args: joint: of the hinge."""
    made = rigid.Model(gravity=(0, 0, -g))
    rod = made.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0), name="rod")
    made.add_hinge(rigid.GROUND, rod, ZERO, Y, name="pivot", **joint)
    return made


def all_joints_in_a_row(masses, spin, drift, gravity=ZERO, round_bodies=True, friction=0.0, soft=None):
    """A free chain of seven bodies: a ball, hinge, universal joint, slider, fixed joint and distance.

    Args: masses (7,) [kg]; spin, drift: factors of random velocities [rad/s, m/s]; round_bodies: whether moments of
    inertia are equal; friction: of the hinge [N m]; soft: of the ball.
    """
    model, last = rigid.Model(gravity=gravity), None
    turns = np.random.default_rng(2).normal(size=(7, 3))
    for k, (mass, turn) in enumerate(zip(masses, turns)):
        size = 0.02 * mass * np.array([1.0, 1.0, 1.0] if round_bodies else [0.6, 1.4, 1.0])
        here = model.add_body(mass=mass, inertia=size, position=(0.5 * k, 0, 0), angular_velocity=spin * turn,
                              velocity=drift * turn[::-1])  # fmt: skip
        point = (0.5 * k - 0.25, 0.02, 0)
        if k == 1:
            model.add_ball(last, here, point, soft=soft)
        elif k == 2:
            model.add_hinge(last, here, point, (0.3, 1, 0), friction=friction)
        elif k == 3:
            model.add_universal(last, here, point, Y, Z)
        elif k == 4:
            model.add_slider(last, here, None, (1, 0.4, 0), limits=(-0.1, 0.1))
        elif k == 5:
            model.add_fixed(last, here, point)
        elif k == 6:
            model.add_distance(last, here, (0.5 * k - 0.4, 0, 0), (0.5 * k - 0.1, 0, 0))
        last = here
    return model


def momenta_of_particles(solver):
    """Linear and angular momentum of all that move, Σ m (x - x*)/h and Σ m x* × (x - x*)/h.

    Args: solver: "verlet", or a pbd.ParticleSystem.
    """
    system = getattr(solver, "particle_system", solver)
    state = system.state()
    masses = np.divide(1, state.inverse_mass, where=state.inverse_mass > 0, out=np.zeros_like(state.inverse_mass))
    moved = masses[..., None] * (state.position - state.previous_position) * system.substeps / system.dt
    return moved.sum(axis=-2), np.cross(state.previous_position, moved).sum(axis=-2)


def put(solver, **given):
    """Set a state. Args: given: fields of a State and their new values."""
    state = solver.state()
    for name, value in given.items():
        getattr(state, name)[:] = value
    solver.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity))


def refusal(act, error):
    """Message of an error, which must be one line. Args: act: function that raises it; error: its class."""
    with pytest.raises(error) as caught:
        act()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def assert_continues(solver, steps=20):
    """Two runs from one state have the same bits. Args: solver, or a pbd.ParticleSystem; steps: how many."""
    state = solver.state()
    solver.step(steps)
    digest = solver.digest()
    solver.set_state(state)
    solver.step(steps)
    assert solver.digest() == digest
