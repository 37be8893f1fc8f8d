"""Settings of runs: the options of each solver, their defaults for scenes, and values given as text."""

import typing
from types import NoneType

import rigid
from pbd.core.messages import listed, nearest, shown
from pbd.options import ParticleOptions
from scenes.parameters import UnknownName, convert

# Arguments of a Run, or parts of a scene: not options of a run.
NOT_OPTIONS = ("dt", "grabs", "particles", "attachments")

# Settings of solvers for which a scene has none, see `settings_of`. The penalty solver is so stiff with these, in steps
# of 1/60 s or less, that thin cards stand, and boxes sink into the ground by a tenth of a millimetre.
DEFAULT_SETTINGS = {
    "articulated": {},
    "penalty": {
        "substeps": 64, "stiffness": 3.2e5, "damping": 200.0, "angular_stiffness": 6.4e5, "angular_damping": 200.0,
    },
}  # fmt: skip


def option_types(solver):
    """Options that a run of a solver can have: {name: type}, from its dataclass of options. Args: solver: its name."""
    hints = typing.get_type_hints(rigid.solver_class(solver).Options)
    names = [name for name in rigid.solver_class(solver).Options.defaults() if name not in NOT_OPTIONS]
    found = {}
    for name in names:
        kinds = [kind for kind in typing.get_args(hints[name]) or (hints[name],) if kind is not NoneType]
        found[name] = kinds[0]
    return found


def settings_of(scene, solver):
    """Find dt and options with which a scene runs a solver. Args: scene: a Scene; solver: its name."""
    if solver in scene.settings:
        return dict(scene.settings[solver])
    # A solver without settings gets the step of the scene's own solver.
    found = {"dt": scene.settings.get(scene.solver, {}).get("dt", 1 / 60)}
    if solver == "articulated":  # it solves the same rows as "impulse"
        given, known = scene.settings.get("impulse", {}), option_types(solver)
        found |= {name: value for name, value in given.items() if name in ("dt", *known)}
    return {**found, **DEFAULT_SETTINGS.get(solver, {})}


def checked_options(solver, options, particles_only=False):
    """Check options and convert them to their types.

    Args: solver: its name; options: {name: value or text}; particles_only: whether the scene has no bodies.

    Returns: {name: value}.

    Raises: UnknownName; ValueError for a value of the wrong type.
    """
    known = option_types(solver)
    if particles_only:
        known = {name: kind for name, kind in known.items() if name in ParticleOptions.defaults()}
    for name in options:
        if name not in known:
            hint, others = nearest(name, known), listed(known, 80)
            raise UnknownName(f"{solver!r} has no option {shown(name)}{hint} (it has {others})")
    return {name: convert(f"option {name}", value, known[name]) for name, value in options.items()}
