"""Signatures: digests of all that the code of a kernel depends on. Kernels with the same signature have the same code.

Taichi reads the source of a function, and what its names stand for: other functions, constants, classes, values of its
closure. So do signatures. Of Taichi, numpy and Python they hold the versions, and of pbd/core, which takes part in
Taichi's reading, the text of all files.

A value that could change without a trace, such as a Taichi field, has no signature, nor has a kernel that refers to it.
"""

import functools
import hashlib
import linecache
import sys
from enum import Enum
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import NamedTuple

import numpy as np
import taichi as ti
from taichi._lib import core as taichi_core
from taichi.lang import kernel_impl

# Values that their text says completely.
PLAIN = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes)

# Packages that do not change while a version of them is installed.
INSTALLED = {"taichi", "numpy", *sys.stdlib_module_names}

# What functools.cache makes of a function, and NamedTuple of a field.
CACHED, FIELD = type(functools.cache(len)), type(NamedTuple("Example", [("field", int)]).field)

# Members of a class that Python derives from others, or that nothing depends on.
DERIVED = {
    "__dict__", "__weakref__", "__doc__", "__slots__", "__dataclass_fields__", "__dataclass_params__", "_abc_impl",
}  # fmt: skip


class Unknown(Exception):
    """A value of which we cannot say what depends on it."""


def signature_of(*values):
    """A digest of values, and of all that they refer to.

    Args: values: functions, classes, modules, numbers, and tuples, lists, sets and dictionaries of them. A module here
    means all its members, while a module that a function names means those that the function names. A function with
    an attribute `made_of` stands for that.

    Returns: 64 hexadecimal digits; None if the values refer to something unknown.
    """
    description = Description()
    try:
        for value in values:
            description.add(value)
    except (Unknown, RecursionError):
        return None
    return hashlib.sha256("\n".join(description.words).encode()).hexdigest()


@functools.cache
def text_of_core():
    """A digest of pbd/core, and of the versions of Taichi, numpy and Python."""
    digest = hashlib.sha256(repr((ti.__version__, np.__version__, sys.version)).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Description:
    """Values in words. Attributes: words: list of text; met: {id: (index, value)} of values that these describe."""

    def __init__(self):
        self.words, self.met = [text_of_core()], {}

    def add_words(self, *words):
        """Add words."""
        self.words += map(str, words)

    def add(self, value):
        """Add a value. Raises: Unknown."""
        kind = type(value)
        if kind in PLAIN:
            self.words.append(repr(value))
        elif kind in (tuple, list):
            self.add_words(kind.__name__, len(value))
            for each in value:
                self.add(each)
        elif kind in (dict, set, frozenset):
            self.add_words(kind.__name__, len(value))
            for each in value.items() if kind is dict else sorted(value, key=repr):
                self.add(each)
        elif id(value) in self.met:
            self.add_words("met", self.met[id(value)][0])
        else:
            self.met[id(value)] = len(self.met), value  # the value is kept, so that its id stays its own
            self.add_new(value)

    def add_new(self, value):
        """Add a value that this does not hold yet."""
        if isinstance(value, ModuleType):
            self.add_module(value, vars(value))
        elif isinstance(value, FunctionType):
            self.add_function(value.func.func if is_taichi_function(value) else value)
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, (MethodType, staticmethod, classmethod)):
            self.add((value.__func__, getattr(value, "__self__", None)))
        elif isinstance(value, property):
            self.add((value.fget, value.fset))
        elif isinstance(value, functools.cached_property):
            self.add(value.func)
        elif isinstance(value, functools.partial):
            self.add((value.func, value.args, value.keywords))
        elif isinstance(value, CACHED):
            self.add(value.__wrapped__)
        elif isinstance(value, BuiltinFunctionType):
            self.add_words("builtin", value.__module__, value.__qualname__)
        elif isinstance(value, taichi_core.DataType):
            self.add_words("type", value.to_string())
        elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            self.add_words("array", value.dtype, value.shape, value.tobytes().hex())
        elif isinstance(value, Enum):
            self.add((str(value), value.value))
        elif isinstance(value, FIELD) or type(value).__module__ in ("typing", "types"):
            self.add_words("constant", value)
        else:
            self.add_instance(value)

    def add_module(self, module, members):
        """Add a module. Args: module; members: the part of them that counts, {name: value}."""
        self.add_words("module", module.__name__)
        if not is_installed(module.__name__):
            self.add({name: value for name, value in sorted(members.items()) if not name.startswith("__")})

    def add_function(self, function):
        """Add a function: its text, its closure, and what its names stand for."""
        code, module = function.__code__, function.__globals__.get("__name__")  # not of what `functools.wraps` copies
        self.add_words("function", module, code.co_name, function.__qualname__)
        if hasattr(function, "made_of"):
            self.add(function.made_of)
            return
        closure = dict(zip(code.co_freevars, map(content, function.__closure__ or ())))
        if is_installed(module):
            self.add_words(code.co_firstlineno)
            self.add(closure)
            return
        codes = nested(code)
        text = text_of(codes)
        self.add_words(len(text), *text)
        self.add((function.__annotations__, function.__defaults__, function.__kwdefaults__, vars(function)))
        names = sorted({name for code in codes for name in (*code.co_names, *code.co_freevars)})
        values = {**function.__globals__, **closure}
        for name in names:
            if name in values:
                self.add_words(name)
                value = values[name]
                if isinstance(value, ModuleType):
                    self.add_module(value, {each: vars(value)[each] for each in names if each in vars(value)})
                else:
                    self.add(value)

    def add_class(self, kind):
        """Add a class: its bases and members. Of an installed one only what is no function: pbd/core makes classes."""
        self.add_words("class", kind.__module__, kind.__qualname__)
        if is_installed(kind.__module__) and not is_core(kind.__module__):
            return
        self.add(kind.__bases__)
        for name, member in sorted(vars(kind).items()):
            if name not in DERIVED and not (is_core(kind.__module__) and callable(member)):
                self.add_words(name)
                self.add(member)

    def add_instance(self, value):
        """Add an instance: its class and attributes. Raises: Unknown if it has other contents, too."""
        kind = type(value)
        if isinstance(value, tuple):
            self.add((kind, tuple(value)))
        elif isinstance(value, (int, float, str, bytes, list, dict, set, frozenset, np.ndarray)):
            raise Unknown(kind)
        elif hasattr(value, "__dict__") and (not is_installed(kind.__module__) or is_constant(kind.__module__)):
            self.add((kind, vars(value)))
        else:
            raise Unknown(kind)


def is_taichi_function(function):
    """Whether a function is what Taichi's decorator makes of one."""
    return getattr(function, "_is_taichi_function", False) and function.__code__.co_filename == kernel_impl.__file__


def is_installed(module):
    """Whether what a module has does not change while its version is installed. Args: module: its name, or None."""
    return module is None or module.split(".")[0] in INSTALLED or is_core(module)


def is_core(module):
    """Whether a module is of pbd/core."""
    return f"{module}.".startswith("pbd.core.")


def is_constant(module):
    """Whether instances of a module's classes are constants with their attributes: our own, and Taichi's types."""
    return is_core(module) or module.startswith(("taichi.types", "taichi.lang.matrix", "taichi.lang.struct"))


def content(cell):
    """What a variable of a closure stands for. Raises: Unknown if it has no value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        raise Unknown(cell) from None


def nested(code):
    """A code object, and those of the functions and comprehensions in it."""
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += nested(constant)
    return found


def text_of(codes):
    """Lines of a function's source. Args: codes: see `nested`. Without a source, in a shell, the codes themselves."""
    lines = linecache.getlines(codes[0].co_filename)
    if not lines:
        return [(code.co_code.hex(), code.co_consts, code.co_names) for code in codes]
    last = max(line for code in codes for _, _, line in code.co_lines() if line)
    return lines[codes[0].co_firstlineno - 1 : last]
