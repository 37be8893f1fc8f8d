"""Declared arrays: allocation, layouts, extension, snapshots and memory counts."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from pbd.core.kernels import (
    Columns,
    Host,
    Integer,
    Real,
    Vector,
    allocate,
    arrays_of,
    count,
    memory_of,
    read,
    real_type,
    write,
)
from pbd.core.kernels.arrays import memory_needed
from pbd.core.kernels.memory import free_memory

ROW = Columns(error=1, jacobian=6, bound=1)


class Rows(NamedTuple):
    """A group of arrays."""

    number: Real(count.worlds, count.rows, ROW, kept=True)
    group: Integer(count.rows)


class Data(NamedTuple):
    """Groups, arrays, and fields that are given later."""

    rows: Rows
    position: Vector(3, count.particles, count.worlds, kept=True)
    pair: Integer(count.pairs, 2)
    features: Any
    report: Host(2)
    h: float


COUNTS = {"worlds": 2, "rows": 4, "particles": 5, "pairs": 0}


def test_a_layout_names_columns_for_kernels_and_for_numpy():
    assert (ROW.error, ROW.jacobian, ROW.bound, ROW.total) == (0, 1, 7, 8)
    assert (ROW["error"], ROW["jacobian"], ROW["bound"]) == (0, slice(1, 7), 7)


def test_a_layout_can_be_extended():
    more = ROW.extend(impulse=1, softness=2)
    assert (more.jacobian, more.impulse, more["softness"], more.total) == (1, 8, slice(9, 11), 11)
    assert ROW.total == 8


def test_a_layout_keeps_its_own_names():
    with pytest.raises(ValueError, match="'total': expected another name"):
        Columns(total=1)


def test_arrays_have_the_declared_shapes_types_and_values():
    number = np.arange(64.0).reshape(2, 4, 8)
    data = allocate(Data, {"rows": {"number": number}, "position": np.ones((5, 2, 3))}, **COUNTS)
    assert np.array_equal(read(data.rows.number), number)
    assert read(data.rows.number).dtype == real_type()
    assert read(data.rows.group).dtype == np.int32
    assert not read(data.rows.group).any()
    assert read(data.position).shape == (5, 2, 3)
    assert data.pair.shape == (1, 2)  # a Taichi array cannot be empty
    assert (data.features, data.report, data.h) == (None, None, None)


def test_a_group_that_is_allocated_already_is_taken_as_it_is():
    rows = allocate(Rows, **COUNTS)
    assert allocate(Data, {"rows": rows}, **COUNTS).rows is rows


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"position": np.zeros((5, 2))}, r"Data.position has shape \(5, 2\): expected \(5, 2, 3\)"),
        ({"rows": {"group": np.zeros(3)}}, r"Rows.group has shape \(3,\): expected \(4,\)"),
    ],
)
def test_values_of_another_shape_are_an_error(values, message):
    with pytest.raises(ValueError, match=message):
        allocate(Data, values, **COUNTS)


def test_an_unknown_field_or_a_missing_length_is_an_error():
    with pytest.raises(TypeError, match=r"Data has no array velocity: expected rows, position"):
        allocate(Data, {"velocity": np.zeros(3)}, **COUNTS)
    with pytest.raises(TypeError, match=r"Rows.number has an axis of rows: expected allocate\(..., rows=...\)"):
        allocate(Rows, worlds=1)


def test_an_annotation_that_is_no_declaration_is_an_error():
    class Wrong(NamedTuple):
        mass: str

    with pytest.raises(TypeError, match=r"Wrong.mass is <class 'str'>: expected an array or a group of arrays"):
        allocate(Wrong)


def test_snapshots_find_the_arrays_that_are_kept():
    data = allocate(Data, **COUNTS)
    assert arrays_of(data) == [data.rows.number, data.rows.group, data.position, data.pair]
    assert arrays_of(data, kept=True) == [data.rows.number, data.position]
    assert arrays_of(data, kept=False) == [data.rows.group, data.pair]


def test_memory_is_counted_in_bytes():
    real = np.dtype(real_type()).itemsize
    assert memory_of(allocate(Rows, **COUNTS)) == 2 * 4 * 8 * real + 4 * 4
    assert memory_of(allocate(Data, **COUNTS)) == 2 * 4 * 8 * real + 4 * 4 + 5 * 2 * 3 * real + 2 * 4
    full = {**COUNTS, "pairs": 7}  # an array of no pairs has one element
    assert memory_needed(Data, None, full) == memory_of(allocate(Data, **full))


def test_arrays_that_do_not_fit_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("pbd.core.kernels.memory.free_memory", lambda: 7 * 10**9)
    # vectors of 10⁹ particles in 2 worlds; the other arrays are below the last digit
    needed = 2 * 10**9 * 3 * np.dtype(real_type()).itemsize
    with pytest.raises(MemoryError, match=f"the arrays of Data need {needed / 1e9:.3g} GB, and 7 GB of memory"):
        allocate(Data, **{**COUNTS, "particles": 10**9})
    monkeypatch.setattr("pbd.core.kernels.memory.free_memory", lambda: None)  # nobody knows: not refused here
    monkeypatch.setattr("pbd.core.kernels.memory.MUCH", 1)
    allocate(Data, **COUNTS)
    monkeypatch.setattr("pbd.core.kernels.memory.free_memory", lambda: 100)
    with pytest.raises(MemoryError, match="the arrays of Rows need"):
        allocate(Rows, **COUNTS)


def test_free_memory_is_what_linux_says(monkeypatch, tmp_path):
    text = tmp_path / "meminfo"
    monkeypatch.setattr("pbd.core.kernels.memory.MEMORY_OF_LINUX", text)
    assert free_memory() is None  # on another system
    text.write_text("MemTotal:       24689764 kB\nMemAvailable:   12345678 kB\nHugePages_Total:       0\n")
    assert free_memory() == 12345678 * 1024
    text.write_text("MemTotal:       24689764 kB\n")
    assert free_memory() is None


def test_arrays_are_written_and_read_whole():
    rows = allocate(Rows, **COUNTS)
    write(rows.group, [1, 2, 3, 4])
    found = read(rows.group)
    assert found.tolist() == [1, 2, 3, 4]
    found[0] = 9
    assert read(rows.group)[0] == 1  # reading returns a copy
    with pytest.raises(ValueError, match=r"values have shape \(3,\): expected \(4,\)"):
        write(rows.group, [1, 2, 3])


@pytest.mark.parametrize("rows", [1, 100, 10_000, 3_000_000])
def test_new_arrays_are_zero_where_others_were_freed(rows):
    # Nobody fills arrays on the processor, because Taichi gives each one fresh pages. `allocate` relies on it.
    for _ in range(3):
        made = allocate(Rows, worlds=1, rows=rows)
        assert not read(made.number).any()
        assert not read(made.group).any()
        write(made.number, np.full((1, rows, ROW.total), 7.0))
        write(made.group, np.full(rows, 7))
