"""Run a scene: the loop that recordings, films and benchmarks share."""

import math
import statistics
import time
from functools import cached_property

import numpy as np

import pbd
import rigid
from pbd.core.messages import shown
from pbd.core.validate import grab_count, one_of, positive
from rigid.collision.overlaps import Overlaps, may_overlap
from scenes.scene import Scene
from scenes.simulate.device import initialise, running_on
from scenes.simulate.interpolation import frames_between
from scenes.simulate.interrupts import interrupts_deferred
from scenes.simulate.recording import Frame, Frames, Recording, torn_pairs
from scenes.simulate.settings import checked_options, settings_of


class RunPlan:
    """A run before it begins: a scene, a solver and its settings, without memory for them.

    Args: see `Run`.

    Attributes: see `Run`.
    """

    def __init__(self, scene, solver=None, duration=None, dt=None, fps=60.0, **options):
        if not isinstance(scene, Scene):
            raise TypeError(f"scene is {shown(scene)}: expected a Scene, such as `scenes.load` makes")
        solver = scene.solver if solver is None else one_of("solver", solver, rigid.SOLVERS)
        if solver in scene.unsupported:
            raise NotImplementedError(f"solver {solver!r} cannot run scene {scene.name}: {scene.unsupported[solver]}")
        if solver in scene.reasons:
            raise ValueError(
                f"solver {solver!r} cannot run scene {scene.name}: {scene.reasons[solver]}: expected "
                f"{' or '.join(map(repr, scene.solvers))}"
            )
        self.scene, self.solver = scene, solver
        self.duration = positive("duration", scene.duration if duration is None else duration, math.inf)
        options = checked_options(solver, options, particles_only=scene.model is None)
        self.settings = {**settings_of(scene, solver), **options}
        if dt is not None:
            self.settings["dt"] = positive("dt", dt, math.inf)
        dt, fps = self.settings["dt"], positive("fps", fps, math.inf)
        steps = self.duration / dt
        if not 0.5 < steps < 1e15:
            raise ValueError(f"duration is {self.duration:g} s with steps of {dt:g} s: expected 1 to 1e15 steps (dt)")
        self.steps = round(steps)
        self.steps_per_frame = max(1, round(min(1 / fps / dt, self.steps)))
        self.fps = 1 / (self.steps_per_frame * dt)
        self.count = 1 + math.ceil(self.steps / self.steps_per_frame)
        self.length = self.steps * dt

    def about(self):
        """Describe the run as plain values: scene, parameters, solver, settings, device."""
        return {
            "scene": self.scene.name,
            "parameters": {k: str(v) for k, v in self.scene.parameters.items() if v is not None},
            "solver": self.solver,
            "settings": {key: value for key, value in self.settings.items() if isinstance(value, (int, float, str))},
            "device": running_on(),
        }


class Run(RunPlan):
    """A scene with a solver that steps it.

    Args:
        scene: a Scene.
        solver: one of `scene.solvers`; None for `scene.solver`.
        duration: [s], rounded to whole steps; None for the scene's own.
        dt: time step [s]; None for the scene's own.
        fps: frames per second [1/s], rounded so that frames are at whole steps.
        grabs: how many grab springs the solver has, see `grab` of the solvers.
        options: of the solver, which replace the scene's settings; values or text.

    Attributes:
        steps, done: how many steps the run has, and how many are made.
        length: of the run, in whole steps [s].
        steps_per_frame, fps: after rounding.
        count: how many frames: one at time zero, and the last at the end.
        settings: dt and options.
        system: the solver: a pbd.ParticleSystem for particles alone, else a rigid.solvers.base.Solver.
        particles: the pbd.ParticleSystem that moves particles or bodies; None if the solver has none.
        seconds: wall time per step, averaged over each frame [s].

    Raises: UnknownName for an unknown option; TypeError and ValueError for values out of range; NotImplementedError if
        the solver cannot run the scene.
    """

    def __init__(self, scene, solver=None, duration=None, dt=None, fps=60.0, grabs=0, **options):
        super().__init__(scene, solver, duration, dt, fps, **options)
        initialise()
        grabs, self.done = grab_count("grabs", grabs), 0
        self.system = system_of(scene, self.solver, {**self.settings, **({"grabs": grabs} if grabs else {})})
        self.particles = self.system if scene.model is None else self.system.particle_system
        self.seconds = []

    def __repr__(self):
        return f"Run of {self.scene.name!r} with {self.solver!r}: step {self.done} of {self.steps}"

    def frame(self, velocities=True):
        """Read the present Frame. Args: velocities: whether to compute those of particles, which takes time."""
        positions, moving, poses = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 7))
        body_poses, body_velocities = np.zeros((0, 7)), np.zeros((0, 6))
        own = self.scene.particles
        if own is not None:
            moving = self.particles.velocities()[: len(own)] if velocities else moving
            positions = self.particles.positions()[: len(own)]
            poses = self.particles.collider_poses()[: len(own.colliders)]
        if self.scene.model is not None:
            state = self.system.state(warm_start=False)
            body_poses = np.hstack([state.position, state.rotation])
            body_velocities = np.hstack([state.velocity, state.angular_velocity])
        return Frame(self.system.time, positions, moving, poses, body_poses, body_velocities, torn_pairs(self.events()))

    def events(self):
        """Events so far, what tore or broke: a list of dicts with the fields of pbd.Event."""
        return [event._asdict() for event in self.system.events]

    def frames(self):
        """Step through the run: yield a Frame at time zero, one after each `steps_per_frame` steps, and the last."""
        yield self.frame()
        while self.done < self.steps:
            yield self.frame_after(min(self.done + self.steps_per_frame, self.steps))

    def frames_at(self, times):
        """Step through the run: yield a Frame at each time, interpolated between steps. Args: times: ascending [s]."""
        return frames_between((time / self.settings["dt"] for time in times), self.frame_after)

    def frame_after(self, steps):
        """Step on, and read the Frame. Args: steps: of the whole run until then, not fewer than are made."""
        count = steps - self.done
        if count:
            start = time.perf_counter()
            self.step(count)
            self.seconds.append((time.perf_counter() - start) / count)
            self.done = steps
        return self.frame()

    def step(self, count=1):
        """Make steps, and call the scene's control before each. Args: count: how many."""
        if self.scene.control is None:
            self.system.step(count)
            return
        for _ in range(count):
            self.scene.control(self.system, self.system.time)
            self.system.step()

    @cached_property
    def overlaps(self):
        """A rigid.collision.overlaps.Overlaps of the bodies; None if they cannot touch. It compiles a kernel."""
        model = self.scene.model
        touching = model is not None and self.settings.get("contacts", True) and may_overlap(model)
        return Overlaps(model) if touching else None

    def about(self):
        """Describe the run as plain values: settings, device, speed; at the end also a digest of the state."""
        # The median, because the first frame compiles.
        seconds = statistics.median(self.seconds) if self.seconds else 0.0
        about = {**super().about(), "microseconds_per_step": round(1e6 * seconds, 2)}
        if self.events():
            about["events"] = self.events()
        if self.done < self.steps:
            return about
        last = {name: float(value) for name, value in self.system.statistics()._asdict().items()}
        return {**about, "last_step": last, "digest": (self.particles or self.system).digest()}


class Replay:
    """A recording in place of a run: it yields frames in the same way.

    Args:
        scene: the Scene that was recorded.
        recording: a Recording.
        fps: frames per second [1/s], rounded; at most those that were recorded; None for all of them.

    Attributes: count: how many frames; fps: after rounding; length: of the recording [s]; solver: its name.

    Raises: TypeError; ValueError if the recording is of another scene.
    """

    def __init__(self, scene, recording, fps=60.0):
        if not isinstance(recording, Recording):
            raise TypeError(f"recording is {type(recording).__name__}: expected a scenes.Recording")
        found = [getattr(recording, name).shape[1] for name in ("positions", "poses", "body_poses")]
        own, model = scene.particles, scene.model
        expected = [0, 0] if own is None else [len(own), len(own.colliders)]
        expected += [0 if model is None else len(model.bodies)]
        if found != expected:
            counts = "{} particles, {} colliders and {} bodies"
            raise ValueError(
                f"recording of {counts.format(*found)}: expected {counts.format(*expected)}, as in scene {scene.name}"
            )
        self.scene, self.recording, self.solver = scene, recording, recording.about.get("solver", "")
        last = len(recording) - 1
        self.length = float(recording.times[last] - recording.times[0])
        interval = recording.times[1] - recording.times[0] if last > 0 else 1.0
        wanted = 0.0 if fps is None else 1 / positive("fps", fps, math.inf)
        stride = max(1, round(min(wanted / interval, last)))
        self.fps = 1 / (stride * interval)
        self.chosen = [*range(0, last, stride), last]
        self.count = len(self.chosen)

    def events(self):
        """Events of the recorded run, as `Run.events`."""
        return list(self.recording.about.get("events", ()))

    def frames(self):
        """Iterate over the frames."""
        return map(self.frame, self.chosen)

    def frames_at(self, times):
        """Yield a Frame at each time, interpolated between those recorded. Args: times: from the first [s]."""
        return frames_between(map(self.place, times), self.frame)

    def place(self, time):
        """The number of the frame at a time, a fraction between two of them. Args: time: from the first [s]."""
        times = self.recording.times
        return float(np.interp(time + times[0], times, np.arange(len(times))))

    def frame(self, k):
        """Read a recorded Frame. Args: k: its number, from 0."""
        arrays = (getattr(self.recording, name) for name in Frame._fields[1:-1])
        time = float(self.recording.times[k])
        return Frame(time, *(array[k] for array in arrays), self.recording.torn_at(time))


def source_of(scene, recording=None, solver=None, duration=None, dt=None, fps=60.0, **options):
    """A Run, or the Replay of a recording. What a replay does not use is checked all the same. Args: see both."""
    if recording is None:
        return Run(scene, solver, duration, dt, fps, **options)
    RunPlan(scene, solver, duration, dt, 60.0 if fps is None else fps, **options)
    return Replay(scene, recording, fps)


def system_of(scene, solver, settings):
    """Make the solver of a scene. Args: scene: a Scene; solver: its name; settings: dt and options."""
    if scene.model is None:
        return pbd.ParticleSystem(scene.particles, **settings)
    if scene.particles is not None:
        settings = {**settings, "particles": scene.particles, "attachments": scene.attachments}
    return rigid.solver(solver, scene.model, **settings)


def run(scene, solver=None, duration=None, dt=None, fps=60.0, progress=None, **options):
    """Run a scene and record it.

    Args:
        scene, solver, duration, dt, fps, options: see `Run`.
        progress: called with the number of each frame, from 1, and the number of frames.

    Returns: a Recording. After Ctrl-C it holds the frames so far, and its `about` has "interrupted".

    Raises: see `Run`; pbd.Diverged, whose attribute `recording` holds the frames so far.
    """
    return record(Run(scene, solver, duration, dt, fps, **options), progress)


def recording_before(error):
    """The Recording that `record` attached to an error: the frames before it. None if there are none."""
    return getattr(error, "recording", None)


def record(running, progress=None):
    """Record a Run that has not begun. Args: running: a Run; progress: see `run`. Returns, raises: see `run`."""
    kept = {name: Frames() for name in Recording.ARRAYS}

    def recording(**more):
        whole = min(frames.count for frames in kept.values())  # an error may stop in the middle of a frame
        arrays = (frames.array()[:whole] for frames in kept.values())
        return Recording({**running.about(), **more}, *arrays, running.scene)

    number = 0
    try:
        for number, frame in enumerate(running.frames(), 1):
            with interrupts_deferred():  # keep frames whole
                for frames, array in zip(kept.values(), (*frame[:-1], running.system.energy())):
                    frames.append(array)
            if progress:
                progress(number, running.count)
    except KeyboardInterrupt:
        if not number:
            raise
        return recording(interrupted=True)
    except Exception as error:
        if min(frames.count for frames in kept.values()):
            error.recording = recording()
        raise
    return recording()
