"""Arrays declared once, in nested NamedTuples. Allocation, kernels, snapshots and memory counts follow from them.

    POSE = Columns(position=3, rotation=4)

    class Bodies(NamedTuple):
        pose: Real(count.worlds, count.bodies, POSE, kept=True)     # centre of mass [m]; (w, x, y, z)
        mass: Real(count.worlds, count.bodies)                      # [kg]

    class Data(NamedTuple):
        bodies: Bodies
        gravity: Host(2)        # a numpy array, given at each launch
        dt: float               # a number, given at each launch [s]
        features: Any           # known when the kernel is compiled

    bodies = allocate(Bodies, {"mass": masses}, worlds=1, bodies=5)
    kernel = make_kernel(advance, Data, features=features)          # define.py

In a Taichi function `data.bodies.pose[world, body, POSE.rotation]` is the first number of a body's quaternion. A new
array is one line in its NamedTuple.

`allocate(..., lanes=16)` puts 16 worlds each into the lanes of vectors (lanes/): an array with an axis of worlds then
has an axis of groups instead, and vectors of lanes as elements. `read` and `write` see worlds all the same.
"""

from functools import cache
from math import prod
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import taichi as ti

from pbd.core.kernels.lanes.layout import Common, Layout
from pbd.core.kernels.memory import refuse_too_large
from pbd.core.kernels.mode import KERNELS
from pbd.core.kernels.runtime import default_real, numpy_type, present_program, require_program

if KERNELS == "quick":
    from pbd.core.kernels.quick.storage import element, fill, view, zeros
elif KERNELS == "public":
    from pbd.core.kernels.public.storage import element, fill, view, zeros
else:
    from pbd.core.kernels.plain.storage import element, fill, view, zeros


class Columns:
    """Names for the columns of an array's last axis.

    `ROW = Columns(error=1, jacobian=6)` gives `ROW.jacobian`, its first column, for kernels; `ROW["jacobian"]`, its
    columns, for numpy: a slice, or an index where it is one column; and `ROW.total`, how many columns there are.

    Args: names and how many columns each has.
    """

    def __init__(self, **widths):
        self.widths = widths
        self.total = 0
        for name, width in widths.items():
            if name in ("widths", "total", "extend"):
                raise ValueError(f"column {name!r}: expected another name, Columns uses this one itself")
            setattr(self, name, self.total)
            self.total += width

    def __getitem__(self, name):
        first, width = getattr(self, name), self.widths[name]
        return first if width == 1 else slice(first, first + width)

    def extend(self, **widths):
        """Columns with more columns behind these. Args: widths: names and widths of the new columns."""
        return Columns(**self.widths, **widths)


class Count:
    """Lengths of axes, by name: `count.bodies` stands for the number that `allocate(..., bodies=5)` gives."""

    def __getattr__(self, name):
        return name


count = Count()


class Array:
    """Declaration of an array: the base of the types that `Real`, `Integer` and `Vector` make.

    Attributes: axes: their lengths: names (`count.bodies`), numbers or Columns; integer: whether its elements are
    32-bit integers; width: of its elements, 1 for numbers, more for vectors, or a function that tells it; kept: whether
    a later step reads it, so that snapshots hold it; element: a Taichi type, None for the precision of `ti.init` or
    32-bit integers; common: whether worlds in lanes have the same contents.
    """

    axes, integer, width, kept, element, common = (), False, 1, False, None, False

    @classmethod
    def has_worlds(cls):
        """Whether an axis is that of worlds, which may lie in lanes."""
        return count.worlds in cls.axes

    @classmethod
    def components(cls):
        """How many numbers an element has."""
        return cls.width() if callable(cls.width) else cls.width


def declared(axes, kept, **fields):
    """A subclass of Array: NamedTuple wants types as annotations. Args: axes, kept, fields: its attributes."""
    fields = {"axes": axes, "kept": kept, **fields}
    return type("Array", (Array,), fields)


def Real(*axes, kept=False):  # noqa: N802 - a type
    """Declare an array of numbers in the precision of `ti.init`. Args: axes; kept: see Array."""
    return declared(axes, kept)


def Integer(*axes, kept=False, common=False):  # noqa: N802 - a type
    """Declare an array of 32-bit integers. Args: axes; kept, common: see Array."""
    return declared(axes, kept, integer=True, common=common)


def Vector(width, *axes, kept=False):  # noqa: N802 - a type
    """Declare an array whose elements are vectors. Args: width, axes, kept: see Array."""
    return declared(axes, kept, width=staticmethod(width) if callable(width) else width)


def Typed(element, *axes):  # noqa: N802 - a type
    """Declare an array of one Taichi type, whatever the precision of `ti.init`. Args: element: the type; axes."""
    return declared(axes, False, element=element)


class HostArray:
    """A numpy array that is given at each launch. Attributes: dimensions; of_worlds: whether its rows are worlds."""

    dimensions, of_worlds = 0, False


def Host(dimensions, of_worlds=False):  # noqa: N802 - a type
    """Declare a numpy array that is given at each launch.

    Args: dimensions: how many axes it has; of_worlds: whether its rows are worlds. If worlds lie in lanes, it is given
    as (groups, lanes, columns).
    """
    return type("HostArray", (HostArray,), {"dimensions": dimensions, "of_worlds": of_worlds})


class RowsOfWorld(NamedTuple):
    """Rows of one world in a kernel, as if they were a numpy array that is given at each launch.

    Attributes: array: Taichi's, (rows, columns, worlds); world: index.
    """

    array: Any
    world: Any

    @property
    def shape(self):
        """Number of rows."""
        return self.array.shape[:1]

    def __getitem__(self, index):
        return element(self.array, *index, self.world)


class NoArrays(NamedTuple):
    """In place of a group of arrays that a kernel does not read, see `make_kernel`."""


# Declarations -------------------------------------------------------------------------------------------------------


@cache
def fields_of(declaration):
    """Fields of a NamedTuple class: {name: annotation}."""
    return get_type_hints(declaration)


def is_declaration(annotation):
    """Whether an annotation is a NamedTuple class, a group of arrays."""
    return isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields")


def is_array(annotation):
    """Whether an annotation declares a Taichi array."""
    return isinstance(annotation, type) and issubclass(annotation, Array)


def is_given_later(annotation):
    """Whether an annotation declares a number, a numpy array or a value that no allocation makes."""
    is_host_array = isinstance(annotation, type) and issubclass(annotation, HostArray)
    return is_host_array or annotation in (Any, float, int)


def allocate(declaration, values=None, **counts):
    """Make the arrays of a declaration.

    Args:
        declaration: a NamedTuple class whose fields are arrays, or groups of arrays. Fields that are given later, at
            compilation or at each launch, become None.
        values: {field: numpy array, or for a group such a dict}; the others are zero.
        counts: lengths of the axes that are declared by name; and `lanes`, how many worlds are in a vector. Or
            `placements`: {axis: layout of the arrays that begin with this axis}, a dict for arrays with an axis of
            worlds and one for those without. Other arrays are then made of numbers.

    Returns: an instance of the declaration, of Taichi arrays.

    Raises: ValueError for values of another shape than declared, TypeError for a field or length that is not there,
    MemoryError if the arrays do not fit into what is free on the device.
    """
    refuse_too_large(memory_needed(declaration, values, counts), f"the arrays of {declaration.__name__}")
    return make_group(declaration, values, counts)


def make_group(declaration, values, counts):
    """Make the arrays of a declaration, however much memory they need. Args: see `allocate`."""
    values = dict(values or {})
    found = {}
    for name, annotation in fields_of(declaration).items():
        given = values.pop(name, None)
        if is_declaration(annotation):
            found[name] = given if isinstance(given, annotation) else make_group(annotation, given, counts)
        elif is_array(annotation):
            found[name] = make_array(f"{declaration.__name__}.{name}", annotation, given, counts)
        elif is_given_later(annotation):
            found[name] = None
        else:
            raise TypeError(f"{declaration.__name__}.{name} is {annotation!r}: expected an array or a group of arrays")
    if values:
        raise TypeError(f"{declaration.__name__} has no array {', '.join(values)}: expected {', '.join(found)}")
    return declaration(**found)


def memory_needed(declaration, values, counts):
    """Memory that the arrays of a declaration need [bytes], but for groups that are given. Args: see `allocate`."""
    needed = 0
    for name, annotation in fields_of(declaration).items():
        given = (values or {}).get(name)
        if is_declaration(annotation):
            needed += 0 if isinstance(given, annotation) else memory_needed(annotation, given, counts)
        elif is_array(annotation) and annotation.element is None:
            shape = (length_of(f"{declaration.__name__}.{name}", axis, counts) for axis in annotation.axes)
            number = np.int32 if annotation.integer else numpy_type(default_real())
            needed += prod(shape) * annotation.components() * np.dtype(number).itemsize
    return needed


def make_array(name, annotation, values, counts):
    """One Taichi array. Args: name, for errors; annotation: an Array; values or None; counts: see `allocate`."""
    shape = tuple(length_of(name, axis, counts) for axis in annotation.axes)
    element = annotation.element
    if element is not None:
        number, width = (element.dtype, element.n) if hasattr(element, "n") else (element, 1)
        array = zeros([max(length, 1) for length in shape], number, width)
        if values is not None:
            write(array, values)
        return array
    shape += (annotation.components(),) if annotation.components() > 1 else ()
    if values is not None and np.shape(values) != shape:
        raise ValueError(f"{name} has shape {np.shape(values)}: expected {shape}")
    lanes = counts.get("lanes", 1)
    if 0 in shape:
        return empty_array(annotation, tuple(max(length, 1) for length in shape), lanes)
    array = new_array(annotation, shape, lanes, counts.get("placements"))
    if values is not None or array.lanes:  # which may substitute other values
        write(array, np.zeros(shape) if values is None else values)
    return array


def new_array(annotation, shape, lanes, placements=None):
    """Make a Taichi array of zeros.

    Args: annotation: an Array; shape: with the components of vectors as the last axis; lanes: worlds in a vector;
    placements: see `allocate`.
    """
    number, layout = ti.i32 if annotation.integer else default_real(), None
    if placements is not None:
        layout = placements[0 if annotation.has_worlds() else 1].get(annotation.axes[0])
    elif lanes > 1 and annotation.has_worlds():
        axis = annotation.axes.index(count.worlds)
        layout = (Common if annotation.common else Layout)(axis, shape[axis], lanes)
    if layout is not None:
        shape, width = layout.shape(shape), layout.lanes
        if width == 1 and annotation.components() > 1:
            shape, width = shape[:-1], annotation.components()
        array = zeros(shape, number, width)
        array.lanes = layout
        return array
    if annotation.components() > 1 and not (placements and annotation.has_worlds()):
        return zeros(shape[:-1], number, annotation.components())
    return zeros(shape, number)


def empty_array(annotation, shape, lanes):
    """An array for a shape without elements, which nobody reads. A Taichi array cannot be empty: it is zero.

    All systems share it, because Taichi keeps 70 bytes of each array that it ever made. Args: see `new_array`.
    """
    program = present_program()
    if EMPTY.get("program") is not program:
        EMPTY.clear()
        EMPTY["program"] = program
    key = annotation.integer, annotation.common, annotation.components(), shape, annotation.has_worlds() and lanes
    if key not in EMPTY:
        EMPTY[key] = new_array(annotation, shape, lanes)
        EMPTY[key].is_empty = True
    return EMPTY[key]


# The arrays of `empty_array`, and their program.
EMPTY = {}


def with_lanes(data, lanes):
    """Copy a group of arrays, with other lanes. Args: data: an instance of a declaration; lanes: worlds in a vector."""
    found = {}
    for name, annotation in fields_of(type(data)).items():
        found[name] = value = getattr(data, name)
        if is_declaration(annotation):
            found[name] = with_lanes(value, lanes)
        elif is_array(annotation) and (value.lanes or annotation.has_worlds()):
            values = read(value)
            found[name] = new_array(annotation, values.shape, lanes)
            write(found[name], values)
    return type(data)(**found)


def length_of(name, axis, counts):
    """Length of an axis. Args: name of the array, for errors; axis: a name, a number or Columns; counts."""
    if isinstance(axis, Columns):
        return axis.total
    if isinstance(axis, str):
        if axis not in counts:
            raise TypeError(f"{name} has an axis of {axis}: expected allocate(..., {axis}=...)")
        return counts[axis]
    return axis


def arrays_of(data, kept=None):
    """All arrays of a group of arrays, in the order of the declaration.

    Args: data: an instance of a declaration; kept: True for those that snapshots hold; None for all.

    Returns: list of Taichi arrays.
    """
    found = []
    for name, annotation in fields_of(type(data)).items():
        if is_declaration(annotation):
            found += arrays_of(getattr(data, name), kept)
        elif is_array(annotation) and kept in (None, annotation.kept):
            found.append(getattr(data, name))
    return found


def memory_of(data):
    """Memory of the arrays of a group [bytes]. Args: data: an instance of a declaration."""
    return sum(
        int(np.prod((*array.shape, *array.element_shape))) * np.dtype(numpy_type(array.dtype)).itemsize
        for array in arrays_of(data)
    )


# Contents -----------------------------------------------------------------------------------------------------------


def read(array):
    """Copy a Taichi array into a new numpy array; the components of vectors are its last axis."""
    require_program(array.program)
    return array.lanes.unpack(view(array)) if array.lanes else view(array).copy()


def write(array, values):
    """Fill a Taichi array. Args: array; values: numbers in its shape, the components of vectors as a last axis."""
    require_program(array.program)
    if array.lanes:
        fill(array, array.lanes.pack(np.asarray(values)))
        return
    shape = (*array.shape, *array.element_shape)
    if np.shape(values) != shape:
        raise ValueError(f"values have shape {np.shape(values)}: expected {shape}")
    fill(array, values)
