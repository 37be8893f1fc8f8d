"""A sweep before it runs: its runs, in order, and the shards of runs that are done together."""

import hashlib
import inspect
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rigid
from pbd.core.messages import listed, nearest, shown
from pbd.core.validate import one_of, positive, whole
from pbd.core.version import installed_version
from scenes.parameters import UnknownName
from scenes.registry import REGISTRY, find, load, register
from scenes.scene_files import chosen_function, import_file, import_module, is_own, name_of_scene, split
from scenes.simulate.run import RunPlan
from scenes.simulate.settings import checked_options, option_types
from scenes.sweeps.values import values_of

# A shard has at most so many runs, and so few that it takes some ten seconds: so many substeps of bodies or particles.
MOST_RUNS, MOST_WORK = 256, 10_000_000
MOST_NUMBERS = 20_000_000  # of a shard's frames, which are in memory
SHARDS = 32  # at least, so that several workers have something to do


class RunOfSweep(NamedTuple):
    """A run of a sweep: its number, the solver, parameters of the scene, options with dt."""

    number: int
    solver: str
    parameters: dict
    options: dict

    def columns(self):
        """Values chosen for the run, {column: value}."""
        return {"run": self.number, "solver": self.solver, **self.parameters, **self.options}


@dataclass
class Job:
    """What all runs of a sweep share, as workers need it.

    Args:
        scene: a name of the catalogue, FILE.py, FILE.py:FUNCTION, MODULE:FUNCTION, or a function that makes a Scene.
        file: path and digest of the file that `scene` or `measure` names, {path: digest}, else empty.
        duration, fps, precision: see scenes.run.
        measure: None, FILE.py:FUNCTION, MODULE:FUNCTION, or a function (scene, recording) of numbers {name: number}.
    """

    scene: Any
    duration: float | None = None
    fps: float = 60.0
    precision: int = 64
    measure: Any = None
    files: dict = field(default_factory=dict)

    def scene_with(self, parameters):
        """Make the scene with parameters. Raises: see scenes.load."""
        return load(self.name(), **parameters)

    def name(self):
        """The name by which scenes.load finds the scene."""
        return name_of_scene(self.scene) if isinstance(self.scene, str) else name_of_function(self.scene)

    def measuring(self):
        """The function that measures a run; None if there is none."""
        return function_of(self.measure) if isinstance(self.measure, str) else self.measure


class SweepPlan:
    """A sweep before it runs.

    Args: see `scenes.sweep`.

    Attributes:
        job: the Job that all runs share.
        axes: {name: values}: "solver", parameters, options. The last changes fastest.
        count: how many runs; duration: of each [s].
        shard: how many runs are done together.

    Raises: see `scenes.sweep`.
    """

    def __init__(self, scene, grid=None, *, options=None, solvers=None, dt=None, duration=None, fps=60.0, precision=64,
                 measure=None, shard=None):  # fmt: skip
        self.job = Job(scene, None if duration is None else positive("duration", duration, math.inf),
                       positive("fps", fps, math.inf), precision, measure, files_of(scene, measure))  # fmt: skip
        if precision not in (32, 64):
            raise ValueError(f"precision is {shown(precision)}: expected 32 or 64")
        self.job.measuring()
        entry = find(self.job.name())
        self.parameters = {name: values_of_parameter(entry, name, given) for name, given in (grid or {}).items()}
        first = self._first_scene()
        self.solvers = values_of("solver", first.solver if solvers is None else solvers)
        for solver in self.solvers:
            one_of("solver", solver, rigid.SOLVERS)
        self.options = {
            name: values_of_option(self.solvers, name, given, first.model is None)
            for name, given in (options or {}).items()
        }
        if dt is not None:
            self.options["dt"] = [positive("dt", each, math.inf) for each in values_of("dt", dt, float)]
        self.axes = {"solver": self.solvers, **self.parameters, **self.options}
        for name in self.parameters:
            if name in self.options or name in ("run", "solver"):
                raise ValueError(f"parameter {name!r}: expected a name that no option and no other column has")
        self.duration = first.duration if duration is None else self.job.duration
        self.count = math.prod(map(len, self.axes.values()))
        self.shard = self._runs_of_a_shard(first) if shard is None else whole("shard", shard)

    def _first_scene(self):
        """A scene of the sweep, to check options with: the first that can be made."""
        try:
            return self.job.scene_with({name: values[0] for name, values in self.parameters.items()})
        except (ValueError, TypeError, OSError):
            return self.job.scene_with({})  # runs that fail become rows with the reason

    def _runs_of_a_shard(self, scene):
        """How many runs are done together. It depends on the sweep alone, never on the number of workers."""
        run = self.run(0)
        try:
            plan = RunPlan(scene, run.solver, self.job.duration, fps=self.job.fps, **run.options)
        except (ValueError, NotImplementedError):
            return 1
        items = sum(len(each) for each in (scene.particles, scene.model and scene.model.bodies) if each is not None)
        work = plan.steps * plan.settings.get("substeps", 1) * items
        numbers = 13 * items * plan.count
        return max(1, min(MOST_RUNS, MOST_WORK // work, MOST_NUMBERS // numbers, math.ceil(self.count / SHARDS)))

    def run(self, number):
        """The run with a number, a RunOfSweep."""
        chosen, rest = {}, number
        for name, values in reversed(self.axes.items()):
            rest, k = divmod(rest, len(values))
            chosen[name] = values[k]
        return RunOfSweep(
            number, chosen["solver"], {name: chosen[name] for name in self.parameters},
            {name: chosen[name] for name in self.options},
        )  # fmt: skip

    @property
    def shards(self):
        """Number of shards."""
        return -(-self.count // self.shard)

    def runs_of(self, shard):
        """The runs of a shard, by its index: a list of RunOfSweep."""
        return [self.run(number) for number in range(shard * self.shard, min((shard + 1) * self.shard, self.count))]

    def description(self):
        """The sweep as plain values, for sweep.json: two sweeps are the same if these are."""
        job = self.job
        texts = {name: each if isinstance(each, str) else digest_of_function(each)
                 for name, each in (("scene", job.scene), ("measure", job.measure)) if each is not None}  # fmt: skip
        return {
            **texts, "files": list(job.files.values()), "parameters": self.parameters, "solvers": self.solvers,
            "options": self.options, "shard": self.shard, "duration": job.duration, "fps": job.fps,
            "precision": job.precision, "versions": versions(),
        }  # fmt: skip


def values_of_parameter(entry, name, given):
    """Values of a parameter of a scene. Raises: UnknownName; ValueError."""
    if name not in entry.parameters:
        hint, known = nearest(name, entry.parameters), listed(entry.parameters, 60) or "none"
        raise UnknownName(f"scene {entry.name} has no parameter {shown(name)}{hint} (it has {known})")
    return values_of(f"parameter {name} of {entry.name}", given, type(entry.parameters[name]))


def values_of_option(solvers, name, given, particles_only):
    """Values of an option of all solvers. Raises: UnknownName; ValueError."""
    for solver in solvers:
        checked_options(solver, {name: None}, particles_only)
    values = values_of(f"option {name}", given, option_types(solvers[0])[name])
    for solver in solvers:
        for value in values:
            checked_options(solver, {name: value}, particles_only)
    return values


# Scenes and measures in files -----------------------------------------------------------------------------------------


def name_of_function(build):
    """Register a function that makes a Scene, under its own name. Returns: the name."""
    before = REGISTRY.get(build.__name__)
    if before is None or before.build is not build:
        REGISTRY.pop(build.__name__, None)
        register(build)
    return build.__name__


def function_of(text):
    """The function that FILE.py:FUNCTION or MODULE:FUNCTION names. Raises: UnknownName."""
    place, function = split(text)
    if not function:
        raise UnknownName(f"measure {shown(text)}: expected FILE.py:FUNCTION or MODULE:FUNCTION")
    module, _ = import_file(place) if place.endswith(".py") else import_module(place)
    return chosen_function(text, module, function)


def files_of(*texts):
    """Digests of the files that texts name: {path: digest}."""
    places = [split(text)[0] for text in texts if isinstance(text, str) and is_own(text)]
    paths = [Path(place).resolve() for place in places if place.endswith(".py")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths if path.is_file()}


def digest_of_function(function):
    """Name of a function, with a digest of its source."""
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    return f"{getattr(function, '__name__', 'function')} {hashlib.sha256(source.encode()).hexdigest()[:16]}"


def versions():
    """Versions of what changes bits of results: {name: version}."""
    import taichi

    return {"verletlab": installed_version(), "taichi": ".".join(map(str, taichi.__version__)), "numpy": np.__version__}
