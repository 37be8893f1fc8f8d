"""The limits of the trailer's hitch: 18° about X and Z, and 15° about Y, as in [1] of docs/solvers/sources.md."""

import math

import numpy as np
import pytest

import scenes
from rigid.rotation import conjugate, logarithm, multiply, swing_twist
from scenes.simulate.run import Run

# X is the robot's heading, Y points to its left. The rotation from robot to trailer is a twist about Y of at most 15°,
# followed by a swing about an axis in the plane of X and Z, by at most 18°. So its parts about X and Z are below 18°.
SWING, TWIST = math.radians(18), math.radians(15)


def rotations(running):
    """Rotation vectors of the swing (n, 3) and twist angles (n,) of the trailer, relative to the robot [rad]."""
    swings, twists = [], []
    names = [body.name for body in running.scene.model.bodies]
    robot, cart = names.index("robot"), names.index("trailer")
    for _ in range(running.steps):
        running.step()
        q = running.system.state().rotation
        swing, twist = swing_twist(multiply(conjugate(q[robot]), q[cart]), (0, 1, 0))
        swings.append(logarithm(swing))
        twists.append(logarithm(twist)[1])
    return np.array(swings), np.array(twists)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"turn": 0.4, "height": 0.12}, {"turn": -0.4, "height": 0.12}])
def test_hitch_stays_within_its_limits(parameters):
    # A limit is reached exactly in the step: b = G/h. What rotation about other axes adds is of second order in the
    # rotation of a step, (h ω)²/2: below 1e-3 rad, 0.06°, for h = 1/240 s and ω = 10 rad/s.
    swings, twists = rotations(Run(scenes.load("trailer", **parameters), "impulse"))
    slack = math.radians(0.06)
    angles = np.linalg.norm(swings, axis=1)
    assert np.abs(swings[:, 1]).max() < 1e-12  # swings are about axes across Y
    assert np.abs(swings[:, [0, 2]]).max() <= angles.max() <= SWING + slack
    assert np.abs(twists).max() <= TWIST + slack
    # The stones push the hitch to both limits of the twist, and tight turns to that of the swing.
    assert max(twists) > TWIST - slack
    assert min(twists) < -TWIST + slack
    if parameters:
        assert angles.max() > SWING - slack
