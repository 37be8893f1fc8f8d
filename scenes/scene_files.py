"""Scenes in files of the user: functions in a Python file or module, which the command line runs."""

import functools
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from pathlib import Path

from pbd.core.messages import LONGEST_MESSAGE, clipped, listed, nearest, shown
from scenes.parameters import UnknownName
from scenes.registry import REGISTRY, available, register


def name_of_scene(text):
    """The name by which `scenes.load` finds a scene. A file or module that the text names is run for it.

    Args:
        text: a name of the catalogue; or FILE.py, FILE.py:FUNCTION, MODULE:FUNCTION, where the function makes a Scene.
            Without FUNCTION it is the only function with `@scenes.register`, else the only one whose name does not
            begin with an underscore. Modules are sought in the working directory, too.

    Raises: UnknownName if there is no such file, module or function; ValueError for a file that Python cannot run;
        TypeError for a function with an argument that has no default.
    """
    if not is_own(text):
        if Path(f"{text}.py").is_file() and text not in available():
            raise UnknownName(f"no scene called {shown(text)}; did you mean {shown(f'{text}.py')}?")
        return text
    place, function = split(text)
    available()  # so that no function takes the name of a scene of the catalogue
    module, path = import_file(place) if place.endswith(".py") else import_module(place)
    build = chosen_function(text, module, function)
    name = build.__name__
    if name not in REGISTRY or not is_of(REGISTRY[name], build):
        register(build)
    REGISTRY[name].build = naming_lines(build, path)
    return name


def is_own(text):
    """Whether a text names a file or a module, not a scene of the catalogue."""
    place, function = split(text)
    return bool(function) or place.endswith(".py") or is_module(place)


def split(text):
    """The file or module that a text names, and the function, which may be empty."""
    place, colon, function = text.rpartition(":")
    return (place, function) if colon and place and function.isidentifier() else (text, "")


def is_module(text):
    """Whether a text may be the name of a module in a package: words with dots between them."""
    return "." in text and all(word.isidentifier() for word in text.split("."))


def import_file(place):
    """Run a Python file, whose folder is sought for what it imports. Returns: its module, and its path."""
    path = Path(place)
    if not path.is_file():
        near = nearest(path.name, [each.name for each in path.parent.glob("*.py")] if path.parent.is_dir() else [])
        raise UnknownName(f"{clipped(place)}: no such file{near}")
    path = path.resolve()
    name = f"scene_file_{path.stem}"
    before = sys.modules.get(name)
    if before is not None and before.__file__ == str(path):
        return before, str(path)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ValueError(with_line(error, str(path))) from error
    return module, str(path)


def import_module(place):
    """Import a module. Returns: it, and the path of its file."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(place)
    except (Exception, SystemExit) as error:
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        if absent is None or not f"{place}.".startswith(f"{absent}."):
            raise ValueError(with_line(error, file_of_module(place, error))) from error
        hint = "a name of `verletlab list`, FILE.py or MODULE:FUNCTION"
        raise UnknownName(f"no scene or module called {shown(place)}: expected {hint}") from None
    return module, module.__file__


def file_of_module(place, error):
    """The file of a module that could not be imported, as the error's traceback has it; else the module's name."""
    ending = os.path.join(*place.split(".")) + ".py"
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return next((file for file in (*files, getattr(error, "filename", None) or "") if file.endswith(ending)), place)


def chosen_function(text, module, function):
    """The function that makes the scene. Args: text: for messages; module; function: its name, or empty."""
    defined = {
        name: each for name, each in vars(module).items()
        if inspect.isfunction(each) and each.__module__ == module.__name__ and not name.startswith("_")
    }  # fmt: skip
    if function:
        if function not in defined:
            among = f" (it has {listed(defined, 60)})" if defined else ""
            raise UnknownName(f"{clipped(text, 60)}: no function {shown(function)}{nearest(function, defined)}{among}")
        return defined[function]
    registered = [each for name, each in defined.items() if name in REGISTRY and is_of(REGISTRY[name], each)]
    found = registered or list(defined.values())
    if len(found) != 1:
        names = [f"{clipped(text, 60)}:{each.__name__}" for each in found]
        what = "several functions" if found else "no function"
        raise UnknownName(f"{clipped(text, 60)} has {what}: expected {listed(names) or 'one that returns a Scene'}")
    return found[0]


def is_of(entry, build):
    """Whether a registered scene is made by a function."""
    return inspect.unwrap(entry.build) is build


def naming_lines(build, path):
    """A function whose errors name the line of its file. Args: build: the function; path: of its file."""

    @functools.wraps(build)
    def made(**parameters):
        try:
            return build(**parameters)
        except (Exception, SystemExit) as error:
            raise ValueError(with_line(error, path)) from error

    return made


def with_line(error, path):
    """The message of an error with the last line of a file that was running, and the error's name."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        line = frame.lineno if frame.filename == path else line
    where = f"{os.path.basename(path)}, line {line}" if line else os.path.basename(path)
    text = error.msg if isinstance(error, SyntaxError) else error
    return clipped(f"{where}: {type(error).__name__}: {text}", LONGEST_MESSAGE)
