"""Options of LLVM: kernels become shorter, with the same bits, and others stay as they were."""

import itertools
import platform
import sys
from typing import Any, NamedTuple

import pytest
import taichi as ti
from taichi.lang import impl

from pbd.core import compilation, llvm
from pbd.core.arrays import Real, allocate, count, read
from pbd.core.compilation import CHEAP, FULL, at_level
from pbd.core.kernels import Launch, make_kernel
from pbd.core.llvm import QUICK, USUAL, addresses_in, hidden_functions, llvm_options
from pbd.core.runtime import on_cpu

# What LLVM 15 does by itself on processors of the families Zen 3 and Zen 4.
AS_ON_ZEN = (b"-unroll-runtime=true", b"-unroll-partial-threshold=4096")


NUMBER = itertools.count()


class Numbers(NamedTuple):
    """An array; and a number by which Taichi knows kernels of one text apart."""

    x: Real(count.numbers)
    kernel: Any


@ti.func
def mix(s: ti.template(), turns):
    """Change each number by the one before, in a loop whose length is not known."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        for k in range(1, turns):
            x = s.x[k - 1]
            s.x[k] = ti.sqrt(s.x[k] * s.x[k] + 0.25 * x) / (1.0 + x * x) + 0.1 * ti.abs(s.x[k] - x)


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A function that compiles `mix` anew, and returns how many instructions LLVM made of it, and what it computes."""
    config = impl.current_cfg()
    monkeypatch.chdir(tmp_path)  # where Taichi writes what LLVM makes of a kernel
    monkeypatch.setattr(config, "print_kernel_llvm_ir_optimized", True)
    monkeypatch.setattr(config, "offline_cache", False)

    def compile_anew():
        numbers = allocate(Numbers, {"x": [1.0 + 0.3 * k for k in range(50)]}, numbers=50)
        before = set(tmp_path.iterdir())
        Launch(make_kernel(mix, Numbers, kernel=next(NUMBER)), numbers)(50)
        (written,) = set(tmp_path.iterdir()) - before
        return len(written.read_text().splitlines()), read(numbers.x).tolist()

    return compile_anew


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64", reason="Taichi's library for Linux"
)
def test_loops_are_not_unrolled_and_results_have_the_same_bits(compiled, monkeypatch):
    short, result = compiled()
    monkeypatch.setattr("pbd.core.compilation.llvm_options", lambda _: llvm_options(AS_ON_ZEN))
    long, same = compiled()
    assert long > 2 * short  # eight bodies and a remainder, in place of one
    assert result == same


@pytest.mark.parametrize(
    ("level", "small", "again", "expected"),
    [(CHEAP, 2, True, QUICK), (FULL, 10_000, True, USUAL), (FULL, 2, True, QUICK), (FULL, 2, False, USUAL)],
    ids=["cheap", "small", "compiled again", "never again"],
)
def test_options_are_given_to_the_compilation_and_the_first_launch(level, small, again, expected, monkeypatch):
    monkeypatch.setattr(compilation, "SMALL", small)
    monkeypatch.setattr(compilation, "MEDIUM", small)
    monkeypatch.setattr(compilation, "AGAIN", again)
    monkeypatch.setattr(impl.current_cfg(), "offline_cache", False)
    given = []

    def record(options):
        given.append(options)
        return llvm_options(options)

    for module in ("compilation", "kernels"):
        monkeypatch.setattr(f"pbd.core.{module}.llvm_options", record)
    numbers = allocate(Numbers, {"x": [1.0, 2.0]}, numbers=2)
    launch = Launch(make_kernel(mix, Numbers, kernel=next(NUMBER)), numbers)
    with at_level(level):
        for _ in range(3):
            launch(2)
    assert given == [expected, expected]


@pytest.mark.skipif(not on_cpu(), reason="kernels are found on the processor")
def test_a_kernel_that_is_found_needs_no_options():
    numbers, number = allocate(Numbers, {"x": [1.0, 2.0]}, numbers=2), next(NUMBER)
    first, second = (Launch(make_kernel(mix, Numbers, kernel=number), numbers) for _ in range(2))
    first(2)
    second(2)
    assert second.compiled.options == ()


@pytest.mark.parametrize("options", [QUICK, USUAL])
def test_results_have_the_bits_that_they_have_without_options(compiled, monkeypatch, options):
    _, result = compiled()
    for module in ("compilation", "kernels"):
        monkeypatch.setattr(f"pbd.core.{module}.llvm_options", lambda _: llvm_options(options))
    assert compiled()[1] == result
    monkeypatch.setattr(llvm, "hidden_functions", lambda: None)
    assert compiled()[1] == result


def test_options_are_forgotten_behind_the_context(compiled, monkeypatch):
    with llvm_options(AS_ON_ZEN):
        pass
    monkeypatch.setattr("pbd.core.compilation.llvm_options", lambda _: llvm_options((b"-unroll-runtime=true",)))
    by_itself, _ = compiled()
    monkeypatch.setattr(llvm, "hidden_functions", lambda: None)
    assert compiled()[0] == by_itself


def test_functions_are_found_once():
    assert hidden_functions() is hidden_functions()


def test_a_library_without_these_functions_changes_nothing(tmp_path, compiled, monkeypatch):
    text = tmp_path.parent / "text.so"
    text.write_bytes(b"no library " * 20)
    assert addresses_in(text, (llvm.EXPORTED,)) is None
    library = sys.modules["taichi._lib.core.taichi_python"].__file__
    assert addresses_in(library, (llvm.EXPORTED, b"LLVMReadMyMind")) is None
    expected = compiled()[1]
    monkeypatch.setattr(llvm, "hidden_functions", lambda: None)
    assert compiled()[1] == expected
