"""Taichi functions that are called instead of copied: they have the results of copies, in shorter code."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti
from taichi.lang import kernel_impl

from pbd.core.kernels import KERNELS, Host, Integer, Launch, Real, allocate, compiled_once, count, make_kernel, read


class Bodies(NamedTuple):
    """Two arrays."""

    position: Real(count.bodies, 3)
    moved: Integer(count.bodies)


class Data(NamedTuple):
    """All kinds of declared data."""

    bodies: Bodies
    unused: Real(4)
    more: Any
    factor: Any
    report: Host(1)
    h: float


class More(NamedTuple):
    """Arrays that are declared elsewhere."""

    velocity: Real(count.bodies, 3)


@ti.func
def displacement(s: ti.template(), body, k):
    """A function that a called function copies into itself."""
    return s.factor * s.h * s.more.velocity[body, k]


@ti.func
def move(s: ti.template(), body):
    """Move a body; a loop of unknown length keeps the compiler from unrolling."""
    for k in range(s.bodies.position.shape[1]):
        s.bodies.position[body, k] = s.bodies.position[body, k] + displacement(s, body, k)
    s.report[body] = s.h
    s.bodies.moved[body] = 1


@compiled_once("bodies", "more", "factor", "report", "h")
def move_once(s: ti.template(), body):
    move(s, body)


@compiled_once("bodies", "more", "factor", "report", "h")
def move_twice(s: ti.template(), body):
    move_once(s, body)
    move_once(s, body)


def repeated(*moves):
    """A function that makes these moves of all bodies, in rounds."""

    @ti.func
    def repeat(s: ti.template(), rounds):
        for body in range(s.bodies.position.shape[0]):
            for _ in range(rounds):
                for each in ti.static(moves):
                    each(s, body)

    return repeat


moves_copied, moves_called = repeated(move, move, move), repeated(move_once, move_twice)


def moved(function, factor=0.3):
    """What a kernel of a function leaves: positions, moved, report."""
    random = np.random.default_rng(1)
    data = allocate(Data, {"bodies": {"position": random.normal(size=(5, 3))}}, bodies=5)
    more = allocate(More, {"velocity": random.normal(size=(5, 3))}, bodies=5)
    report = np.zeros(5)
    launch = Launch(make_kernel(function, Data, factor=factor, more=More), data, more)
    for h in (0.1, 0.7):
        launch(report, h, 10)
    return read(data.bodies.position), read(data.bodies.moved), report


def test_a_called_function_has_the_bits_of_its_copies():
    for factor in (0.3, 0.7):  # another static value makes another function
        for copied, called in zip(moved(moves_copied, factor), moved(moves_called, factor)):
            assert copied.tobytes() == called.tobytes()
    assert moved(moves_called)[1].tolist() == [1] * 5


def test_taichi_is_untouched_after_a_function_was_compiled():
    untouched = kernel_impl.Kernel.ast_builder
    moved(moves_called)
    assert kernel_impl.Kernel.ast_builder is untouched


def weigh(s: ti.template(), steps):
    s.mass[0] = s.mass[0] + steps


@pytest.mark.skipif(KERNELS != "quick", reason="quick kernels")
def test_groups_in_use_change_the_signature():
    signature_of = pytest.importorskip("pbd.core.kernels.quick.signature").signature_of
    made = ti.func(weigh), compiled_once("mass")(weigh), compiled_once("mass", "static")(weigh)
    found = {signature_of(each) for each in made}
    assert None not in found
    assert len(found) == len(made)


@pytest.mark.slow
def test_each_start_finds_the_kernels_of_the_first(tmp_path):
    root = Path(__file__).parents[4]
    words = ["-m", "scenes", "run", "ragdoll", "--solver", "articulated", "--duration", "0.02", "--quiet"]
    environment = {**os.environ, "TI_OFFLINE_CACHE": "1", "TI_OFFLINE_CACHE_FILE_PATH": str(tmp_path)}
    compiled = []
    for _ in range(5):
        subprocess.run([sys.executable, *words], check=True, cwd=root, env=environment)
        compiled.append(len(list(tmp_path.rglob("*.tic"))))
    assert compiled[0] > 0
    assert compiled == compiled[:1] * 5
