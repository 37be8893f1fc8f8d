"""The wrecking ball: the speed of the swing, the impulse of the impact, joints that stay closed, a wall at rest."""

import numpy as np
import pytest
from versions import version

import scenes
from rigid.constraints.joints.gaps import joint_gaps
from scenes.registry import available
from scenes.simulate.run import Run

SOLVERS = ("verlet", "impulse", "articulated", "penalty")

# Relative error of the energy of a swing in 0.9 s: SHAKE is of second order, (ω h)² with ω = sqrt(g/L). Semi-implicit
# Euler reads an energy that is off by m g h v/2, and the joints of "penalty" give way by g/α*.
ENERGY = {"verlet": 1e-4, "impulse": 1e-2, "articulated": 1e-2, "penalty": 1e-2}

# Joints are closed within 1 mm, but those of "penalty" are springs, which an impact stretches.
GAP = {"verlet": 1e-5, "impulse": 1e-3, "articulated": 1e-6, "penalty": 2.5e-3}


class Wrecking:
    """A run of the small scene, frame by frame, until a time [s]."""

    def __init__(self, solver, until, **parameters):
        scene = scenes.load("wrecking_ball", **{**available()["wrecking_ball"].small, **parameters})
        self.masses = scene.model.masses
        names = [body.name for body in scene.model.bodies]
        self.ball = names.index("ball")
        self.links = np.array([name.startswith("link") for name in names])
        self.bricks = ~self.links
        self.bricks[self.ball] = False
        run = Run(scene, solver, duration=until, fps=60)
        frames, gaps, energies = [], [], []
        for frame in run.frames():
            frames.append(frame)
            gaps.append(joint_gaps(scene.model, run.system.state()).max())
            energies.append(run.system.energy().total)
        self.gaps, self.energies = np.array(gaps), np.array(energies)
        self.times = np.array([frame.time for frame in frames])
        self.places = np.array([frame.body_poses[:, :3] for frame in frames])
        self.velocities = np.array([frame.body_velocities[:, :3] for frame in frames])

    def momentum(self, bodies):
        """Along x, of some bodies, at each frame [kg m/s]."""
        return (self.velocities[:, bodies, 0] * self.masses[bodies]).sum(axis=1)


def versions():
    return [version("wrecking_ball", solver) for solver in SOLVERS]


@pytest.mark.parametrize(("name", "solver"), versions())
def test_ball_reaches_the_speed_of_its_height_and_the_wall_stands(name, solver):
    run = Wrecking(solver, 0.9)
    height = run.places[0, run.ball, 2] - run.places[-1, run.ball, 2]
    speed = np.linalg.norm(run.velocities[-1, run.ball])
    # The ball falls by h, and v² = 2 g h. A straight chain of mass μ M adds 1 + μ/2 to the work and 1 + μ/3 to the
    # inertia, so v grows by μ/12. A ball that turns with the chain adds (2/5)(r/L)² to the inertia, so v falls by half.
    chain = run.masses[run.links].sum() / run.masses[run.ball]
    spin = 0.2 * (0.33 / 3.5) ** 2
    assert speed == pytest.approx(np.sqrt(2 * 9.81 * height), rel=chain / 12 + spin + ENERGY[solver] / 2)
    kinetic = 0.5 * run.masses[run.ball] * speed**2
    assert abs(run.energies[-1] - run.energies[1]) < ENERGY[solver] * kinetic
    assert run.gaps.max() < GAP[solver]
    # The wall yields by less than a millimetre under its weight, and then stays.
    moved = np.linalg.norm(run.places - run.places[0], axis=2)[:, run.bricks]
    later = np.linalg.norm(run.places[30:] - run.places[-1], axis=2)[:, run.bricks]
    assert moved.max() < 1e-3
    assert later.max() < 2e-4


@pytest.mark.parametrize(("name", "solver"), versions())
def test_ball_passes_its_momentum_to_the_bricks(name, solver):
    run = Wrecking(solver, 1.3, friction=0.0)
    hit = int(np.argmax(run.momentum(run.bricks) < -100.0))
    before, after = hit - 1, hit + 1
    # Without friction only the pivot can change the momentum along x. Its force has the direction of the chain, whose
    # angle θ < v Δt/L at the lowest point: M (g + v²/L) θ Δt.
    passed = run.momentum(run.bricks)[after]
    total = run.momentum(slice(None))
    speed, span = np.linalg.norm(run.velocities[before, run.ball]), run.times[after] - run.times[before]
    pivot = run.masses[run.ball] * (9.81 + speed**2 / 3.5) * speed * span / 3.5 * span
    assert passed < 0.1 * total[before] < 0
    assert abs(total[after] - total[before]) < pivot
    # Joints stay closed in the impact.
    assert run.gaps.max() < GAP[solver]


@pytest.mark.parametrize(("name", "solver"), versions()[:2])
def test_bricks_come_to_rest(name, solver):
    run = Wrecking(solver, 6.0)
    assert run.energies[-1] < run.energies[0]
    assert np.linalg.norm(run.places[-1] - run.places[0], axis=1)[run.bricks].max() > 1.0
    # In the last half second none moves by more than a millimetre. They lie on the ground or on one another.
    moved = np.linalg.norm(run.places[-30:] - run.places[-1], axis=2)[:, run.bricks]
    assert moved.max() < 1e-3
    assert run.places[-1, run.bricks, 2].min() > 0.12


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"angle": 120.0}, "angle is 120 degrees: expected 0 to 90"),
        ({"rows": 0}, "rows is 0: expected 1 or more"),
        ({"mass": -1.0}, "mass is -1: expected a number above zero"),
    ],
)
def test_bad_parameters_are_refused(parameters, says):
    with pytest.raises(ValueError, match=says):
        scenes.load("wrecking_ball", **parameters)
