"""Models that tests of several solvers share, and how these are asked what they refuse."""

import pytest

import rigid

g = 9.81
X, Y, Z, ZERO = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)

ASIDE = 1  # bodies that every model has


def model_of(gravity=(0, 0, -g), ground=True, **surface):
    """An empty model on the ground. Far away a box is joined to the ground, by another: all models share a kernel."""
    model = rigid.Model(gravity=gravity)
    model.add_fixed(rigid.GROUND, model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(55, 50, 50)), name="aside")
    model.add_shape(rigid.GROUND, rigid.Box(centre=(60, 50, 50), size=(1, 1, 1)))
    model.add_ground(0.0 if ground else -1e3, **surface)
    return model


def all_at_once(number=0):
    """Boxes that fall on one another, a wheel that turns many times, a chain with limits, a motor, springs and a gear;
    `number` changes masses, places, friction, gravity and nothing else."""
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


def rod_on_a_pivot():
    """A rod on a hinge, without anything to touch."""
    made = rigid.Model()
    rod = made.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0), name="rod")
    made.add_hinge(rigid.GROUND, rod, ZERO, Y, name="pivot")
    return made


def refusal(act, error):
    """The message of an error, which is one line."""
    with pytest.raises(error) as caught:
        act()
    assert "\n" not in str(caught.value)
    return str(caught.value)
