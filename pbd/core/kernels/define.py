"""The text of kernels that are made from declared data (arrays.py): no parameter is spelled by hand.

Taichi reads a kernel's parameters from its source. So the source is generated from the declaration, and put into
`linecache`, where Taichi finds it.
"""

import inspect
import itertools
import linecache

import taichi as ti

from pbd.core.kernels.arrays import HostArray, NoArrays, arrays_of, fields_of, is_array, is_declaration
from pbd.core.kernels.public.parts import PartOfBuffer

# Numbers the generated kernels, because each needs a file name of its own.
NUMBER = itertools.count()


def left_out(features):
    """Arguments of `make_kernel` that leave out the groups of arrays that a kernel does not read.

    Args: features: of a kernel; its `unread` are the names of the groups.
    """
    return dict.fromkeys(features.unread, NoArrays)


def parameters_of(function):
    """Names of a function's parameters."""
    return list(inspect.signature(function).parameters)


def left_out_of(static):
    """Names of the groups of arrays that a kernel does not read. Args: static: see `make_kernel`."""
    return [name for name, value in static.items() if value is NoArrays]


def bound_arrays(left_out, data):
    """All arrays of a launch. Args: left_out: names of groups that the kernel does not read; data: see `Launch`."""
    first, *others = data
    if left_out:
        first = first._replace(**{name: NoArrays() for name in left_out})
    groups = (arrays_of(group) if hasattr(group, "_fields") else [group] for group in (first, *others))
    return [array for group in groups for array in group]


def define(decorator, body, declaration, static, numbers, *, lanes=None, order=None, guard=None, buffers=None):
    """Define a Taichi kernel or function that calls `body` with declared data.

    Args: decorator: "kernel" or "real_func"; body, declaration, static: see `make_kernel`; numbers: the parameters of
    `body` after the data, with their types; lanes: classes of arrays in lanes by their names, None without lanes;
    order: indices of the parameters in another order; guard: function (text, names) -> function, whose value says
    whether `body` has to be read; buffers: for each array, which buffer has it as a part. The parameters are then
    buffers, arrays of the host, an array of integers, with offsets and shapes of the parts before those of the data, an
    array of the data's other numbers, and `numbers`.
    """
    names, arrays, given = {"ti": ti, "the_body": body, **(lanes or {})}, [], []
    value = expression("data", declaration, static, names, arrays, given, lanes is not None)
    parameters = arrays + given + numbers
    statements = []
    if buffers is not None:
        parameters, statements = in_buffers(arrays, given, buffers)
        parameters += numbers
        names["PartOfBuffer"] = PartOfBuffer
    if order is not None:
        parameters = [parameters[index] for index in order]
    passed = ["data", *map(name_of, numbers)]
    call = f"the_body({', '.join(passed)})"
    text = "\n".join(
        [
            f"@ti.{decorator}",
            f"def defined({', '.join(parameters)}):",
            *statements,
            f"    data = ti.static({value})",
            f"    if ti.static(is_new()): {call}" if guard else f"    {call}",
            "",
        ]
    )
    if guard:
        names["is_new"] = guard(text, dict(names))
    file = f"<{decorator} {next(NUMBER)} {body.__module__}.{body.__name__}>"
    # An entry without a time of change is kept, although there is no such file.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names["__name__"] = __name__
    exec(compile(text, file, "exec"), names)  # our own text, of names that the declaration checked
    return names["defined"]


def in_buffers(arrays, given, buffers):
    """Parameters for arrays that are parts of buffers. Args: arrays, given: parameters; buffers: see `define`.

    Returns: the parameters; statements that give arrays and numbers their names.
    """
    parameters = [f"buffer_{index}: ti.types.ndarray(ndim=1)" for index in range(max(buffers, default=-1) + 1)]
    parameters += [each for each in given if not each.endswith((": int", ": float"))]
    statements, used = [], 0
    for array, buffer in zip(arrays, buffers):
        name, dimensions = name_of(array), int(array.rsplit("=", 1)[1].rstrip(")"))
        places = [f"{name}_{k}" for k in range(dimensions + 1)]
        statements += [f"    {each} = ints[{used + k}]" for k, each in enumerate(places)]
        part = f"PartOfBuffer(buffer_{buffer}, {places[0]}, ({', '.join(places[1:])},))"
        statements.append(f"    {name} = ti.static({part})")
        used += dimensions + 1
    for kind, first in (("int", used), ("float", 0)):
        numbers = [name_of(each) for each in given if each.endswith(f": {kind}")]
        statements += [f"    {name} = {kind}s[{first + place}]" for place, name in enumerate(numbers)]
        parameters += [f"{kind}s: ti.types.ndarray(ndim=1)"] if numbers or first else []
    return parameters, statements


def name_of(parameter):
    """The name of a parameter. Args: parameter: "name: type"."""
    return parameter.split(":")[0]


def expression(path, declaration, static, names, arrays, given, has_lanes):
    """Python text that builds an instance of a declaration from a kernel's parameters.

    Args: path: prefix of the parameters' names; declaration; static: see `make_kernel`; names: what the text refers to,
    to which this adds; arrays, given: parameters that are bound once, and at each launch, to which this adds;
    has_lanes: see `define`.
    """
    names[f"type_of_{path}"] = declaration
    members = []
    for name, annotation in fields_of(declaration).items():
        member = f"{path}_{name}"
        if name in static:
            annotation = static[name]  # a value, or a declaration of more arrays
        if is_declaration(annotation):
            members.append(expression(member, annotation, {}, names, arrays, given, has_lanes))
            continue
        if is_array(annotation):
            of_vectors = has_lanes and annotation.has_worlds() and annotation.components() > 1
            arrays.append(f"{member}: ti.types.ndarray(ndim={len(annotation.axes) + of_vectors})")
            member = f"VectorArray({member}, {annotation.components()})" if of_vectors else member
        elif isinstance(annotation, type) and issubclass(annotation, HostArray):
            of_rows = has_lanes and annotation.of_worlds
            given.append(f"{member}: ti.types.ndarray(ndim={annotation.dimensions + of_rows})")
            member = f"RowArray({member})" if of_rows else member
        elif name not in static and annotation in (float, int):
            given.append(f"{member}: {annotation.__name__}")
        elif name in static:
            names[member] = annotation
        else:
            raise TypeError(f"{declaration.__name__}.{name} is {annotation!r}: expected make_kernel(..., {name}=...)")
        members.append(member)
    return f"type_of_{path}({', '.join(members)})"
