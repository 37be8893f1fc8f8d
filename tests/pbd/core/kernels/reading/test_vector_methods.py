"""Products of vectors that are made in Python have the bits of Taichi's own, which do the rest."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import Launch, Real, Typed, allocate, count, make_kernel, read, settings
from pbd.core.kernels.quick.reading import quickly, vector_methods


class Numbers(NamedTuple):
    """Vectors of two precisions, the results, and the function to test."""

    x: Real(count.numbers)
    single: Typed(ti.f32, count.numbers)
    results: Real(count.numbers)
    function: Any


@ti.func
def run(s: ti.template()):
    """Write what a function returns into the first results."""
    results = s.function(s)
    for k in ti.static(range(len(results))):
        s.results[k] = results[k]


@ti.func
def products(s: ti.template()):
    """All products of two vectors, of variables and of expressions."""
    a, b = ti.Vector([s.x[0], s.x[1], s.x[2]]), ti.Vector([s.x[3], s.x[4], s.x[5]])
    c, d = a.cross(b), (a + b).cross(2.0 * a - b)
    return c[0], c[1], c[2], d[0], d[1], d[2], a.dot(b), (a - b).dot(a), a.norm(), (a + b).norm_sqr(), b.sum()


@ti.func
def of_two(s: ti.template()):
    """Products of vectors of two components, whose cross product is a number."""
    a, b = ti.Vector([s.x[0], s.x[1]]), ti.Vector([s.x[2], s.x[3]])
    return a.cross(b), a.dot(b), a.norm()


@ti.func
def with_options(s: ti.template()):
    """A norm that is not zero for a vector of zeros, and lengths after a division by them."""
    a = ti.Vector([s.x[0], s.x[1], s.x[2]])
    return (0.0 * a).norm(1e-4), a.norm(eps=1e-3), a.normalized()[1], a.normalized(1e-3)[2]


@ti.func
def in_single_precision(s: ti.template()):
    """Lengths of vectors that have another precision than `ti.init` says."""
    a = ti.Vector([s.single[0], s.single[1], s.single[2]])
    return a.norm(), a.dot(a), a.cross(ti.Vector([s.single[2], s.single[0], s.single[1]]))[0]


@ti.func
def changed_meanwhile(s: ti.template()):
    """A product is that of the vectors at its place in the text."""
    a, b = ti.Vector([s.x[0], s.x[1], s.x[2]]), ti.Vector([s.x[3], s.x[4], s.x[5]])
    before = a.dot(b)
    c = a.cross(b)
    a = 3.0 * b
    return before, c[0], c[1], c[2], a.dot(b), a.cross(b).norm()


def results_of(function):
    """What a function returns in a kernel of its own, in bits."""
    numbers = np.random.default_rng(5).normal(size=12)
    values = {"x": numbers, "single": numbers.astype(np.float32)}
    data = allocate(Numbers, values, numbers=12)
    Launch(make_kernel(run, Numbers, function=function), data)()
    return read(data.results)


@pytest.mark.parametrize("function", [products, of_two, with_options, in_single_precision, changed_meanwhile])
def test_products_have_the_bits_of_taichis(monkeypatch, function):
    found = results_of(function)
    monkeypatch.setattr(settings, "AGAIN", not settings.AGAIN)  # with the same settings the first kernel is found
    taichis = [each for each in quickly.REPLACED if each not in vector_methods.QUICK_VECTORS]
    monkeypatch.setattr(quickly, "REPLACED", taichis)
    assert found.tobytes() == results_of(function).tobytes()
    assert np.count_nonzero(found) > 2


def test_vectors_of_different_lengths_have_taichis_error():
    @ti.func
    def wrong(s: ti.template()):
        return (ti.Vector([s.x[0], s.x[1]]).dot(ti.Vector([s.x[0], s.x[1], s.x[2]])),)

    with pytest.raises(ti.TaichiCompilationError, match="unsupported operand"):
        results_of(wrong)
