"""Reader of OBJ files: vertices and faces."""

import re

import numpy as np

from pbd.build.polygons import triangulated
from pbd.core.messages import clipped

UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks


def read_obj(content):
    """Read vertices and faces. Names, groups, materials, normals, colours and lines are left out.

    Args: content: bytes of the file, in any encoding that contains ASCII, or in UTF-16 with a byte order mark.

    Returns: vertices (n, 3), triangles (m, 3).

    Raises: ValueError that quotes the line that is wrong.

    Source: Wavefront, Object Files (.obj), Advanced Visualizer manual, appendix B1.
    """
    text = content.decode("utf-16" if content[:2] in UTF_16 else "utf-8", errors="replace")
    text = re.sub(r"#.*", "", text.replace("\r\n", "\n").replace("\r", "\n"))
    vertices, corners, counts = [], [], []
    for line in re.sub(r"\\[ \t]*\n", " ", text).split("\n"):  # a backslash continues a line
        words = line.split()
        try:
            if not words:
                continue
            if words[0] == "v":
                x, y, z = words[1:4]
                vertices.append((float(x), float(y), float(z)))
            elif words[0] in ("f", "fo"):
                face = [int(word.partition("/")[0]) for word in words[1:]]
                corners += [index - 1 if index > 0 else relative_index(index, len(vertices)) for index in face]
                counts.append(len(face))
        except ValueError as error:
            raise ValueError(f"{clipped(line, 30)!r}: {clipped(error, 60)}") from None
    vertices, corners = np.array(vertices).reshape(-1, 3), np.array(corners, np.int64)
    if len(corners) and corners.max() >= len(vertices):
        raise ValueError(f"a face has vertex {corners.max() + 1}: expected 1 to {len(vertices)}")
    return vertices, triangulated(vertices, corners, np.array(counts, np.int64))


def relative_index(index, count):
    """Index from 0 of a relative one: -1 is the last vertex so far. Args: index; count: of vertices so far."""
    if not -count <= index < 0:
        raise ValueError(f"vertex {index} of {count}: expected 1 or more, or {-count} to -1")
    return count + index
