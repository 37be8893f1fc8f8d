"""Running a scene: the loop that recordings, films and benchmarks share."""

import statistics
import time
from typing import NamedTuple

import numpy as np

import pbd
from pbd.validate import one_of, positive
from scenes.device import initialise, running_on
from scenes.recording import Frames, Recording

SOLVERS = ("verlet",)


class Frame(NamedTuple):
    """A scene at one instant: time [s], positions (particles, 3) [m] and poses of colliders (colliders, 7)."""

    time: float
    positions: np.ndarray
    poses: np.ndarray


class Run:
    """A scene and a solver that steps it.

    Arguments:
        scene: a Scene.
        solver: "verlet", the only one there is for particles.
        duration: [s]; None for the scene's own. dt: time step [s]; None for the scene's own.
        fps: frames a second [1/s], taken at whole steps.
        options: of pbd.ParticleSystem, in place of the scene's settings.
    """

    def __init__(self, scene, solver="verlet", duration=None, dt=None, fps=60.0, **options):
        initialise()
        one_of("solver", solver, SOLVERS)
        self.scene, self.solver = scene, solver
        self.duration = positive("duration", scene.duration if duration is None else duration)
        self.settings = {"dt": 1 / 60, **scene.settings, **options}
        if dt is not None:
            self.settings["dt"] = positive("dt", dt)
        self.system = pbd.ParticleSystem(scene.particles, **self.settings)
        self.steps_per_frame = max(1, round(1 / (positive("fps", fps) * self.system.dt)))
        self.count = 1 + max(1, round(self.duration / (self.steps_per_frame * self.system.dt)))
        self.seconds = []  # that the solver took for each frame

    def frame(self):
        """The scene as it is: a Frame."""
        return Frame(self.system.time, self.system.positions(), self.system.collider_poses())

    def frames(self):
        """Step through the run: yields a Frame at time zero and one after each `steps_per_frame` steps."""
        yield self.frame()
        for _ in range(self.count - 1):
            start = time.perf_counter()
            self.system.step(self.steps_per_frame)
            self.seconds.append(time.perf_counter() - start)
            yield self.frame()

    def about(self):
        """What was run, on what, and how fast; plain values."""
        # The median, because the first frame compiles.
        seconds = statistics.median(self.seconds) if self.seconds else 0.0
        return {
            "scene": self.scene.name,
            "parameters": {key: str(value) for key, value in self.scene.parameters.items()},
            "solver": self.solver,
            "settings": {key: value for key, value in self.settings.items() if isinstance(value, (int, float, str))},
            "device": running_on(),
            "microseconds_per_step": round(1e6 * seconds / self.steps_per_frame, 2),
            "digest": self.system.digest(),
        }


def run(scene, solver="verlet", duration=None, dt=None, fps=60.0, progress=None, **options):
    """Run a scene and record it.

    Arguments: as of `Run`; progress: called with each frame's number, starting at 1.

    Returns: a Recording; after Ctrl-C, of the frames until then, with "interrupted" among what it says about itself.

    Errors: pbd.Diverged, with the frames until then as its attribute `recording`.
    """
    running = Run(scene, solver, duration, dt, fps, **options)
    kept = [Frames() for _ in Recording.ARRAYS]
    recording = None
    about = {}
    try:
        for number, frame in enumerate(running.frames(), 1):
            system = running.system
            now = (frame.time, frame.positions, system.velocities(), frame.poses, system.energy())
            for frames, array in zip(kept, now):
                frames.append(np.asarray(array))
            if progress:
                progress(number)
    except KeyboardInterrupt:
        about = {"interrupted": True}
    except pbd.Diverged as error:
        error.recording = Recording(running.about(), *(frames.array() for frames in kept), kept)
        raise
    complete = min(frames.count for frames in kept)
    recording = Recording({**running.about(), **about}, *(frames.array()[:complete] for frames in kept), kept)
    return recording
