"""The registry in which a scene is found by its name."""

import importlib
import inspect
import pkgutil
from dataclasses import dataclass

from pbd.core.validate import nearest
from scenes.parameters import UnknownName, convert


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
    package = importlib.import_module("scenes.catalogue")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(REGISTRY.items()))


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
