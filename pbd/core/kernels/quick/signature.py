"""Signatures: digests of what the code of a kernel depends on, so that kernels with one signature have the same code.

Taichi reads the source of a function, and what its names stand for: other functions, constants, classes, values of its
closure. So do signatures. Of Taichi, numpy and Python they hold the versions, and of pbd/core, which takes part in
Taichi's reading, the text of all files. Members of these that a program replaces do not count.

Only what is known to be described completely has a signature. A kernel that refers to a Taichi field, to a file, to the
clock, or to a function that imports a module by itself has none.
"""

import abc
import dis
import functools
import hashlib
import linecache
import sys
import sysconfig
import types
import typing
from enum import Enum
from pathlib import Path

import numpy as np
import taichi as ti
from taichi._lib import core as taichi_core
from taichi.lang import kernel_impl

# Values that their text says completely.
PLAIN = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes, range)

# Modules of Python whose functions have the same result at each call. pbd/core, Taichi and numpy come to them.
CONSTANT = {
    "abc", "builtins", "collections", "dataclasses", "enum", "functools", "itertools", "math", "numbers", "operator",
    "types", "typing",
}  # fmt: skip

# Names by which a function finds what its code does not name, or what may change from call to call.
HIDDEN = {
    "__dict__", "__import__", "eval", "exec", "fromfile", "globals", "input", "load", "loadtxt", "locals", "memmap",
    "open", "random", "vars",
}  # fmt: skip
IMPORT = dis.opmap["IMPORT_NAME"]

# What functools.cache makes of a function, and NamedTuple of a field.
CACHED, FIELD = type(functools.cache(len)), type(typing.NamedTuple("Example", [("field", int)]).field)

# Members of a class that Python derives from others. Classes with slots are unknown by their members.
DERIVED = {"__dict__", "__weakref__", "__doc__", "__dataclass_fields__", "__dataclass_params__", "_abc_impl"}

# Members that `functools.wraps` copies from one of Taichi's functions or ours to the function that calls it.
COPIED = {"__wrapped__", "_is_real_function", "_is_taichi_function", "_is_wrapped_kernel", "func", "made_of"}

# Bases of a class that put nothing into its instances.
EMPTY_BASES = (object, abc.ABC, typing.Generic, typing.Protocol)

CORE = Path(__file__).resolve().parents[2]
FOLDERS = (CORE, *(Path(each.__file__).resolve().parent for each in (ti, np)))
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()


class Unknown(Exception):
    """A value of which we cannot say what depends on it."""


def signature_of(*values):
    """A digest of values, and of all that they refer to.

    Args:
        values: functions, classes, modules, numbers, and tuples, lists, sets and dictionaries of them. A module here
            means all its members, while a module that a function names means those that the function names.

    Returns:
        64 hexadecimal digits; None if the values refer to something unknown.
    """
    description = Description()
    try:
        for value in values:
            description.add(value)
    except Exception:  # of a user's value, too: whatever cannot be described is unknown
        return None
    return description.digest()


@functools.cache
def digest_of_core():
    """A digest of pbd/core, and of the versions of Taichi, numpy and Python."""
    digest = hashlib.sha256(repr((ti.__version__, np.__version__, sys.version)).encode())
    for path in sorted(CORE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Description:
    """Values in words. Attributes: words: list of text; met: {id: (index, value)} of values that these describe."""

    def __init__(self):
        self.words, self.met = [digest_of_core()], {}

    def digest(self):
        """A digest of all words."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()

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
        elif kind is dict:
            self.add_words("dict", len(value))
            for each in value.items():
                self.add(each)
        elif kind in (set, frozenset):  # in an order that does not depend on addresses
            self.add_words(kind.__name__, *sorted(map(digest_of, value)))
        elif id(value) in self.met:
            self.add_words("met", self.met[id(value)][0])
        else:
            self.met[id(value)] = len(self.met), value  # the value is kept, so that its id stays its own
            self.add_new(value)

    def add_new(self, value):
        """Add a value that this does not hold yet. Types are exact, as subclasses may have other contents."""
        kind = type(value)
        if kind is types.ModuleType:
            self.add_module(value, {k: v for k, v in vars(value).items() if not k.startswith("__")})
        elif kind is types.FunctionType:
            self.add_function(value.func.func if is_taichi_function(value) else value)
        elif kind is types.CodeType:
            self.add_code(value)
        elif isinstance(value, type):
            self.add_class(value)
        elif kind is types.MethodType:
            self.add((value.__func__, value.__self__))
        elif kind in (staticmethod, classmethod):
            self.add(value.__func__)
        elif kind is property:
            self.add((value.fget, value.fset))
        elif kind is functools.cached_property:
            self.add(value.func)
        elif kind is functools.partial:
            self.add((value.func, value.args, value.keywords))
        elif kind is CACHED:
            self.add(value.__wrapped__)
        elif kind is types.BuiltinFunctionType:
            self.add_builtin(value)
        elif kind is taichi_core.DataType:
            self.add_words("type", value.to_string())
        elif (kind is np.ndarray or isinstance(value, np.generic)) and not value.dtype.hasobject:
            contents = hashlib.sha256(np.ascontiguousarray(value)).hexdigest()
            self.add_words("array", value.dtype, value.shape, contents)
        elif isinstance(value, Enum):
            self.add((kind, value.name, value.value))
        elif kind in (types.GenericAlias, types.UnionType):
            self.add((typing.get_origin(value), typing.get_args(value)))
        elif kind in (FIELD, np.ufunc) or (kind.__module__ == "typing" and not hasattr(value, "__metadata__")):
            self.add_words("constant", value)
        else:
            self.add_instance(value)

    def add_builtin(self, function):
        """Add a function or a method of C."""
        owner = function.__self__
        self.add_words("builtin", function.__module__, function.__qualname__)
        if not isinstance(owner, (types.ModuleType, type(None))):
            self.add(owner)
        elif function.__name__ in HIDDEN or not is_constant(function.__module__ or ""):
            raise Unknown(function)

    def add_module(self, module, members):
        """Add a module. Args: module; members: the part of them that counts, {name: value}."""
        self.add_words("module", module.__name__)
        if not is_installed_module(module.__name__):
            if "__getattr__" in vars(module):
                raise Unknown(module)
            self.add(dict(sorted(members.items())))
        elif not is_constant(module.__name__):
            raise Unknown(module)

    def add_function(self, function):
        """Add a function: its text and code, its closure, and what its names stand for."""
        code, module = function.__code__, function.__globals__.get("__name__", "")
        self.add_words("function", module, code.co_name)
        closure = dict(zip(code.co_freevars, map(content, function.__closure__ or ())))
        if is_installed_file(code.co_filename):
            if hasattr(function, "made_of"):  # a function of `compiled_once`, whose closure changes
                self.add(function.made_of)
            elif is_constant(module):
                self.add_words(code.co_firstlineno)
                self.add(closure)
            else:
                raise Unknown(function)
            return
        # Taichi reads the text, which may be of a file that has changed since; what helpers do is in the code.
        members = {name: value for name, value in vars(function).items() if name not in COPIED}
        self.add((function.__annotations__, function.__defaults__, function.__kwdefaults__, members))
        codes = nested(code)
        self.words += lines_of(codes)
        self.add_code(code)
        names = sorted({name for each in codes for name in (*each.co_names, *each.co_freevars)})
        values = {**function.__globals__, **closure}
        named = {name: values[name] for name in names if name in values}
        for name, value in named.items():
            self.add_words(name)
            if type(value) is types.ModuleType:
                self.add_module(value, {each: vars(value)[each] for each in names if each in vars(value)})
            else:
                self.add(value)
        has_modules = any(type(each) is types.ModuleType for each in named.values())
        if HIDDEN.intersection(names) or ("getattr" in names and has_modules):
            raise Unknown(function)

    def add_code(self, code):
        """Add the code of a function, and of those in it."""
        if IMPORT in code.co_code[::2]:
            raise Unknown(code)
        self.add_words(code.co_name, code.co_code.hex())
        self.add((code.co_names, code.co_varnames, code.co_freevars, code.co_consts))

    def add_class(self, kind):
        """Add a class: its bases and members."""
        self.add_words("class", kind.__module__, kind.__qualname__)
        module = sys.modules.get(kind.__module__)
        if kind is type(None):
            return
        if is_installed_module(kind.__module__) and getattr(module, kind.__name__, None) is kind:
            if not is_constant(kind.__module__):
                raise Unknown(kind)
            return
        self.add((type(kind), kind.__bases__))
        for name, member in sorted(vars(kind).items()):
            if name not in DERIVED:
                self.add_words(name)
                self.add(member)

    def add_instance(self, value):
        """Add an instance: its class and attributes. Raises: Unknown if it has other contents, too."""
        kind = type(value)
        bases = [each for each in kind.__mro__ if each not in EMPTY_BASES]
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.add((kind, tuple(value)))
        elif is_type_of_taichi(kind) or (hasattr(value, "__dict__") and all(map(has_no_other_contents, bases))):
            self.add((kind, vars(value)))
        else:
            raise Unknown(kind)


def digest_of(value):
    """A digest of one value. Raises: Unknown."""
    description = Description()
    description.add(value)
    return description.digest()


def is_taichi_function(function):
    """Whether a function is what Taichi's decorator makes of one."""
    return getattr(function, "_is_taichi_function", False) and function.__code__.co_filename == kernel_impl.__file__


def is_type_of_taichi(kind):
    """Whether instances of a class are types for Taichi's vectors, structures or arguments, or its templates."""
    names = "MatrixType", "NdarrayType", "StructType", "Template", "VectorType"
    return kind.__module__.startswith(("taichi.types", "taichi.lang")) and kind.__name__ in names


def has_no_other_contents(kind):
    """Whether instances of a class have nothing but their attributes: it is written in Python, here or by the user."""
    module = kind.__module__
    return is_core(module) or not (is_installed_module(module) or "__slots__" in vars(kind))


def is_constant(module):
    """Whether an installed module gives the same at each call. Args: module: its name."""
    if module.startswith("numpy.random"):
        return False
    return is_core(module) or module in CONSTANT or module.split(".")[0] in ("taichi", "numpy")


def is_core(module):
    """Whether a module is of pbd/core. Args: module: its name."""
    return f"{module}.".startswith("pbd.core.")


@functools.cache
def is_installed_file(file):
    """Whether a file is of Python, Taichi, numpy or pbd/core, which signatures hold as a whole. Args: its path."""
    if file.startswith("<"):
        return file.startswith("<frozen ")
    path = Path(file).resolve()
    is_python = path.is_relative_to(STANDARD_LIBRARY) and "site-packages" not in path.parts
    return is_python or any(map(path.is_relative_to, FOLDERS))


def is_installed_module(name):
    """Whether a module is of those that signatures hold as a whole. Args: name."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in sys.builtin_module_names if file is None else is_installed_file(file)


def content(cell):
    """The value of a variable of a closure. Raises: Unknown if it has no value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        raise Unknown(cell) from None


def nested(code):
    """A code object, and those of the functions and comprehensions in it."""
    found = [code]
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            found += nested(constant)
    return found


def lines_of(codes):
    """Lines of a function's source, as far as its code knows them: the last constants may be cut off.

    Args: codes: see `nested`. Returns: how many lines, and these.
    """
    lines, first = linecache.getlines(codes[0].co_filename), codes[0].co_firstlineno
    last = max((line for code in codes for _, _, line in code.co_lines() if line), default=first)
    return [str(last - first), *lines[first - 1 : last]]
