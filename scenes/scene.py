"""Scenes: a description, what it looks like, and the registry in which a person finds them by name."""

import importlib
import inspect
import math
import pkgutil
from dataclasses import dataclass, field, replace

import numpy as np

import pbd
import rigid
from pbd.core.validate import nearest, one_of
from scenes.visuals.visuals import visuals_of


@dataclass
class Scene:
    """What there is, and how to look at it; never how it is solved.

    Arguments:
        particles: a pbd.Particles, or None where there is a model.
        model: a rigid.Model, or None; beside particles, both move in one world, with the particles' gravity.
        attachments: pairs (indices of particles, body) that stay where they are on the body.
        duration: how long it is worth watching [s].
        settings: {solver: step and options that it runs well with}, such as {"impulse": {"dt": 1 / 60}}; `run` and the
            command line override. The first is the solver it runs with where none is named.
        visuals: what is drawn (scenes/visuals/visuals.py); None for all its triangles, sticks, particles, colliders and bodies.
        camera: a scenes.render Camera, or a FollowingCamera; None for one that sees everything at the start.
        ground: height of the floor that is drawn [m]; None for none.
        control: what steers it: a function of (solver, time [s]), called before each step, that sets targets of motors
            with `solver.set_motor`. It knows nothing but what it is given, so that a run can be repeated.
        unsupported: {solver: why it cannot run this scene}, a clause such as "a slider would have to ...".
        name, summary, parameters: filled in by `load`.
    """

    particles: pbd.Particles | None = None
    model: rigid.Model | None = None
    attachments: tuple = ()
    duration: float = 5.0
    settings: dict = field(default_factory=dict)
    visuals: list | None = None
    camera: object = None
    ground: float | None = 0.0
    control: object = None
    unsupported: dict = field(default_factory=dict)
    name: str = ""
    summary: str = ""
    parameters: dict = field(default_factory=dict)

    def __post_init__(self):
        for name, kind in (("particles", pbd.Particles), ("model", rigid.Model)):
            given = getattr(self, name)
            if not isinstance(given, (kind, type(None))):
                raise TypeError(f"{name} of a scene is {given!r}: expected a {kind.__name__}, or None")
        if self.particles is None and self.model is None:
            raise ValueError("a scene of nothing: expected particles, a model, or both")
        if self.attachments and (self.particles is None or self.model is None):
            raise ValueError("attachments of particles to bodies: expected particles and a model")
        if self.control is not None and (self.model is None or not callable(self.control)):
            raise TypeError(f"control is {self.control!r}: expected a function (solver, time), and a model")
        for solver, settings in self.settings.items():
            one_of("solver in settings of a scene", solver, self.solvers)
            if not isinstance(settings, dict):
                raise TypeError(f"settings of a scene for {solver!r} are {settings!r}: expected a dict of options")
        if self.visuals is None:
            self.visuals = visuals_of(self.particles, self.model)

    @property
    def solvers(self):
        """Names of the solvers that can run it: all of `rigid` for bodies, but those that cannot; "verlet" alone where
        there are particles."""
        every = rigid.SOLVERS if self.particles is None else ("verlet",)
        return tuple(solver for solver in every if solver not in self.unsupported)

    @property
    def solver(self):
        """The solver it runs with where none is named: the first that it has settings for."""
        return next(iter(self.settings), self.solvers[0])

    @property
    def passive(self):
        """Whether nothing puts energy in: no wind, nothing led along a path, no moving collider, no motor."""
        if self.model is not None and any(getattr(joint, "motor", None) for joint in self.model.joints):
            return False
        return self.particles is None or (self.particles.still and self.particles.wind is None)


@dataclass
class FollowingCamera:
    """A camera that keeps beside a body, wherever that goes along the floor.

    Arguments: body: its index; camera: a Camera, as it is to stand while the body is over the origin.
    """

    body: int
    camera: object

    def at(self, frame):
        """The Camera at one instant. Arguments: a Frame."""
        shift = np.array([*frame.body_poses[self.body, :2], 0.0])
        position, target = np.add(self.camera.position, shift), np.add(self.camera.target, shift)
        return replace(self.camera, position=position, target=target)


@dataclass
class Entry:
    """A scene of the catalogue: its function, and what the command line says of it."""

    name: str
    build: object
    summary: str
    parameters: dict


REGISTRY = {}


def register(build):
    """Decorator: put a function that makes a Scene into the registry, by its own name.

    The first line of its docstring is the summary; its keyword arguments are the scene's parameters, and their defaults
    say of what type they are.
    """
    parameters = {name: given.default for name, given in inspect.signature(build).parameters.items()}
    for name, default in parameters.items():
        if default is inspect.Parameter.empty:
            raise TypeError(f"parameter {name} of scene {build.__name__} has no default")
    summary = (inspect.getdoc(build) or "").split("\n")[0]
    REGISTRY[build.__name__] = Entry(build.__name__, build, summary, parameters)
    return build


def available():
    """All scenes by name: a dict of Entry."""
    from scenes import catalogue as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(REGISTRY.items()))


class UnknownName(ValueError):
    """A scene, a parameter or an option that does not exist; the message names the nearest that does."""


def find(name):
    """The entry of a scene. Arguments: name. Errors: UnknownName."""
    scenes = available()
    if name not in scenes:
        raise UnknownName(f"no scene called {name!r}{nearest(name, scenes)} (`verletlab list` lists all)")
    return scenes[name]


def load(name, **parameters):
    """Make a scene of the catalogue.

    Arguments: name; parameters: the scene's own, as values or as text.

    Errors: UnknownName for a scene or a parameter that does not exist; ValueError for a value of the wrong type, or one
    that no such scene can be made with; an OSError for a file that cannot be read.
    """
    entry = find(name)
    given = {}
    for key, value in parameters.items():
        if key not in entry.parameters:
            hint, known = nearest(key, entry.parameters), ", ".join(entry.parameters) or "none"
            raise UnknownName(f"scene {name} has no parameter {key!r}{hint} (it has {known})")
        given[key] = convert(f"parameter {key} of {name}", value, entry.parameters[key])
    try:
        scene = entry.build(**given)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        if not given:  # nothing that a person chose
            raise
        chosen = ", ".join(f"{key}={value}" for key, value in given.items())
        raise ValueError(f"scene {name} with {chosen}: {error}") from error
    scene.name, scene.summary, scene.parameters = name, entry.summary, {**entry.parameters, **given}
    return scene


def convert(what, value, default):
    """A value in the type of its default; text is read, as it comes from a command line.

    Errors: ValueError, which begins with `what`, for a value of another type, or a number that is not finite.
    """
    if isinstance(default, bool):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if str(value).lower() not in words:
            raise ValueError(f"{what} is {value!r}: expected true or false")
        return words[str(value).lower()]
    if value is None or not isinstance(default, (int, float)):
        return value
    try:
        number = type(default)(value)
        if not math.isfinite(number) or not (isinstance(value, str) or number == value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        expected = "a whole number" if isinstance(default, int) else "a finite number"
        raise ValueError(f"{what} is {value!r}: expected {expected}") from None
    return number
