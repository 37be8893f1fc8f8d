"""Signatures of kernels: what they depend on, and what has none."""

import collections
import functools
import importlib.util
import math
import os
import random
import subprocess
import sys
import time
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import Columns, in_all_lanes
from pbd.core.kernels.lanes.statements import read_in_lanes
from pbd.core.kernels.quick import signature
from pbd.core.kernels.quick.signature import is_installed_file, signature_of
from rigid.solvers.impulse.coloured import step

SOURCE = """
import taichi as ti
import math
from pbd.core.kernels import Columns

ROW = Columns(error=1, jacobian=3)
FACTOR = 2.0

class Kind:
    name = "stick"

    def stiffness(self):
        return 3.0

@ti.func
def inner(x):
    return FACTOR * x + Kind().stiffness() + ROW.jacobian

@ti.func
def body(s: ti.template(), steps):
    for _ in range(1):
        s.mass[0] = s.mass[0] + inner(1.0) * steps
"""


class Side(Enum):
    """A side."""

    LEFT = 1


def module_of(tmp_path, text, name="written"):
    """Import a module. Args: text: its source; name: of the module."""
    file = tmp_path / f"{name}{len(list(tmp_path.iterdir()))}.py"
    file.write_text(text)
    specification = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_same_source_has_the_same_signature(tmp_path):
    first, again = (module_of(tmp_path, SOURCE).body for _ in range(2))
    assert signature_of(first) == signature_of(again)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s.mass[0] +", "s.mass[0] -"),  # the function itself
        ("FACTOR * x", "FACTOR - x"),  # a function that it calls
        ("FACTOR = 2.0", "FACTOR = 2.5"),  # a constant of that
        ("error=1", "error=2"),  # an attribute of an instance
        ("return 3.0", "return 4.0"),  # a method
        ("class Kind:", "class Kind(str):"),
        ("steps):\n    for", "steps: float):\n    for"),
    ],
)
def test_what_a_kernel_refers_to_changes_its_signature(tmp_path, old, new):
    changed = SOURCE.replace(old, new)
    assert changed != SOURCE
    assert signature_of(module_of(tmp_path, SOURCE).body) != signature_of(module_of(tmp_path, changed).body)


def test_what_a_kernel_does_not_refer_to_leaves_its_signature(tmp_path):
    more = SOURCE + "\n\nUNUSED = 1.0\n\ndef unused():\n    return UNUSED\n"
    assert signature_of(module_of(tmp_path, SOURCE).body) == signature_of(module_of(tmp_path, more).body)


def test_a_replaced_function_changes_the_signature(tmp_path, monkeypatch):
    module = module_of(tmp_path, SOURCE)
    before = signature_of(module.body)
    monkeypatch.setattr(module, "FACTOR", 2.5)
    assert signature_of(module.body) != before


def closing_over(value):
    """A function with a value in its closure."""

    @ti.func
    def scale(x):
        return value * x

    return scale


def test_closures_and_wrappers_count():
    assert signature_of(closing_over(1.0)) == signature_of(closing_over(1.0))
    made = closing_over(1.0)
    different = [
        made, closing_over(2.0), in_all_lanes(made), read_in_lanes(made, 4), read_in_lanes(made, 8), closing_over(made),
        functools.partial(made, 1.0), math.sqrt, math,
    ]  # fmt: skip
    assert len({signature_of(each) for each in different}) == len(different)


class Named(str):
    """A name: text, and attributes."""


def test_values_that_may_change_have_no_signature():
    fields = ti.field(float, shape=2), ti.Vector.field(3, float, shape=2), ti.ndarray(float, 2)
    for made in (*fields, open, object(), os, time, time.time, random.random, np.random):
        assert signature_of(made) is None
        assert signature_of(closing_over(made)) is None
    for made in (Named("a"), collections.defaultdict(int), np.array([print])):
        assert signature_of(made) is None
    nested = ()
    for _ in range(10_000):
        nested = (nested,)
    assert signature_of(nested) is None
    assert signature_of((1, {"a": {1, 2}}, np.zeros(2), ti.f32, Columns(a=1), int | None, Side.LEFT)) is not None


GAIN = """
import functools
from enum import Enum
from pbd.core.kernels import Typed
from pbd.core.kernels import compiled_once
import taichi as ti

class Side(Enum):
    LEFT = 1

    @property
    def sign(self):
        return 1.0

SIDE = Side.LEFT
TABLE = {"gain": 1.0}
GET = TABLE.get

def of_lines():
    return ti.Vector([
        0.0,
        1.0,
    ])

SOFT, STIFF = [lambda: 1.0, lambda: 2.0]
made = {}
exec("def gain(): return 1.0", made)

def times(factor):
    def decorate(function):
        @functools.wraps(function)
        def call(s, steps):
            function(s, steps * factor)
        return call
    return decorate

@times(2)
@compiled_once("mass")
def weigh(s: ti.template(), steps):
    s.mass[0] = s.mass[0] + steps

ANY = Typed(ti.types.vector(2, ti.f64), 4)
"""


@pytest.mark.parametrize(
    ("member", "old", "new"),
    [
        (lambda m: m.of_lines, "        1.0,", "        2.0,"),
        (lambda m: m.SOFT, "lambda: 1.0", "lambda: 3.0"),
        (lambda m: m.made["gain"], "return 1.0\"", "return 2.0\""),
        (lambda m: m.weigh, "@times(2)", "@times(3)"),
        (lambda m: m.SIDE, "return 1.0\n\nSIDE", "return 2.0\n\nSIDE"),
        (lambda m: m.SIDE, "LEFT = 1", "LEFT = 2"),
        (lambda m: m.GET, '"gain": 1.0', '"gain": 2.0'),
        (lambda m: m.ANY, "vector(2", "vector(3"),
        (lambda m: m.ANY, "2, ti.f64", "2, ti.f32"),
    ],
)
def test_what_hides_changes_the_signature_too(tmp_path, member, old, new):
    assert GAIN.count(old) == 1
    first, again, changed = (member(module_of(tmp_path, text)) for text in (GAIN, GAIN, GAIN.replace(old, new)))
    assert signature_of(first) is not None
    assert signature_of(first) == signature_of(again) != signature_of(changed)


@pytest.mark.parametrize("name", ["statistics", "numpy_of_mine", "taichi_of_mine"])
def test_modules_with_names_like_those_of_python_and_taichi_are_read(tmp_path, name):
    beside = tmp_path / name  # a folder beside that of Taichi has the same beginning, too
    beside.mkdir()
    first, changed = (module_of(beside, f"def gain():\n    return {k}.0\n", name).gain for k in (1, 2))
    assert signature_of(first) != signature_of(changed)
    folder = Path(ti.__file__).parent
    assert is_installed_file(str(folder / "lang" / "impl.py"))
    assert not is_installed_file(str(folder.with_name(name) / "module.py"))
    assert not is_installed_file("<string>")


def test_functions_on_one_line_differ(tmp_path):
    module = module_of(tmp_path, GAIN)
    assert signature_of(module.SOFT) != signature_of(module.STIFF)


@pytest.mark.parametrize(
    "text",
    [
        "def gain():\n    from math import pi\n    return pi",
        "import math\ndef gain():\n    return getattr(math, 'pi')",
        "def gain():\n    return globals()['__name__']",
        "import os\ndef gain():\n    return os.environ.get('GAIN')",
        "def gain():\n    return float(open('gain.txt').read())",
        "import types\nOBJECT = types.SimpleNamespace(a=1)\ndef gain():\n    return OBJECT.a",
        "class Scaled(float):\n    pass\nONE = Scaled(1)\ndef gain():\n    return ONE",
        "class Lazy:\n    __slots__ = ()\nLAZY = Lazy()\ndef gain():\n    return LAZY",
    ],
)
def test_what_a_function_finds_by_itself_has_no_signature(tmp_path, text):
    assert signature_of(module_of(tmp_path, text).gain) is None


def test_values_that_raise_have_no_signature():
    class Broken:
        """A proxy without what it stands for."""

        @property
        def __class__(self):
            raise RuntimeError

    assert signature_of(Broken()) is None


@pytest.mark.slow
def test_signatures_are_the_same_in_each_process(tmp_path):
    sets = "\nNAMES = {'a', 'b', 'c'}\ndef gain(x):\n    return x in {'a', 'b'}\n"
    (tmp_path / "written.py").write_text(SOURCE + sets)
    signs = "from pbd.core.kernels.quick import signature as s; print(s.signature_of(w.body, w.NAMES, w.gain))"
    code = f"import written as w; {signs}"
    found = set()
    for seed in ("1", "2", "3"):
        paths = os.pathsep.join((str(tmp_path), str(Path(signature.__file__).parents[4])))
        settings = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
        found.add(done.stdout.split()[-1])
    assert len(found) == 1
    assert len(found.pop()) == 64


def test_a_kernel_with_functions_for_threads_has_a_signature():
    # One without is read again at each start.
    assert signature_of(step.advance_substep, step.Data) is not None
