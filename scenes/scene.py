"""Scene: a description of particles and bodies, with what is drawn and how it runs best."""

import math
from dataclasses import dataclass, field

import pbd
import rigid
from pbd.core.messages import shown
from pbd.core.validate import finite_array, finite_number, one_of, positive, sequence
from scenes.visuals import default_visuals


@dataclass
class Scene:
    """Particles, bodies, or both, and how they are drawn. A scene does not choose how it is solved.

    Args:
        particles: a pbd.Particles, or None if there is a model.
        model: a rigid.Model, or None. Beside particles it shares their world and needs the same gravity.
        attachments: pairs (indices of particles, body): these particles keep their place on the body.
        duration: of a run [s].
        settings: {solver: dt and options with which it runs the scene well}, such as {"impulse": {"dt": 1 / 60}}.
            Arguments of `scenes.run` and flags of the command line replace them. The first solver is the default.
        visuals: what is drawn (scenes/visuals); None for everything, see scenes/visuals/default.py.
        camera: a Camera or a FollowingCamera (scenes/visuals); None for one that sees `subject`.
        subject: points (n, 3) that such a camera sees [m]; None for all that a run shows.
        ground: height of the floor that is drawn [m]; None for no floor.
        control: a function (solver, time [s]) that is called before each step. It sets motor targets with
            `solver.set_motor`, and forces with `solver.set_forces`. It must depend on its arguments only, so that a run
            can be repeated.
        unsupported: {solver: why it cannot run this scene}.
        notes: what a user should know about how the scene was made, such as a mesh that was scaled; one line each. The
            command line and the viewer show them.
        chosen: {name: value} of parameters with the default None, for which the scene chose a value.
        name, summary, parameters: set by `load`.

    Raises: TypeError and ValueError for arguments of the wrong type, and for settings of a solver that cannot run the
        scene.
    """

    particles: pbd.Particles | None = None
    model: rigid.Model | None = None
    attachments: tuple = ()
    duration: float = 5.0
    settings: dict = field(default_factory=dict)
    visuals: list | None = None
    camera: object = None
    subject: object = None
    ground: float | None = 0.0
    control: object = None
    unsupported: dict = field(default_factory=dict)
    notes: tuple = ()
    chosen: dict = field(default_factory=dict)
    name: str = ""
    summary: str = ""
    parameters: dict = field(default_factory=dict)

    def __post_init__(self):
        for name, given, kind in (("particles", self.particles, pbd.Particles), ("model", self.model, rigid.Model)):
            if not isinstance(given, (kind, type(None))):
                raise TypeError(f"{name} of a scene is {shown(given)}: expected a {kind.__name__}, or None")
        if self.particles is None and self.model is None:
            raise ValueError("an empty scene: expected particles, a model, or both")
        self.attachments = tuple(sequence("attachments", self.attachments, "pairs (indices of particles, body)"))
        self.duration = positive("duration", self.duration, math.inf)
        self.notes = tuple(sequence("notes", self.notes, "texts"))
        self.ground = None if self.ground is None else finite_number("ground", self.ground)
        self.subject = None if self.subject is None else finite_array("subject", self.subject, (None, 3))
        for name in ("settings", "unsupported", "chosen", "parameters"):
            if not isinstance(getattr(self, name), dict):
                raise TypeError(f"{name} of a scene are {shown(getattr(self, name))}: expected a dict")
        if self.model is not None:
            try:
                self.model.initial_state()
            except ValueError as error:
                raise ValueError(f"model of a scene: {error}") from None
        if self.attachments and (self.particles is None or self.model is None):
            raise ValueError("attachments without particles and a model: expected both")
        if self.control is not None and (self.model is None or not callable(self.control)):
            raise TypeError(f"control is {shown(self.control)}: expected a function (solver, time), and a model")
        for solver, settings in self.settings.items():
            one_of("solver in settings of a scene", solver, rigid.SOLVERS)
            if solver in self.reasons:
                raise ValueError(
                    f"settings of a scene for solver {solver!r}, but {self.reasons[solver]}: expected settings for "
                    f"{' or '.join(map(repr, self.solvers))}"
                )
            if not isinstance(settings, dict):
                raise TypeError(f"settings of a scene for {solver!r} are {shown(settings)}: expected a dict of options")
        if self.visuals is None:
            self.visuals = default_visuals(self.particles, self.model)

    def __repr__(self):
        count = [] if self.particles is None else [f"{len(self.particles)} particles"]
        count += [] if self.model is None else [f"{len(self.model.bodies)} bodies", f"{len(self.model.joints)} joints"]
        return (
            f"Scene {self.name!r}: {', '.join(count)}, {self.duration:g} s\n"
            f"    solver {self.solver!r}, settings {self.settings.get(self.solver, {})}"
        )

    @property
    def reasons(self):
        """{solver: why it cannot run the scene}, for all solvers that cannot."""
        found = {}
        if self.particles is not None:
            bodies_only = "it moves bodies only, and the scene has particles, which only 'verlet' moves"
            found = {solver: bodies_only for solver in rigid.SOLVERS if solver != "verlet"}
        return {**found, **self.unsupported}

    @property
    def solvers(self):
        """Names of the solvers that can run the scene."""
        return tuple(solver for solver in rigid.SOLVERS if solver not in self.reasons)

    @property
    def solver(self):
        """Name of the default solver: the first that has settings, or else the first that can run the scene."""
        return next(iter(self.settings), self.solvers[0])

    @property
    def passive(self):
        """Whether nothing adds energy: no wind, no motor, no control, nothing that follows a path."""
        if self.control is not None:
            return False
        driven = [] if self.model is None else [*(joint.motor for joint in self.model.joints),
                                                *(body.path for body in self.model.bodies)]  # fmt: skip
        if any(each is not None for each in driven):
            return False
        return self.particles is None or (self.particles.is_static() and self.particles.wind is None)
