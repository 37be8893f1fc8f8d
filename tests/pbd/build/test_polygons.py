"""Polygons divided into triangles: concave ones, from every corner, with corners in a line; OBJ and PLY files."""

import struct

import numpy as np
import pytest

import pbd
from pbd.build import closed_surface, load_mesh
from pbd.build.polygons import triangulated

U = [(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)]
L = [(0, 0), (3, 0), (3, 0.5), (0.5, 0.5), (0.5, 3), (0, 3)]
STAR = [(r * np.cos(k * np.pi / 5), r * np.sin(k * np.pi / 5)) for k, r in enumerate((0.4, 1.0) * 5)]
COMB = [(0, 0), (6, 0), (6, 2), (5, 2), (5, 1), (4, 1), (4, 2), (3, 2), (3, 1), (2, 1), (2, 2), (1, 2), (1, 1), (0, 1)]
ARROW = [(0, 0), (1, 0.4), (0, 1), (0.2, 0.4)]  # a concave quadrilateral
LINED = [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (1.5, 0.5), (0, 2), (0, 1)]  # corners in the middle of edges
NEARLY = [(0, 0), (1, 1e-9), (2, 0), (2, 1), (1, 1 - 1e-9), (0, 1)]  # reflex corners of a billionth of a radian
KEYHOLE = [(0, 0), (4, 0), (4, 4), (0, 4), (0, 0), (1, 1), (1, 3), (3, 3), (3, 1), (1, 1)]  # a bridge to a hole
OUTLINES = {"u": U, "l": L, "star": STAR, "comb": COMB, "arrow": ARROW, "lined": LINED, "nearly": NEARLY,
            "keyhole": KEYHOLE}  # fmt: skip


def area(outline):
    """The shoelace formula: A = ½ |Σ (x_i y_{i+1} - x_{i+1} y_i)|."""
    x, y = np.array(outline, dtype=float).T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def vector_areas(points):
    """Vector areas of the triangles of one polygon. Args: points: (k, 3)."""
    triangles = triangulated(points, np.arange(len(points)), np.array([len(points)]))
    assert len(triangles) == len(points) - 2
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a) / 2


@pytest.mark.parametrize("name", OUTLINES)
def test_triangles_cover_a_polygon_once_from_every_corner_in_every_plane(name):
    """Σ|A| = |Σ A| = A: the triangles do not overlap, and none is turned over."""
    rng = np.random.default_rng(3)
    flat = np.array([(x, y, 0.0) for x, y in OUTLINES[name]])
    for first in range(len(flat)):
        turned = np.roll(flat, -first, axis=0) @ np.linalg.qr(rng.normal(size=(3, 3)))[0].T + rng.normal(size=3)
        found = vector_areas(turned)
        assert np.linalg.norm(found, axis=1).sum() == pytest.approx(area(OUTLINES[name]), rel=1e-12)
        assert np.linalg.norm(found.sum(axis=0)) == pytest.approx(area(OUTLINES[name]), rel=1e-12)


def test_triangles_of_corners_in_a_line_have_an_area():
    """A fan around the first corner would have triangles without area along the first side."""
    assert np.linalg.norm(vector_areas(np.array([(x, y, 0.0) for x, y in LINED])), axis=1).min() > 0.1


def test_convex_polygons_are_fans_around_their_first_corner():
    hexagon = np.array([(np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0.1 * (k % 2)) for k in range(6)])
    fan = triangulated(hexagon, np.arange(6), np.array([6]))
    assert fan.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]


def test_polygons_that_are_not_flat_keep_their_border():
    """The vector area of a closed border, ½ Σ r_i × r_{i+1}, is that of every surface within it."""
    rng = np.random.default_rng(4)
    for outline in OUTLINES.values():
        points = np.array([(x, y, 0.1 * rng.normal()) for x, y in outline])
        border = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0) / 2
        assert vector_areas(points).sum(axis=0) == pytest.approx(border, abs=1e-12)


@pytest.mark.parametrize("points", [np.zeros((5, 3)), np.arange(15.0).reshape(5, 3), U[:2] * 2])
def test_polygons_without_area_have_triangles_without_area(points):
    points = np.pad(np.array(points, dtype=float), ((0, 0), (0, 3 - len(points[0]))))
    assert np.abs(vector_areas(points)).max() < 1e-12


def prism(outline, depth=1.0, first=0):
    """Vertices and faces of an outline with a depth, as modellers write them: each cap is one face."""
    n = len(outline)
    vertices = [(x, y, z) for z in (0.0, depth) for x, y in outline]
    ring = [(first + k) % n for k in range(n)]
    sides = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    return vertices, [ring[::-1], [n + k for k in ring], *sides]


def write_obj(path, vertices, faces):
    lines = ["v " + " ".join(map(str, each)) for each in vertices]
    path.write_text("\n".join([*lines, *("f " + " ".join(str(k + 1) for k in face) for face in faces)]))


def write_ply(path, vertices, faces, kind="ascii"):
    header = f"ply\nformat {kind} 1.0\ncomment a prism\nelement vertex {len(vertices)}\nproperty float x\n"
    header += f"property float y\nproperty float z\nproperty uchar red\nelement face {len(faces)}\n"
    header += "property int material\nproperty list uchar int vertex_indices\nend_header\n"
    if kind == "ascii":
        rows = [" ".join(map(str, (*each, 9))) for each in vertices]
        path.write_text(header + "\n".join([*rows, *(" ".join(map(str, (7, len(f), *f))) for f in faces)]) + "\n")
        return
    order = "<" if "little" in kind else ">"
    rows = [struct.pack(f"{order}3fB", *each, 9) for each in vertices]
    rows += [struct.pack(f"{order}iB{len(face)}i", 7, len(face), *face) for face in faces]
    path.write_bytes(header.encode() + b"".join(rows))


@pytest.mark.parametrize("name", ["u", "l", "star", "comb", "lined"])
@pytest.mark.parametrize("kind", ["obj", "ascii", "binary_little_endian", "binary_big_endian"])
def test_prisms_with_concave_caps_are_closed_and_have_their_volume(tmp_path, name, kind):
    """V = A depth; the surface is 2 A + perimeter · depth."""
    outline = OUTLINES[name]
    perimeter = np.linalg.norm(np.diff([*outline, outline[0]], axis=0), axis=1).sum()
    for first in range(len(outline)):
        path = tmp_path / ("prism.obj" if kind == "obj" else "prism.ply")
        if kind == "obj":
            write_obj(path, *prism(outline, 0.7, first))
        else:
            write_ply(path, *prism(outline, 0.7, first), kind)
        mesh = load_mesh(path)
        assert mesh.areas.sum() == pytest.approx(2 * area(outline) + 0.7 * perimeter, rel=1e-6)  # numbers of 32 bits
        assert mesh.volume == pytest.approx(0.7 * area(outline), rel=1e-6)
        assert closed_surface(mesh).volume == pytest.approx(0.7 * area(outline), rel=1e-6)


def test_particles_fall_into_the_notch_of_a_u(tmp_path):
    """They rest on its floor at a height of 1, at 1 + r: if the caps were fans, some would stay above."""
    write_obj(tmp_path / "u.obj", *prism(U, 1.0, 2))
    shape = pbd.MeshCollider(load_mesh(tmp_path / "u.obj", up="y"), resolution=48)
    particles = pbd.Particles()
    particles.add_particles([(x, y, 2.3) for x in (1.2, 1.5, 1.8) for y in (-0.9, -0.5, -0.1)], radius=0.02)
    particles.add_collider(shape)
    system = pbd.ParticleSystem(particles, dt=1 / 240)
    system.step(240)
    assert system.positions()[:, 2] == pytest.approx(1.02, abs=3 / 48)  # the side of a cell of the distance field


def load_text(tmp_path, text, encoding="utf-8"):
    (tmp_path / "text.obj").write_bytes(text.encode(encoding))
    return load_mesh(tmp_path / "text.obj")


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize(
    "text",
    [
        TRIANGLE,
        TRIANGLE.replace(" ", "\t"),
        TRIANGLE.replace("\n", "\r\n"),
        TRIANGLE.replace("\n", "\r"),
        TRIANGLE.replace(" ", "   ").replace("\n", "  \n  "),
        "# grün \\\no grün\n" + TRIANGLE + "# the end",
        TRIANGLE.replace("f 1 2 3", "f 1 \\\n  2\\\n 3"),
        TRIANGLE.replace("f 1 2 3", "f 1/1/1 2//2 3"),
        TRIANGLE.replace("f 1 2 3", "f -3 -2 -1 # all of them"),
        TRIANGLE.replace("v 1 0 0", "v 1.e+0 0E0 -0 0.5 0.5 0.5"),
        "f 1 2 3\n" + TRIANGLE,
        "l 1 2\nvn 0 0 1\nvt 0 0\ns off\n" + TRIANGLE,
    ],
)
def test_obj_files_of_all_manners_hold_one_triangle(tmp_path, text, encoding):
    mesh = load_text(tmp_path, text, encoding)
    assert mesh.vertices[np.unique(mesh.triangles)].sum(axis=0) == pytest.approx([1, 1, 0])
    assert np.unique(mesh.areas) == pytest.approx([0.5])


def test_negative_indices_count_back_from_their_own_line(tmp_path):
    mesh = load_text(tmp_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nv 2 0 1\nv 0 2 1\nf -3 -2 -1\n")
    assert mesh.areas == pytest.approx([0.5, 2.0])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TRIANGLE + "f 1 2 9\n", "a face has vertex 9: expected 1 to 3"),
        ("v 0 0 0\nf -2 -1 -1\nv 1 0 0\n", r"'f -2 -1 -1': vertex -2 of 1"),
        (TRIANGLE + "f 0 1 2\n", r"'f 0 1 2': vertex 0 of 3"),
        (TRIANGLE + "f 1 2 x\n", "'f 1 2 x'"),
        (TRIANGLE + "v 1 2\n", "'v 1 2'"),
        (TRIANGLE + "v 1,5 2 3\n", "'v 1,5 2 3'"),
    ],
)
def test_a_wrong_line_of_an_obj_file_is_quoted(tmp_path, text, says):
    with pytest.raises(ValueError, match=f"cannot be read as OBJ.*{says}"):
        load_text(tmp_path, text)


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("kind", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_files_that_are_cut_off_are_refused(tmp_path, cut, kind):
    path = tmp_path / "cut.ply"
    write_ply(path, *prism(U), kind)
    path.write_bytes(path.read_bytes()[: int(cut * path.stat().st_size)])
    with pytest.raises(ValueError, match=r"cut.ply cannot be read as PLY: damaged or cut off"):
        load_mesh(path)
