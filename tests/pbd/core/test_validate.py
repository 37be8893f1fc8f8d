"""Checks of arguments, and the texts of their messages."""

import datetime
import fractions
import re

import numpy as np
import pytest
from calls import SURFACE_OF_CUBE as CUBE

import pbd
import pbd.build
import rigid
from pbd.core import validate
from pbd.core.messages import nearest, shown
from pbd.core.validate import one_of

SOLVERS = ("verlet", "impulse", "articulated", "penalty")


@pytest.mark.parametrize(
    ("given", "words", "expected"),
    [
        ("impulses", SOLVERS, "impulse"),
        ("verlett", SOLVERS, "verlet"),
        ("iteration", ("tolerance", "iterations"), "iterations"),
        ("split", ("warm_start", "split_impulse"), "split_impulse"),
    ],
)
def test_similar_words_get_a_hint(given, words, expected):
    assert nearest(given, words) == f"; did you mean {expected!r}?"


@pytest.mark.parametrize("given", ["bullet", "mujoco", "xpbd", "v", ""])
def test_other_words_get_no_hint(given):
    assert nearest(given, SOLVERS) == ""
    with pytest.raises(ValueError, match=r"solver is '.*': expected one of 'verlet', .*'penalty'$"):
        one_of("solver", given, SOLVERS)


# Numbers --------------------------------------------------------------------------------------------------------------

NO_NUMBERS = [
    True, np.True_, "1", b"1", 1j, np.datetime64("2026"), np.timedelta64(1), datetime.date(2026, 1, 2), np.ma.masked,
    None, [1.0], np.array([1.0]), np.array("1"),
]  # fmt: skip


@pytest.mark.parametrize("given", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused(given):
    with pytest.raises(TypeError, match=r"mass is .*: expected a number"):
        validate.positive("mass", given)


@pytest.mark.parametrize("given", [*NO_NUMBERS[:10], [1, [2, 3]]], ids=repr)
def test_arrays_of_what_is_no_number_are_refused(given):
    for array in ([given, 0.0, 0.0], (0.0, given, 0.0)):
        with pytest.raises(TypeError, match=r"point is .*: expected numbers"):
            validate.finite_vector("point", array)
    with pytest.raises(TypeError, match="expected whole numbers"):
        validate.indices("particles", [0, given], 4)
    with pytest.raises(TypeError, match="expected numbers"):
        validate.finite_vector("point", np.ma.array([0.0, 0.0, 1.0]))


REAL = [1, 1.5, np.float32(1.5), np.int8(1), np.array(1.5), fractions.Fraction(3, 2)]


@pytest.mark.parametrize("given", REAL, ids=repr)
def test_real_numbers_of_any_type_are_taken(given):
    assert validate.positive("mass", given) == float(given)
    assert (validate.finite_vector("point", [given, 0, 0]) == (float(given), 0, 0)).all()


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-300, 1.7e308, 1.0, 0.3])
def test_directions_of_any_length_are_scaled(size):
    # |v|² of 1e200 overflows, that of 1e-200 vanishes.
    assert np.abs(validate.unit_vector("axis", (size, 0, -size)) - np.array((1, 0, -1)) / np.sqrt(2)).max() < 1e-15
    assert (validate.unit_quaternion("rotation", (0, size, 0, 0)) == (0, 1, 0, 0)).all()
    assert (rigid.rotation.frame_axes((0, 0, size))[0] == (0, 0, 1)).all()


def test_scaling_changes_no_bits():
    for vector in np.random.default_rng(0).normal(size=(1000, 3)):
        assert (validate.unit_vector("axis", vector) == vector / np.linalg.norm(vector)).all()


@pytest.mark.parametrize(("given", "says"), [
    (1e51, "sphere radius is 1e+51: expected a magnitude of at most 1e+50"),
    (1e-51, "sphere radius is 1e-51: expected at least 1e-50"),
    (10**400, "sphere radius is an integer of 1329 bits: expected at most 1e+50"),
], ids=["large", "small", "integer"])  # fmt: skip
def test_numbers_whose_products_overflow_are_refused(given, says):
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        rigid.Sphere(given)


# Sizes ----------------------------------------------------------------------------------------------------------------

SIZES = {
    "cloth": lambda: pbd.build.cloth(pbd.Particles(), (0, 0, 0), (1, 0, 0), (0, 1, 0), (10**5, 10**5)),
    "hexagonal cloth": lambda: pbd.build.hexagonal_cloth(pbd.Particles(), (0, 0, 0), (1, 0, 0), (0, 1, 0), 10**5),
    "rope": lambda: pbd.build.rope(pbd.Particles(), [(0, 0, 0), (1, 0, 0)], 10**8, mass=1.0),
    "plant": lambda: pbd.build.plant(pbd.Particles(), segments=10**6, branches=10**6),
    "soft body": lambda: pbd.build.soft_body(pbd.Particles(), CUBE, 1000),
    "mesh collider": lambda: pbd.MeshCollider(CUBE, resolution=1000),
    "margin": lambda: pbd.MeshCollider(CUBE, resolution=10, margin=1e9),
    "virtual array": lambda: pbd.Particles().add_particles(np.broadcast_to(0.0, (10**9, 3))),
    "range": lambda: pbd.Particles().pin(range(10**9)),
}


@pytest.mark.parametrize("case", SIZES)
def test_sizes_that_would_take_gigabytes_are_refused_with_the_figure(case):
    with pytest.raises(ValueError, match=r"that takes [\d.e+]+ GB of memory, expected at most 4 GB") as caught:
        SIZES[case]()
    assert len(str(caught.value)) <= 200


# Words, names and functions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", " ", "\n", "two\nlines", "a\tb", "x" * 81, 3, None, b"torso", ["torso"]])
def test_names_are_one_line_of_text(name):
    with pytest.raises((TypeError, ValueError), match="name is") as caught:
        validate.one_line("name", name)
    assert len(str(caught.value).splitlines()) == 1
    assert validate.one_line("name", "Knie, links") == "Knie, links"


@pytest.mark.parametrize("flag", [1, 0, "yes", None, np.array([True, False]), []])
def test_flags_are_true_or_false(flag):
    with pytest.raises(TypeError, match=r"collide is .*: expected True or False"):
        validate.boolean("collide", flag)
    assert validate.boolean("collide", np.True_) is True


def test_functions_take_a_time():
    for wrong in (lambda: 3, lambda a, b: 3, 3, "f", None):
        with pytest.raises(TypeError, match=r"motion is .*: expected a function of time"):
            validate.function_of_time("motion", wrong)
    with pytest.raises(ValueError, match=r"motion fails at 0 s with KeyError: 'a': expected") as caught:
        validate.function_of_time("motion", lambda time: {}["a"])
    assert isinstance(caught.value.__cause__, KeyError)


LONG = ["x" * 10**5, list(range(1000)), np.zeros((9, 9)), 10**5000, "a\nb", dict.fromkeys(range(99))]


@pytest.mark.parametrize("value", LONG, ids=["text", "list", "array", "integer", "lines", "dict"])
def test_values_are_shown_in_one_short_line(value):
    assert len(shown(value)) <= 60
    assert "\n" not in shown(value)
