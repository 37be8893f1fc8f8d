"""Meshes from files and other sources: what is read, and what is refused with which message."""

import numpy as np
import pytest
import trimesh

from pbd.build import Mesh, closed_surface, load_mesh, surface
from pbd.build.mesh import open_edges, sheet, signed_distance, welded

BOX = trimesh.creation.box((1, 2, 3))
BALL = trimesh.creation.icosphere(subdivisions=3)
BALL_VOLUME = float(BALL.volume)
FORMATS = ("obj", "ply", "stl", "glb")


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_welded_box(tmp_path, ending):
    path = tmp_path / f"box.{ending}"
    BOX.export(path)
    mesh = load_mesh(path, up="z")
    assert mesh.vertices.shape == (8, 3)
    assert mesh.triangles.shape == (12, 3)
    assert mesh.volume == pytest.approx(6)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([1, 2, 3])


def test_a_glb_file_has_y_up_by_default(tmp_path):
    BOX.export(tmp_path / "box.glb")
    assert np.ptp(load_mesh(tmp_path / "box.glb").vertices, axis=0) == pytest.approx([1, 3, 2])


def test_geometries_of_a_file_become_one_mesh(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(BOX)
    scene.add_geometry(BOX, transform=trimesh.transformations.translation_matrix((5, 0, 0)))
    scene.export(tmp_path / "two.glb")
    mesh = load_mesh(tmp_path / "two.glb", up="z")
    assert len(mesh.vertices) == 16
    assert mesh.volume == pytest.approx(12)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([6, 2, 3])


@pytest.mark.parametrize(
    ("units", "factor"), [("m", 1), ("cm", 0.01), ("mm", 0.001), ("in", 0.0254), ("ft", 0.3048), (7, 7)]
)
def test_units_scale_to_metres(tmp_path, units, factor):
    BOX.export(tmp_path / "box.obj")
    mesh = load_mesh(tmp_path / "box.obj", units=units)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx(factor * np.array([1, 2, 3]))


@pytest.mark.parametrize("up", ["x", "y", "z", "-x", "-y", "-z"])
def test_the_axis_that_points_up_becomes_z_by_a_rotation(tmp_path, up):
    # A long thin tetrahedron along the file's axis. A mirror image would have a negative volume.
    axis = "xyz".index(up[-1])
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    tip = np.zeros(3)
    tip[axis] = -9.0 if up[0] == "-" else 9.0
    corners = np.concatenate([corners, [tip]])
    hull = trimesh.convex.convex_hull(corners)
    hull.export(tmp_path / "tip.obj")
    mesh = load_mesh(tmp_path / "tip.obj", up=up)
    assert mesh.vertices[:, 2].max() == pytest.approx(9)
    assert mesh.volume == pytest.approx(hull.volume)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("content", ["noise", "text"])
def test_files_of_another_format_are_refused(tmp_path, ending, content):
    path = tmp_path / f"thing.{ending}"
    noise = np.random.default_rng(0).bytes(5000)
    path.write_bytes({"noise": noise, "text": b"hello\nthis is no mesh\n"}[content])
    with pytest.raises(ValueError, match=f"thing.{ending} (cannot be read as {ending.upper()}|holds no triangles)"):
        load_mesh(path)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("true_ending", FORMATS)
def test_files_that_are_not_what_their_name_says_are_named(tmp_path, ending, true_ending):
    BOX.export(tmp_path / f"box.{true_ending}")
    path = (tmp_path / f"box.{true_ending}").rename(tmp_path / f"thing.{ending}")
    if ending == true_ending:
        assert load_mesh(path).volume == pytest.approx(BOX.volume)
        return
    reason = f"cannot be read as {ending.upper()}: its contents look like {true_ending.upper()}"
    with pytest.raises(ValueError, match=f"thing.{ending} {reason}"):
        load_mesh(path)


@pytest.mark.parametrize("ending", FORMATS)
def test_empty_files_directories_and_clouds_of_points_are_refused(tmp_path, ending):
    (tmp_path / f"empty.{ending}").touch()
    with pytest.raises(ValueError, match=f"empty.{ending} is empty: expected a mesh"):
        load_mesh(tmp_path / f"empty.{ending}")
    (tmp_path / f"folder.{ending}").mkdir()
    with pytest.raises(IsADirectoryError, match=f"folder.{ending} is a directory: expected a mesh file"):
        load_mesh(tmp_path / f"folder.{ending}")
    if ending in ("ply", "obj"):
        trimesh.PointCloud(np.eye(3)).export(tmp_path / f"cloud.{ending}")
        with pytest.raises(ValueError, match=f"cloud.{ending} holds no triangles, but 3 points: expected a surface"):
            load_mesh(tmp_path / f"cloud.{ending}")


def test_damaged_files_are_refused(tmp_path):
    for ending in ("glb", "ply"):
        path = tmp_path / f"cut.{ending}"
        BOX.export(path)
        path.write_bytes(path.read_bytes()[:200])
        with pytest.raises(ValueError, match=f"cut.{ending} cannot be read as {ending.upper()}: damaged or cut off"):
            load_mesh(path)


def test_a_name_in_an_old_encoding_does_not_stop_a_file(tmp_path):
    text = "o Würfel\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (tmp_path / "old.obj").write_bytes(text.encode("latin-1"))
    assert len(load_mesh(tmp_path / "old.obj").triangles) == 1


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n", "vertices is nan at index"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "cannot be read as OBJ"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "holds no triangles"),
    ],
)
def test_files_with_wrong_numbers_are_refused(tmp_path, body, says):
    (tmp_path / "wrong.obj").write_text(body)
    with pytest.raises(ValueError, match=says):
        load_mesh(tmp_path / "wrong.obj")


def test_unknown_files_formats_units_and_axes_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no mesh file .*lost.obj"):
        load_mesh(tmp_path / "lost.obj")
    with pytest.raises(ValueError, match=r"'.objj'.*did you mean '.obj'"):
        load_mesh(tmp_path / "typo.objj")
    with pytest.raises(ValueError, match=r"unit is 'inch'.*did you mean 'in'"):
        load_mesh(tmp_path / "lost.obj", units="inch")
    with pytest.raises(ValueError, match=r"up axis is 'Y'.*expected one of 'z'"):
        load_mesh(tmp_path / "lost.obj", up="Y")
    with pytest.raises(ValueError, match="units is 0: expected a number above zero"):
        load_mesh(tmp_path / "lost.obj", units=0)


def test_a_surface_is_made_of_every_kind_of_mesh(tmp_path):
    BOX.export(tmp_path / "box.ply")
    given = Mesh(BOX.vertices, BOX.faces)
    for mesh in (given, BOX, (BOX.vertices, BOX.faces), tmp_path / "box.ply", str(tmp_path / "box.ply")):
        assert surface(mesh).volume == pytest.approx(6)
    with pytest.raises(TypeError, match=r"mesh is 3: expected a Mesh, \(vertices, triangles\)"):
        surface(3)


@pytest.mark.parametrize(
    ("vertices", "triangles", "error", "says"),
    [
        ([(0, 0, 0), (1, 0, np.nan), (0, 1, 0)], [(0, 1, 2)], ValueError, "nan"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)], IndexError, "holds 3: there are 3 vertices, 0 to 2"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, -1)], IndexError, "holds -1"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], ValueError, "without triangles"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1)], ValueError, r"shape \(1, 2\)"),
        ([(0, 0), (1, 0), (0, 1)], [(0, 1, 2)], ValueError, r"shape \(3, 2\): expected \(any, 3\)"),
    ],
)
def test_invalid_meshes_are_refused(vertices, triangles, error, says):
    with pytest.raises(error, match=says):
        Mesh(vertices, triangles)


def test_welding_joins_coinciding_vertices_and_drops_collapsed_triangles():
    vertices = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, -0.0), (9, 9, 9), (1, 1, 0)]
    mesh = welded(Mesh(vertices, [(0, 1, 2), (3, 5, 2), (0, 3, 1)]))
    assert len(mesh.vertices) == 4  # the double triangle and the unused vertex are removed
    assert len(mesh.triangles) == 2


def test_a_closed_surface_is_turned_outwards_triangle_by_triangle():
    assert closed_surface(BALL).volume == pytest.approx(BALL_VOLUME)
    assert closed_surface((BALL.vertices, BALL.faces[:, ::-1])).volume == pytest.approx(BALL_VOLUME)
    mixed = BALL.faces.copy()
    mixed[::3] = mixed[::3, ::-1]
    assert closed_surface((BALL.vertices, mixed)).volume == pytest.approx(BALL_VOLUME)


@pytest.mark.parametrize("flip", [1, -1])
def test_a_cavity_keeps_its_orientation_and_a_part_outside_is_turned(flip):
    small = 0.5 * BALL.vertices
    shell = np.concatenate([BALL.vertices, small]), np.concatenate([BALL.faces, BALL.faces[:, ::-1] + len(small)])
    hollow = closed_surface((shell[0], shell[1][:, ::flip]))
    assert hollow.volume == pytest.approx(BALL_VOLUME * (1 - 1 / 8))
    apart = closed_surface((np.concatenate([BALL.vertices, small + 5]), shell[1]))
    assert apart.volume == pytest.approx(BALL_VOLUME * (1 + 1 / 8))


def test_holes_are_counted_and_closed_by_repair():
    open_ball = BALL.vertices, np.delete(BALL.faces, [5, 6, 7, 300], axis=0)
    edges = len(trimesh.grouping.group_rows(np.sort(trimesh.geometry.faces_to_edges(open_ball[1]), axis=1), 1))
    with pytest.raises(ValueError, match=f"mesh has {edges} open edges.*repair=True"):
        closed_surface(open_ball)
    mended = closed_surface(open_ball, repair=True)
    assert trimesh.Trimesh(mended.vertices, mended.triangles).is_watertight
    # Four of 1,280 triangles become flat lids, so the volume changes by less than their share.
    assert mended.volume == pytest.approx(BALL_VOLUME, rel=4 / 1280)


def test_holes_that_repair_cannot_close_are_refused():
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    turn = angle / 2  # a Möbius strip, whose triangles have no orientation that all share
    across = np.stack([np.cos(angle) * np.cos(turn), np.sin(angle) * np.cos(turn), np.sin(turn)], axis=1)
    middle = 3 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    left, right = [*range(12), 12], [*range(12, 24), 0]  # after one turn the borders change places
    rows = zip(left, right, left[1:], right[1:])
    triangles = [triangle for a, b, c, d in rows for triangle in ((a, b, c), (b, d, c))]
    with pytest.raises(ValueError, match=r"open edges.*repair did not close"):
        closed_surface((np.concatenate([middle - across, middle + across]), triangles), True)


def test_a_flat_surface_has_no_inside():
    with pytest.raises(ValueError, match="expected a body with an inside"):
        closed_surface(([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 1)]))


def test_signed_distance_of_a_box_to_round_off():
    """d = |max(|x| - half, 0)| outside, max(|x| - half) inside."""
    points = np.random.default_rng(1).uniform(-2.5, 2.5, (2000, 3))
    beyond = np.abs(points) - np.array([0.5, 1, 1.5])
    exact = np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)
    distance, nearest = signed_distance(closed_surface(BOX), points)
    assert distance == pytest.approx(exact, abs=1e-12)
    assert np.linalg.norm(points - nearest, axis=1) == pytest.approx(np.abs(exact), abs=1e-12)


def test_overlapping_parts_have_one_inside():
    shifted = BOX.vertices + np.array([0.5, 0, 0])
    both = closed_surface((np.concatenate([BOX.vertices, shifted]), np.concatenate([BOX.faces, BOX.faces + 8])))
    assert (signed_distance(both, [(0.25, 0, 0), (-0.25, 0, 0), (0.75, 0, 0)])[0] < 0).all()
    assert signed_distance(both, [(1.2, 0, 0)])[0] == pytest.approx([0.2])


def test_repair_leaves_out_fins_and_inner_walls():
    box = trimesh.creation.box((1, 1, 1))
    fin = np.concatenate([box.vertices, [(2, 2, 0)]]), np.concatenate([box.faces, [(6, 7, 8)]])
    assert len(open_edges(welded(Mesh(*fin)).triangles)) == 3
    assert closed_surface(fin, repair=True).volume == pytest.approx(1)
    # Two boxes with one wall between them: without it they are one box.
    left, right = box.vertices - (0.5, 0, 0), box.vertices + (0.5, 0, 0)
    outer = box.faces[~(box.vertices[box.faces][:, :, 0] < 0).all(axis=1)]
    walled = np.concatenate([left, right]), np.concatenate([box.faces, outer + 8])
    with pytest.raises(ValueError, match="4 open edges"):
        closed_surface(walled)
    mended = closed_surface(walled, repair=True)
    assert (len(mended.triangles), mended.volume) == (20, pytest.approx(2))


def test_holes_that_touch_at_a_vertex_are_closed():
    fan = np.flatnonzero((BALL.faces == BALL.faces[0, 0]).any(axis=1))  # around one vertex
    mended = closed_surface((BALL.vertices, np.delete(BALL.faces, fan[[0, 3]], axis=0)), repair=True)
    assert mended.volume == pytest.approx(BALL_VOLUME)  # each hole is one triangle, and is filled by it


def test_a_sheet_has_no_fins_and_no_flat_triangles():
    vertices = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0.5, 0.5, 1), (0.5, 0, 0)]
    mesh = sheet(Mesh(vertices, [(0, 1, 2), (2, 1, 3), (1, 2, 4), (0, 5, 1)]))
    assert len(mesh.triangles) == 2
