"""Reader of PLY files, ASCII and binary: vertices and faces."""

import numpy as np

from pbd.build.polygons import triangulated
from pbd.core.validate import indices

ORDERS = {"ascii": "<", "binary_little_endian": "<", "binary_big_endian": ">"}
TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "int64": "i8", "uint64": "u8", "float32": "f4", "float64": "f8",
}  # fmt: skip
FACES = ("vertex_indices", "vertex_index")


def read_ply(content):
    """Read vertices and faces. All other elements and properties are left out.

    Args: content: bytes of the file.

    Returns: vertices (n, 3), triangles (m, 3).

    Raises: ValueError, KeyError or another error for a file that is damaged or none.

    Source: Turk, The PLY Polygon File Format (1994).
    """
    header, end, body = content.partition(b"end_header")
    lines = [line.split() for line in header.decode("ascii", errors="replace").splitlines()]
    if not end or lines[0] != ["ply"]:
        raise ValueError("no header of PLY")
    kind = next(words[1] for words in lines if words[:1] == ["format"])
    if kind == "ascii":  # numbers as text are read as binary ones of one type
        body = np.array(body.split()).astype("<f8").tobytes()
    else:
        body = body[2 if body.startswith(b"\r\n") else 1 :]
    vertices, corners, counts, place = np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    for name, count, properties in elements(lines, ORDERS[kind], "f8" if kind == "ascii" else None):
        found, place = columns(body, place, count, properties)
        if name == "vertex":
            vertices = np.stack([found[axis] for axis in "xyz"], axis=1).astype(float)
        elif name == "face":
            counts, corners = next(found[each] for each in FACES if each in found)
    corners = indices("corners of faces", corners.astype(np.int64), len(vertices), of="vertices")
    return vertices, triangulated(vertices, corners, counts.astype(np.int64))


def elements(lines, order, always=None):
    """Elements of a header, in order: (name, count, {property: (type, type of its count or None)}).

    Args: lines: words of each line; order: of bytes; always: the type of all numbers, None for that of the header.
    """
    found = []
    for words in lines:
        if words[:1] == ["element"]:
            found.append((words[1], int(words[2]), {}))
        elif words[:1] == ["property"]:
            types = [np.dtype(order + (always or TYPES[word])) for word in words[1:-1] if word != "list"]
            found[-1][2][words[-1]] = types[-1], types[0] if words[1] == "list" else None
    return found


def columns(body, place, count, properties):
    """Read the rows of an element. Args: body: bytes; place: of the first; count: of rows; properties: see `elements`.

    Returns: {property: values (rows,)}, or (counts (rows,), all values in a row) for a list; the place behind.
    """
    lists = [name for name, (_, counted) in properties.items() if counted]
    if not count:
        return {name: (np.zeros(0), np.zeros(0)) if name in lists else np.zeros(0) for name in properties}, place
    row = layout(body, place, properties)
    if not lists or len(body) - place >= count * row.itemsize:
        table = np.frombuffer(body, row, count, place)
        if all((table[f"count of {name}"] == row[name].shape[0]).all() for name in lists):  # all have one length
            found = {name: table[name] for name in properties}
            found |= {name: (table[f"count of {name}"], found[name].ravel()) for name in lists}
            return found, place + count * row.itemsize
    values = {name: ([], []) if name in lists else [] for name in properties}
    for _ in range(count):
        row = layout(body, place, properties)
        one = np.frombuffer(body, row, 1, place)[0]
        for name in properties:
            if name in lists:
                values[name][0].append(one[f"count of {name}"])
                values[name][1].append(one[name])
            else:
                values[name].append(one[name])
        place += row.itemsize
    found = {name: (np.array(each[0]), np.concatenate(each[1])) if name in lists else np.array(each)
             for name, each in values.items()}  # fmt: skip
    return found, place


def layout(body, place, properties):
    """The numpy type of the row at a place, with the lengths of its lists. Args: see `columns`."""
    fields = []
    for name, (kind, counted) in properties.items():
        length = ()
        if counted:
            offset = np.dtype(fields).itemsize
            length = (int(np.frombuffer(body, counted, 1, place + offset)[0]),)
            fields.append((f"count of {name}", counted))
        fields.append((name, kind, length))
    return np.dtype(fields)
