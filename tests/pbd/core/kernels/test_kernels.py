"""Kernels made from declared data: launches, errors, and the unchanged state of Taichi."""

import re
import time
from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti
from taichi.lang import impl

from pbd.core.kernels import (
    Columns,
    Host,
    Integer,
    Launch,
    NoArrays,
    Real,
    Vector,
    allocate,
    arrays_of,
    count,
    make_kernel,
    read,
    settings,
)
from pbd.core.kernels.quick import compilation
from pbd.core.kernels.quick.compilation import CHEAP, FULL, at_level, compiling
from pbd.core.kernels.quick.reading import quickly

POSE = Columns(position=3, angle=1)


class Bodies(NamedTuple):
    """Two arrays."""

    pose: Real(count.bodies, POSE)
    mass: Real(count.bodies)


class Settings(NamedTuple):
    """Numbers that are given at each launch."""

    h: float
    first: int


class Data(NamedTuple):
    """All kinds of declared data."""

    bodies: Bodies
    velocity: Vector(3, count.bodies)
    more: Any
    factor: Any
    report: Host(1)
    settings: Settings


class More(NamedTuple):
    """Arrays that are declared elsewhere."""

    flags: Integer(count.bodies)


@ti.func
def advance(s: ti.template(), steps):
    """Read and write each kind of data once."""
    for body in range(s.settings.first, s.velocity.shape[0]):
        velocity = s.velocity[body]
        for k in ti.static(range(3)):
            s.bodies.pose[body, POSE.position + k] = steps * s.settings.h * velocity[k]
        s.bodies.pose[body, POSE.angle] = s.factor * s.bodies.mass[body]
        s.report[body] = ti.cast(s.more.flags[body], float)


@ti.func
def twice(x):
    return 2.0 * x


@ti.func
def astray(x):
    return twice(x) + nowhere  # noqa: F821


@ti.func
def wrong(s: ti.template()):
    s.mass[0] = twice(twice(1.0)) + astray(twice(3.0))


@ti.func
def right(s: ti.template()):
    s.mass[0] = twice(twice(1.0))


class Mass(NamedTuple):
    """One array."""

    mass: Real(1)


@ti.kernel
def before_ours() -> float:
    return twice(1.0)


@ti.kernel
def between_ours() -> float:
    return twice(2.0)


@ti.kernel
def after_ours() -> float:
    return twice(3.0)


def settings_of_taichi():
    """Taichi's state that kernels of the user depend on."""
    config = impl.get_runtime().prog.config()
    return (
        *(getattr(owner, name) for owner, name, _ in quickly.REPLACED),
        config.fast_math, config.cfg_optimization,
    )  # fmt: skip


def test_a_kernel_finds_arrays_settings_and_static_values():
    data = allocate(
        Data, {"bodies": {"mass": [1.0, 2.0, 3.0]}, "velocity": np.arange(9).reshape(3, 3)}, bodies=3
    )
    more = allocate(More, {"flags": [5, 6, 7]}, bodies=3)
    launch = Launch(make_kernel(advance, Data, factor=10.0, more=More), data, more)
    report = np.zeros(3)
    for _ in range(2):  # the first launch compiles
        launch(report, 0.5, 1, 4)
        assert report.tolist() == [0, 6, 7]  # from body `first` on
    pose = read(data.bodies.pose)
    assert pose[:, POSE["angle"]].tolist() == [0, 20, 30]
    assert pose[1:, POSE["position"]].tolist() == [[6, 8, 10], [12, 14, 16]]


class Kept(NamedTuple):
    """A group that a kernel reads, one that it does not read, and what it is given."""

    bodies: Bodies
    more: More
    report: Host(1)
    h: float


@ti.func
def report_mass(s: ti.template(), body):
    """Report a multiple of a mass."""
    s.report[0] = s.h * s.bodies.mass[body]


def test_groups_that_a_kernel_does_not_read_are_left_out():
    data, report = allocate(Kept, {"bodies": {"mass": [2.0, 3.0]}}, bodies=2), np.zeros(1)
    whole, parted = (Launch(make_kernel(report_mass, Kept, **more), data) for more in ({}, {"more": NoArrays}))
    assert (len(whole.arrays), len(parted.arrays)) == (3, 2)
    for launch in (whole, parted):
        launch(report, 2.0, 1)
        assert report[0] == 6.0


def test_each_launch_uses_what_it_is_given():
    data = allocate(Kept, {"bodies": {"mass": [2.0, 3.0]}}, bodies=2)
    launch, reports = Launch(make_kernel(report_mass, Kept, more=NoArrays), data), [np.zeros(1), np.zeros(1)]
    for report, h, body in ((0, 2.0, 1), (0, 2.0, 1), (1, 2.0, 1), (1, 4.0, 1), (1, 4.0, 0), (0, 2.0, 0)):
        reports[report][0] = 0.0  # its contents change, and it stays the same object
        launch(reports[report], h, body)
        assert reports[report][0] == h * (2.0, 3.0)[body]


def test_a_kernel_can_be_called_and_launched():
    # The two have other arguments: those that Taichi packs, and one structure.
    data, report = allocate(Kept, {"bodies": {"mass": [2.0, 3.0]}}, bodies=2), np.zeros(1)
    kernel = make_kernel(report_mass, Kept, more=NoArrays)
    launch = Launch(kernel, data)
    for h in (2.0, 4.0):
        kernel(*arrays_of(data.bodies), report, h, 1)
        assert report[0] == h * 3.0
        launch(report, h, 0)
        assert report[0] == h * 2.0


def test_a_missing_static_value_is_an_error():
    with pytest.raises(TypeError, match=r"Data\.more .*expected make_kernel\(\.\.\., more=\.\.\.\)"):
        make_kernel(advance, Data, factor=1.0)


def test_kernels_of_the_user_see_an_untouched_taichi():
    untouched = settings_of_taichi()
    assert before_ours() == 2.0
    launch = Launch(make_kernel(right, Mass), allocate(Mass))
    launch()
    assert settings_of_taichi() == untouched
    assert between_ours() == 4.0
    with compiling():
        assert settings_of_taichi() != untouched
    launch()
    assert settings_of_taichi() == untouched
    assert after_ours() == 6.0


@ti.data_oriented
class Doubler:
    """A class of the user's, which Taichi must recognise."""

    @ti.func
    def double(self, x):
        return 2.0 * x

    @ti.kernel
    def run(self) -> float:
        return self.double(3.0)


def test_functions_in_classes_of_the_user_are_methods():
    assert Doubler().run() == 6.0


def test_taichi_is_untouched_after_an_error():
    untouched = settings_of_taichi()
    with pytest.raises(ti.TaichiNameError):
        Launch(make_kernel(wrong, Mass), allocate(Mass))()
    assert settings_of_taichi() == untouched
    with pytest.raises(ZeroDivisionError), compiling():
        raise ZeroDivisionError
    assert settings_of_taichi() == untouched


def test_an_error_shows_the_lines_that_led_to_it():
    # The lines of each expression are cached, but each call shows its own.
    for _ in range(2):
        with pytest.raises(ti.TaichiNameError) as caught:
            Launch(make_kernel(wrong, Mass), allocate(Mass))()
        message = str(caught.value)
        assert "test_kernels.py" in message
        lines = message.splitlines()
        marked = [
            line[marks.start() : marks.end()]
            for line, below in zip(lines, lines[1:])
            if (marks := re.search(r"\^+", below))
        ]
        assert "astray(twice(3.0))" in marked[-2]
        assert marked[-1] == "nowhere"
    mass = allocate(Mass)
    Launch(make_kernel(right, Mass), mass)()
    assert read(mass.mass).tolist() == [4.0]


# Levels of compilation ------------------------------------------------------------------------------------------------

RUN = time.time_ns()  # kernels that refer to it were not compiled by an earlier run of these tests


@ti.func
def count_steps(s: ti.template(), steps):
    """Count steps in an element whose index is constant in the inner loop."""
    ti.loop_config(serialize=True)
    for world in range(ti.static(RUN > 0)):
        for _ in range(steps):
            s.mass[world] = s.mass[world] + 1.0


def counted(body, level):
    """What a kernel counts in seven steps, compiled at a level."""
    mass = allocate(Mass)
    with at_level(level):
        Launch(make_kernel(body, Mass), mass)(7)
    return read(mass.mass)[0]


def test_a_constant_index_counts_at_each_level():
    # Taichi 1.7.4 counts 1 with `opt_level=0` alone, see pbd/core/kernels/settings.py.
    assert [counted(count_steps, level) for level in (CHEAP, FULL, 2)] == [7, 7, 7]


@pytest.fixture
def compiled(monkeypatch):
    """Levels at which kernels are compiled, as they are compiled."""
    levels = []
    monkeypatch.setattr(compilation, "compiling", lambda: levels.append(impl.current_cfg().opt_level) or compiling())
    return levels


@pytest.mark.parametrize(
    ("level", "large", "levels"),
    [
        (1, 1, [CHEAP, CHEAP]),  # read and compiled
        (1, 10_000, [CHEAP, FULL]),
        (0, 1, [CHEAP, CHEAP]),
        (2, 1, [FULL, FULL]),
    ],
)
def test_large_kernels_are_compiled_cheaply_first(monkeypatch, compiled, level, large, levels):
    monkeypatch.setattr(compilation, "SMALL", large)
    monkeypatch.setattr(settings, "AGAIN", True)
    assert counted(count_steps, level) == 7
    assert compiled == levels


def test_a_large_kernel_is_compiled_fully_when_that_pays(monkeypatch, compiled):
    monkeypatch.setattr(compilation, "SMALL", 2)  # kernels of other tests with 1 would be found
    monkeypatch.setattr(settings, "AGAIN", True)
    mass, kernel = allocate(Mass), make_kernel(count_steps, Mass)
    launch, other = Launch(kernel, mass), Launch(kernel, mass)
    with at_level(FULL):
        launch(7)
        assert 0 < launch.until_full < np.inf
        before = launch.seconds
        launch(7)
        assert launch.seconds > before > 0  # launches are counted
        assert compiled == [CHEAP, CHEAP]
        launch.seconds = 1.01 * launch.until_full
        launch(7)
        assert compiled == [CHEAP, CHEAP, FULL, FULL]
        assert launch.until_full == np.inf
        other(7)  # finds it compiled
        assert compiled == [CHEAP, CHEAP, FULL, FULL, FULL]
        assert other.until_full == np.inf
    assert read(mass.mass)[0] == 28


def test_a_kernel_that_another_launch_compiled_fully_is_taken(monkeypatch, compiled):
    monkeypatch.setattr(compilation, "SMALL", 3)
    monkeypatch.setattr(settings, "AGAIN", True)
    mass, kernel = allocate(Mass), make_kernel(count_steps, Mass)
    long, short = Launch(kernel, mass), Launch(kernel, mass)
    with at_level(FULL):
        short(7)
        long(7)
        long.seconds = 1.01 * long.until_full
        long(7)
        short.until_full, short.seconds = 6.0, 6.1  # far less than pays, as of a kernel that was found
        short(7)
        assert short.until_full == np.inf
        Launch(kernel, mass)(7)
        assert compiled[-1] == FULL  # and it is still there


@pytest.mark.parametrize(("medium", "level"), [(1, CHEAP), (10_000, FULL)])
def test_a_viewer_never_compiles_again(monkeypatch, compiled, medium, level):
    monkeypatch.setattr(compilation, "SMALL", 1)
    monkeypatch.setattr(compilation, "MEDIUM", medium)
    monkeypatch.setattr(settings, "AGAIN", False)
    launch = Launch(make_kernel(count_steps, Mass), allocate(Mass))
    with at_level(FULL):
        launch(7)
    assert launch.until_full == np.inf
    assert compiled[-1] == level
