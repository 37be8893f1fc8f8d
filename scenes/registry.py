"""The registry of scenes, by name."""

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import typing
from dataclasses import dataclass, field

from pbd.core.messages import LONGEST_MESSAGE, clipped, listed, nearest, shown
from pbd.core.validate import boolean, positive, whole
from scenes.parameters import UnknownName, convert
from scenes.scene import Scene

MOST_PARTS = 10_000  # that a parameter of a scene may ask for: more would take hours, or gigabytes


@dataclass
class Entry:
    """A registered scene: its name, the function that makes it, a summary, and its parameters with their defaults.

    `choices` has the texts that a parameter with the annotation Literal can be: {name: texts}. `numbers` has the type
    of each parameter with the default None that can be a number, by its annotation: {name: float}. `register` describes
    the others.
    """

    name: str
    build: object
    summary: str
    parameters: dict
    choices: dict = field(default_factory=dict)
    numbers: dict = field(default_factory=dict)
    small: dict = field(default_factory=dict)
    slow: bool = False
    picture: float = 1.0
    picture_parameters: dict = field(default_factory=dict)

    def kind_of(self, name):
        """Type of the values of a parameter. Args: name."""
        return self.numbers.get(name, type(self.parameters[name]))

    def choices_of(self, name, texts=()):
        """Texts among which a stranger may choose the value of a parameter; None for a number.

        A text without known choices may name a file. So only the default is safe, and what the user gave.

        Args: name: of the parameter; texts: that the user gave for parameters of any scene.
        """
        default = self.parameters[name]
        if isinstance(default, (bool, int, float)) or name in self.numbers:
            return None
        return self.choices.get(name) or tuple(dict.fromkeys(["" if default is None else str(default), *sorted(texts)]))

    def converted(self, parameters):
        """Convert values of parameters to their types. Args: parameters: {name: value or text}. Returns: a dict.

        Raises: UnknownName for an unknown parameter; ValueError for a value of the wrong type.
        """
        given = {}
        for key, value in parameters.items():
            if key not in self.parameters:
                hint, known = nearest(key, self.parameters), listed(self.parameters, 60) or "none"
                raise UnknownName(f"scene {self.name} has no parameter {shown(key)}{hint} (it has {known})")
            what, kind = f"parameter {key} of {self.name}", self.kind_of(key)
            given[key] = convert(what, value, kind)
            if kind is int and key != "seed":
                whole(what, given[key], least=-MOST_PARTS, most=MOST_PARTS)
        return given

    @property
    def picture_command(self):
        """The command that makes the scene's picture in the gallery."""
        words = ["verletlab render", self.name, f"--out {self.name}.png --size 640x360"]
        words.append(f"--duration {self.picture:g} --no-labels")
        for key, value in self.picture_parameters.items():
            words.append(f"--param {key}={f'{value:g}' if isinstance(value, float) else value}")
        return " ".join(words)


CATALOGUE = "scenes.catalogue"  # has a module for each scene, of the scene's name
REGISTRY = {}


def register(build=None, *, small=None, slow=False, picture=1.0, picture_parameters=None):
    """Register a function that makes a Scene, under the name of the function. Use it as a decorator.

    The first line of the docstring is the summary. The keyword arguments are the parameters of the scene, and their
    defaults give the types. With the default None and the annotation `float | None` a parameter is a number that the
    scene chooses unless it is given. The viewer offers the words of a `typing.Literal` as a menu; of another text,
    which may name a file, only the default and what the command line says.

    The other arguments are for tests and the gallery. A scene of the catalogue gives them, if it needs any:
    `@register(small={"count": 4}, slow=True)`.

    Args:
        build: the function.
        small: parameters of a version with few parts, which tests run; None for the defaults.
        slow: whether only `make test-all` runs the scene, because its kernels compile long and no other test has them.
        picture: time in the run of the picture in the gallery [s].
        picture_parameters: parameters of that run; None for the defaults.

    Returns: the function; without `build` a decorator.

    Raises: TypeError for a parameter without a default, an annotation with an unknown name, or an argument of the wrong
    type; UnknownName for a parameter that the scene does not have; ValueError for a wrong value, or if a function of
    another file has the name.
    """
    if build is None:
        return functools.partial(
            register, small=small, slow=slow, picture=picture, picture_parameters=picture_parameters
        )
    before = REGISTRY.get(build.__name__)
    if before is not None and file_of(before.build) != file_of(build):
        raise ValueError(f"there is a scene {build.__name__} already: expected a function of another name")
    arguments = inspect.signature(build).parameters
    for name, given in arguments.items():
        if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
            raise TypeError(f"parameter {given} of scene {build.__name__}: expected keyword arguments with defaults")
        if given.default is given.empty:
            raise TypeError(f"parameter {name} of scene {build.__name__}: expected a default, such as {name}=1")
    parameters = {name: given.default for name, given in arguments.items()}
    summary = (inspect.getdoc(build) or "").split("\n")[0]
    try:
        hints = {name: hint for name, hint in typing.get_type_hints(build).items() if name in parameters}
    except NameError as error:
        raise TypeError(f"annotations of scene {build.__name__}: {error}") from error
    choices = {name: typing.get_args(hint) for name, hint in hints.items() if typing.get_origin(hint) is typing.Literal}
    numbers = {name: number_of(hints[name]) for name in hints if parameters[name] is None and number_of(hints[name])}
    entry = Entry(build.__name__, build, summary, parameters, choices, numbers)
    for name, given in (("small", small), ("picture_parameters", picture_parameters)):
        if not isinstance(given, (dict, type(None))):
            raise TypeError(f"{name} of scene {entry.name} is {shown(given)}: expected a dict of parameters, or None")
        setattr(entry, name, entry.converted(given or {}))
    entry.slow, entry.picture = boolean("slow", slow), positive("picture", picture)
    REGISTRY[entry.name] = entry
    return build


def number_of(hint):
    """The type of number in an annotation such as `float | None`; None if there is no such type."""
    kinds = set(typing.get_args(hint)) - {type(None)}
    return kinds.pop() if len(kinds) == 1 and kinds <= {int, float} else None


def file_of(function):
    """The file that defines a function."""
    return inspect.unwrap(function).__code__.co_filename


def available():
    """All scenes, with those of scenes/catalogue: {name: Entry}."""
    import_catalogue()
    return dict(sorted(REGISTRY.items()))


@functools.cache
def import_catalogue():
    """Import all modules of scenes/catalogue, which register their scenes."""
    for module in pkgutil.iter_modules(importlib.import_module(CATALOGUE).__path__):
        importlib.import_module(f"{CATALOGUE}.{module.name}")


def find(name):
    """Find the Entry of a scene. Args: name. Raises: UnknownName."""
    is_word = isinstance(name, str) and name.isidentifier()
    if is_word and importlib.util.find_spec(f"{CATALOGUE}.{name}"):
        importlib.import_module(f"{CATALOGUE}.{name}")  # without the others, which takes 25 ms less
    scenes = REGISTRY if is_word and name in REGISTRY else available()
    if not isinstance(name, str) or name not in scenes:
        raise UnknownName(f"no scene called {shown(name)}{nearest(name, scenes)} (see `verletlab list`)")
    return scenes[name]


def load(name, **parameters):
    """Make a scene of the catalogue.

    Args: name: of the scene; parameters: of the scene, as values or text.

    Returns: a Scene.

    Raises: UnknownName for an unknown scene or parameter; ValueError for a value of the wrong type, or one with which
        the scene cannot be made; OSError for a file that cannot be read.
    """
    entry = find(name)
    given = entry.converted(parameters)
    try:
        scene = entry.build(**given)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        if not given:  # an error of the scene, not of its parameters
            raise
        values = listed([f"{key}={clipped(value, 40)}" for key, value in parameters.items()], 60)
        raise ValueError(clipped(f"scene {name} with {values}: {error}", LONGEST_MESSAGE)) from error
    if not isinstance(scene, Scene):
        raise TypeError(f"scene {name} is {shown(scene)}: expected a scenes.Scene, which its function returns")
    scene.name, scene.summary, scene.parameters = name, entry.summary, {**entry.parameters, **given}
    return scene
