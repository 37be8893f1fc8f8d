"""Running a scene: the loop that recordings, films and benchmarks share."""

import math
import statistics
import time
from functools import cached_property
from typing import NamedTuple

import numpy as np

import pbd
import rigid
from pbd.core.validate import nearest, one_of, positive
from rigid.collision.overlaps import Overlaps, may_overlap
from rigid.solvers.verlet.options import VerletOptions
from scenes.parameters import UnknownName, convert
from scenes.scene import Scene
from scenes.simulate.device import initialise, running_on
from scenes.simulate.interrupts import interrupts_deferred
from scenes.simulate.recording import Frames, Recording

# Options of each solver that can be given, with values of their types. For "verlet" those of a pbd.ParticleSystem.
EXAMPLES = {"tolerance": 1e-6, "clusters": 1, "contact_capacity": 1}
OPTIONS = {
    solver: {
        name: EXAMPLES.get(name, default)
        for name, default in rigid.solver_class(solver).Options.defaults().items()
        if name not in ("dt", "grabs") and (solver != "verlet" or name in VerletOptions.OF_PARTICLES)
    }
    for solver in rigid.SOLVERS
}

# What a solver runs with in scenes that have no settings for it, see settings_of: penalties, in steps of 1/60 s or
# less, so stiff that thin cards stand and boxes sink into the ground by a tenth of a millimetre.
USUAL = {
    "articulated": {},
    "penalty": {
        "substeps": 64, "stiffness": 3.2e5, "damping": 200.0, "angular_stiffness": 6.4e5, "angular_damping": 200.0,
    },
}  # fmt: skip


class Frame(NamedTuple):
    """A scene at one instant, in the words of a Recording: time [s], particles, poses of colliders, bodies."""

    time: float
    positions: np.ndarray
    velocities: np.ndarray
    poses: np.ndarray
    body_poses: np.ndarray
    body_velocities: np.ndarray


class Run:
    """A scene and a solver that steps it.

    Arguments:
        scene: a Scene.
        solver: one of `scene.solvers`; None for `scene.solver`.
        duration: [s], made of whole steps; None for the scene's own. dt: time step [s]; None for the scene's own.
        fps: frames a second [1/s], taken at whole steps; the attribute `fps` says how many that came to.
        grabs: with how many things can be held while they move: see `grab` of the solvers.
        options: of the solver, in place of the scene's settings; as values or as text.

    Attributes: steps; steps_per_frame; count, of frames: one at time zero, and the last one at the end; system: what
    moves, a pbd.ParticleSystem of particles alone, else a solver of `rigid`.

    Errors: UnknownName for an option that does not exist; TypeError and ValueError for values that cannot be;
    NotImplementedError for what in a model the solver cannot do.
    """

    def __init__(self, scene, solver=None, duration=None, dt=None, fps=60.0, grabs=0, **options):
        if not isinstance(scene, Scene):
            raise TypeError(f"scene is {scene!r}: expected a Scene, such as `scenes.load` makes")
        initialise()
        solver = scene.solver if solver is None else one_of("solver", solver, rigid.SOLVERS)
        if solver in scene.unsupported:
            raise NotImplementedError(f"solver {solver!r} cannot run scene {scene.name}: {scene.unsupported[solver]}")
        if solver not in scene.solvers:
            raise ValueError(
                f"solver {solver!r} moves bodies alone, and scene {scene.name or 'given'} has particles: expected "
                f"{' or '.join(map(repr, scene.solvers))}"
            )
        self.scene, self.solver = scene, solver
        self.duration = positive("duration", scene.duration if duration is None else duration)
        self.settings = {**settings_of(scene, solver), **checked(solver, options)}
        if dt is not None:
            self.settings["dt"] = positive("dt", dt)
        dt, fps = self.settings["dt"], positive("fps", fps)
        steps = self.duration / dt
        if not 0.5 < steps < 1e15:
            raise ValueError(f"duration is {self.duration:g} s in steps of {dt:g} s: expected from one to 1e15 of them")
        self.steps, self.done = round(steps), 0
        self.steps_per_frame = max(1, round(min(1 / fps / dt, self.steps)))
        self.fps = 1 / (self.steps_per_frame * dt)
        self.count = 1 + math.ceil(self.steps / self.steps_per_frame)
        held = {"grabs": grabs} if grabs else {}
        self.system = system_of(scene, solver, {**self.settings, **held})
        # All particles, those that bodies are made of too; None for a solver that has none.
        self.particles = self.system if scene.model is None else getattr(self.system, "system", None)
        self.seconds = []  # that a step took, on the average over each frame

    def frame(self, velocities=True):
        """The scene as it is: a Frame. Arguments: velocities: whether it has those of particles, which take time."""
        positions, moving, poses = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 7))
        body_poses, body_velocities = np.zeros((0, 7)), np.zeros((0, 6))
        own = self.scene.particles
        if own is not None:
            moving = self.particles.velocities()[: len(own)] if velocities else moving
            positions = self.particles.positions()[: len(own)]
            poses = self.particles.collider_poses()[: len(own.colliders)]
        if self.scene.model is not None:
            state = self.system.state()
            body_poses = np.hstack([state.position, state.rotation])
            body_velocities = np.hstack([state.velocity, state.angular_velocity])
        return Frame(self.system.time, positions, moving, poses, body_poses, body_velocities)

    def frames(self):
        """Step through the run: yields a Frame at time zero, one after each `steps_per_frame` steps, and the last."""
        yield self.frame()
        while self.done < self.steps:
            count = min(self.steps_per_frame, self.steps - self.done)
            start = time.perf_counter()
            self.step(count)
            self.seconds.append((time.perf_counter() - start) / count)
            self.done += count
            yield self.frame()

    def step(self, count=1):
        """Make steps, each steered by the scene's control where it has one. Arguments: count."""
        if self.scene.control is None:
            self.system.step(count)
            return
        for _ in range(count):
            self.scene.control(self.system, self.system.time)
            self.system.step()

    @cached_property
    def overlaps(self):
        """What finds overlaps of the bodies, a rigid.collision.overlaps.Overlaps; None where they touch nothing. It has a
        kernel of its own, which is compiled where somebody asks."""
        model = self.scene.model
        touching = model is not None and self.settings.get("contacts", True) and may_overlap(model)
        return Overlaps(model) if touching else None

    def about(self):
        """What was run, on what, and how fast; plain values. Where it came to its end, also a digest of the state."""
        # The median, because the first frame compiles.
        seconds = statistics.median(self.seconds) if self.seconds else 0.0
        about = {
            "scene": self.scene.name,
            "parameters": {key: str(value) for key, value in self.scene.parameters.items()},
            "solver": self.solver,
            "settings": {key: value for key, value in self.settings.items() if isinstance(value, (int, float, str))},
            "device": running_on(),
            "microseconds_per_step": round(1e6 * seconds, 2),
        }
        if self.done < self.steps:
            return about
        last = {name: float(value) for name, value in self.system.statistics()._asdict().items()}
        return {**about, "last_step": last, "digest": (self.particles or self.system).digest()}


class Replay:
    """A recording, frame by frame, in place of a run.

    Arguments: scene: the Scene that was recorded; recording; fps: frames a second [1/s], at most as many as recorded.
    """

    def __init__(self, scene, recording, fps=60.0):
        if not isinstance(recording, Recording):
            raise TypeError(f"recording is {type(recording).__name__}: expected a scenes.Recording")
        found = [getattr(recording, name).shape[1] for name in ("positions", "poses", "body_poses")]
        own, model = scene.particles, scene.model
        expected = [0, 0] if own is None else [len(own), len(own.colliders)]
        expected += [0 if model is None else len(model.bodies)]
        if found != expected:
            of = "{} particles, {} colliders and {} bodies"
            raise ValueError(
                f"recording of {of.format(*found)}: expected {of.format(*expected)}, as scene {scene.name} has them"
            )
        self.scene, self.recording, self.solver = scene, recording, recording.about.get("solver", "")
        last = len(recording) - 1
        interval = recording.times[1] - recording.times[0] if last > 0 else 1.0
        stride = max(1, round(min(1 / positive("fps", fps) / interval, last)))
        self.fps = 1 / (stride * interval)
        self.chosen = [*range(0, last, stride), last]
        self.count = len(self.chosen)

    def frames(self):
        """Yields the frames, each a Frame."""
        return map(self.frame, self.chosen)

    def frame(self, k):
        """The Frame that was recorded as number k, from 0 on."""
        arrays = (getattr(self.recording, name) for name in Recording.ARRAYS[1 : len(Frame._fields)])
        return Frame(float(self.recording.times[k]), *(array[k] for array in arrays))


def settings_of(scene, solver):
    """What a scene runs a solver with: dt and options. Arguments: a Scene; solver: its name."""
    if solver in scene.settings:
        return dict(scene.settings[solver])
    # A solver that the scene says nothing of takes the step of the one it is made for.
    usual = {"dt": scene.settings.get(scene.solver, {}).get("dt", 1 / 60)}
    if solver == "articulated":  # the same rows, but for those of its joints
        given = scene.settings.get("impulse", {})
        usual |= {name: value for name, value in given.items() if name in ("dt", *OPTIONS[solver])}
    return {**usual, **USUAL.get(solver, {})}


def system_of(scene, solver, settings):
    """What moves a scene. Arguments: a Scene; solver: its name; settings: dt and options of the solver."""
    if scene.model is None:
        return pbd.ParticleSystem(scene.particles, **settings)
    if scene.particles is not None:
        settings = {**settings, "particles": scene.particles, "attachments": scene.attachments}
    return rigid.solver(solver, scene.model, **settings)


def checked(solver, options):
    """Options of a solver by name, in their types. Errors: UnknownName; ValueError for a value of another type."""
    known = OPTIONS[solver]
    for name in options:
        if name not in known:
            raise UnknownName(f"{solver!r} has no option {name!r}{nearest(name, known)} (it has {', '.join(known)})")
    return {name: convert(f"option {name}", value, known[name]) for name, value in options.items()}


def run(scene, solver=None, duration=None, dt=None, fps=60.0, progress=None, **options):
    """Run a scene and record it.

    Arguments: as of `Run`; progress: called with the number of each frame, starting at 1, and how many there will be.

    Returns: a Recording; after Ctrl-C, of the frames until then, with "interrupted" among what it says about itself.

    Errors: as of `Run`; pbd.Diverged, with the frames until then as its attribute `recording`.
    """
    return record(Run(scene, solver, duration, dt, fps, **options), progress)


def record(running, progress=None):
    """Step through a Run and keep its frames: what `run` returns and raises."""
    kept = {name: Frames() for name in Recording.ARRAYS}

    def recording(**more):
        return Recording({**running.about(), **more}, *(frames.array() for frames in kept.values()))

    number = 0
    try:
        for number, frame in enumerate(running.frames(), 1):
            with interrupts_deferred():  # a frame is kept as a whole
                for frames, array in zip(kept.values(), (*frame, running.system.energy())):
                    frames.append(array)
            if progress:
                progress(number, running.count)
    except KeyboardInterrupt:
        if not number:
            raise
        return recording(interrupted=True)
    except Exception as error:
        if number:
            error.recording = recording()
        raise
    return recording()
