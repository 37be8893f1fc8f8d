"""Scenes: a description, what it looks like, and the registry in which a person finds them by name."""

from dataclasses import dataclass, field

import pbd
import rigid
from pbd.core.validate import one_of
from scenes.visuals import default_visuals


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
        visuals: what is drawn (scenes/visuals); None for all its triangles, sticks, particles, colliders and bodies.
        camera: a scenes.visuals Camera, or a FollowingCamera; None for one that sees everything at the start.
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
            self.visuals = default_visuals(self.particles, self.model)

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
        if self.model is not None and any(joint.motor for joint in self.model.joints):
            return False
        return self.particles is None or (self.particles.still and self.particles.wind is None)
