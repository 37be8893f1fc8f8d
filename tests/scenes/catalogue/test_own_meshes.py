"""Meshes of the user in `drape` and `soft_body`: sizes, repair, thickness, and what the terminal says."""

import re

import numpy as np
import pytest
import trimesh
from marks import slow

import scenes
from pbd.build.mesh import signed_distance
from scenes.simulate.run import Run
from scenes.visuals.framing import framing_camera

SMALL = {"count": 24}


def egg(path, longest, hole=0):
    """Write an egg with its longest side along z. Args: longest: side [m]; hole: how many triangles it lacks."""
    ball = trimesh.creation.icosphere(2, 0.5)
    shape = trimesh.Trimesh(ball.vertices * (0.7, 0.5, 1.0) * longest, ball.faces[hole:], process=False)
    shape.export(path)
    return str(path)


def square(path, side, extra=()):
    """Write a square cloth of 12 x 12 vertices. Args: side [m]; extra: more triangles."""
    x, y = np.meshgrid(*2 * [np.linspace(-side / 2, side / 2, 12)])
    corner = np.arange(144).reshape(12, 12)
    a, b, c, d = (corner[k : k + 11, j : j + 11].ravel() for k, j in ((0, 0), (0, 1), (1, 0), (1, 1)))
    triangles = [*np.stack([a, b, c], 1), *np.stack([c, b, d], 1), *extra]
    trimesh.Trimesh(np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], 1), triangles, process=False).export(path)
    return str(path)


def collider_of(scene):
    return scene.particles.colliders[1].shape


def sizes_in(note):
    """The sizes that a note names, each as an array [m]."""
    return [np.array(found.split(" x "), float) for found in re.findall(r"[\d.e+-]+(?: x [\d.e+-]+)+(?= m\b)", note)]


@pytest.mark.parametrize("longest", [1e-3, 1e3])
def test_a_collider_of_another_size_is_fitted_and_the_note_has_both_sizes(tmp_path, longest):
    scene = scenes.load("drape", collider=egg(tmp_path / "egg.obj", longest), **SMALL)
    (note,) = scene.notes
    before, cloth, after = sizes_in(note)
    mesh = collider_of(scene).mesh
    shape = np.array((0.7, 0.5, 1.0))
    # Three digits in the note.
    assert before == pytest.approx(longest * shape, rel=5e-3)
    assert cloth == pytest.approx([1.9, 1.9])
    assert after == pytest.approx(np.ptp(mesh.vertices, axis=0), rel=5e-3)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx(0.65 * 1.9 * shape, rel=1e-12)
    assert mesh.vertices[:, 2].min() == pytest.approx(0, abs=1e-12)
    assert "fit=no" in note


def test_a_collider_of_the_size_of_the_cloth_keeps_it(tmp_path):
    scene = scenes.load("drape", collider=egg(tmp_path / "egg.obj", 1.2), **SMALL)
    assert scene.notes == ()
    assert np.ptp(collider_of(scene).mesh.vertices[:, 2]) == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("given", "height"), [slow({"fit": "no"}, 10), ({"scale": "0.5"}, 5), ({"fit": "yes", "scale": 2.0}, 2.47)]
)
def test_scale_and_fit_choose_the_size(tmp_path, given, height):
    scene = scenes.load("drape", collider=egg(tmp_path / "egg.obj", 10), **SMALL, **given)
    assert np.ptp(collider_of(scene).mesh.vertices[:, 2]) == pytest.approx(height)


def test_cloth_and_collider_in_the_same_wrong_unit_keep_their_ratio(tmp_path):
    given = {"collider": egg(tmp_path / "egg.obj", 1000), "cloth": square(tmp_path / "cloth.obj", 1500)}
    scene = scenes.load("drape", **given)
    mesh, positions = collider_of(scene).mesh, scene.particles.positions()
    assert np.ptp(positions[:, 0]) == pytest.approx(1.9)
    assert np.ptp(mesh.vertices[:, 2]) == pytest.approx(1.9 * 1000 / 1500)
    gap = scene.chosen["thickness"] / 2 + 0.03
    # Lowered until it is nearer than 1.01 gaps, but never nearer than one.
    assert 1 - 1e-9 < signed_distance(mesh, positions)[0].min() / gap < 1.01
    assert len(scene.notes) == 1


def test_a_soft_body_is_fitted_or_not(tmp_path):
    path = egg(tmp_path / "egg.obj", 40)
    fitted, kept = (scenes.load("soft_body", mesh=path, resolution=6, fit=fit) for fit in ("auto", "no"))
    assert np.ptp(fitted.particles.positions()[:, 2]) == pytest.approx(0.7, rel=0.05)  # the tetrahedra are coarse
    assert np.ptp(kept.particles.positions()[:, 2]) == pytest.approx(40, rel=0.05)
    assert sizes_in(fitted.notes[0])[2][2] == pytest.approx(0.7)


def test_open_meshes_are_closed_on_request(tmp_path):
    path = egg(tmp_path / "egg.obj", 1.0, hole=9)
    for name, key in (("drape", "collider"), ("soft_body", "mesh")):
        with pytest.raises(ValueError, match=r"open edges \(.*\): expected a closed surface; repair=yes closes it"):
            scenes.load(name, **{key: path})
        scene = scenes.load(name, **{key: path}, repair="yes")
        assert "open edges and is closed" in scene.notes[0]


def test_a_cloth_with_a_fin_is_repaired_on_request(tmp_path):
    path = square(tmp_path / "cloth.obj", 1.0, extra=[(13, 25, 60)])
    with pytest.raises(ValueError, match=r"edges of three or more \(1 too many\).*repair=yes leaves them out"):
        scenes.load("drape", cloth=path)
    scene = scenes.load("drape", cloth=path, repair="yes")
    assert len(scene.particles.triangles()) == 2 * 11**2
    assert "243 triangles became 242" in scene.notes[0]


def test_the_words_of_the_command_are_in_the_error(tmp_path):
    path = egg(tmp_path / "egg.obj", 1.0, hole=9)
    with pytest.raises(ValueError, match=r"with collider=\S*egg.obj, units=cm: collider egg.obj has"):
        scenes.load("drape", collider=path, units="cm")
    with pytest.raises(ValueError, match="fit is 'perhaps': expected one of 'auto', 'yes', 'no'"):
        scenes.load("drape", collider=path, fit="perhaps")
    with pytest.raises(ValueError, match="parameter scale of drape is 'big': expected a finite number"):
        scenes.load("drape", collider=path, scale="big")
    with pytest.raises(ValueError, match="scale is 0"):
        scenes.load("drape", collider=path, scale="0")


def test_thickness_follows_the_spacing_unless_it_is_given(tmp_path):
    for count in (20, 100, 150):
        scene = scenes.load("drape", count=count)
        assert scene.chosen["thickness"] == pytest.approx(5 / 6 * 1.9 / (count - 1), rel=5e-3)
    assert scenes.load("drape", **SMALL, thickness="0.01").particles.radii() == pytest.approx(0.005)
    assert scenes.load("drape").chosen["thickness"] == 0.016
    own = scenes.load("drape", cloth=square(tmp_path / "cloth.obj", 1.2))
    assert own.chosen["thickness"] == pytest.approx(5 / 6 * 1.2 / 12, rel=5e-3)


@pytest.mark.slow
def test_a_thickness_of_twice_the_distance_of_particles_is_the_most(tmp_path):
    distance = 1.9 / 49
    with pytest.raises(ValueError, match=r"thickness=0.1: thickness is 0.1 m: expected 0.0775 m at most"):
        scenes.load("drape", count=50, thickness=0.1)
    *_, last = Run(scenes.load("drape", count=50, thickness=1.99 * distance), duration=0.5, fps=2).frames()
    assert np.isfinite(last.positions).all()
    with pytest.raises(ValueError, match=r"thickness is 0.3 m: expected 0.2 m at most.*; 0.0833 m is usual"):
        scenes.load("drape", cloth=square(tmp_path / "cloth.obj", 1.2), thickness=0.3)


def test_a_resolution_that_would_do_is_in_the_words_of_the_command(tmp_path):
    # Two balls on a rod of 1/100 of the length. The rod counts from tetrahedra of about its size on.
    profile = [(0, -1), (0.8, -0.6), (1, 0), (0.8, 0.6), (0.05, 1), (0.05, 3), (0.8, 3.4), (1, 4), (0.8, 4.6), (0, 5)]
    path = tmp_path / "dumb-bell-of-a-user-with-a-long-name.obj"
    trimesh.creation.revolve(profile, sections=24).export(path)
    given = {"up": "y", "stiffness": 2e4, "repair": "yes", "units": "cm"}
    with pytest.raises(ValueError, match=r"resolution 8 is too coarse: .*in 2 pieces instead of 1: ") as caught:
        scenes.load("soft_body", mesh=path, resolution=8, **given)
    assert "..." not in str(caught.value).partition(": ")[2]
    found = re.search(r"expected (\d+)$", str(caught.value))
    assert scenes.load("soft_body", mesh=path, resolution=int(found[1]), **given).particles


@pytest.mark.parametrize("count", [10, 60, 100, 150, 200, 300])
def test_contacts_are_sought_before_particles_move_by_the_thickness(count):
    scene = scenes.load("drape", count=count, thickness=min(0.016, round(1.9 / count, 4)))
    settings = scene.settings["verlet"]
    assert settings["substeps"] % settings["contact_interval"] == 0
    way = 3.84 * settings["dt"] * settings["contact_interval"] / settings["substeps"]  # at the scene's highest speed
    assert way <= scene.chosen["thickness"] + 1e-12
    assert (settings["contact_interval"] == settings["substeps"] // 4) == (count <= 118)  # 1.9 / 118 is 0.0161


@pytest.mark.slow
@pytest.mark.parametrize("longest", [9.9, 1.2])
def test_the_camera_sees_the_start_and_the_end_fills_two_thirds_of_the_picture(tmp_path, longest):
    scene = scenes.load("drape", collider=egg(tmp_path / "egg.obj", longest), **SMALL)
    fills = []
    for frame in Run(scene, duration=1.5, fps=1 / 1.5).frames():
        camera = framing_camera(scene, frame, 16 / 9)
        points = np.concatenate([frame.positions, collider_of(scene).mesh.vertices])
        seen = camera.project(points, 16, 9) / (16, 9)
        assert seen.min() > 0
        assert seen.max() < 1
        fills.append(np.ptp(seen, axis=0).max())
    assert fills[-1] == pytest.approx(2 / 3, rel=0.1)  # where the folds hang is an estimate


@pytest.mark.slow
def test_notes_are_printed_unless_quiet(tmp_path, command):
    path = egg(tmp_path / "egg.obj", 100)
    words = "run", "drape", "--param", f"collider={path}", "--param", "count=5", "--duration", "0.02"
    status, _, errors = command(*words)
    assert status == 0
    assert errors.startswith("verletlab: note: collider egg.obj is 70 x 50 x 100 m, and the cloth 1.9 x 1.9 m: fitted")
    assert errors.count("\n") == 1
    assert command(*words, "--quiet")[2] == ""


@pytest.mark.slow
@pytest.mark.parametrize("cloth", [False, True])
def test_cloth_stays_outside_a_collider_of_any_size(tmp_path, cloth):
    parts = {"cloth": square(tmp_path / "cloth.obj", 1500)} if cloth else SMALL
    scene = scenes.load("drape", collider=egg(tmp_path / "egg.obj", 1000), **parts)
    *_, last = Run(scene, duration=0.8, fps=5).frames()
    mesh = collider_of(scene).mesh
    distance, _ = signed_distance(mesh, last.positions)
    # Half the thickness, but for half a diagonal of a grid cell, by which the collider's distance may be off at edges.
    assert distance.min() > scene.chosen["thickness"] / 2 - np.sqrt(3) / 2 * collider_of(scene).spacing
    assert (np.abs(last.positions - last.positions.mean(axis=0)).max(axis=0) > 0.1).all()  # it hangs, and is no crumple


@pytest.mark.slow
def test_cloth_lies_on_the_top_of_a_collider_of_a_kilometre(tmp_path):
    scene = scenes.load("drape", collider=egg(tmp_path / "egg.obj", 1000), fit="no", **SMALL)
    *_, last = Run(scene, duration=1.0, fps=1).frames()
    collider = collider_of(scene)
    assert np.ptp(collider.mesh.vertices[:, 2]) == pytest.approx(1000)
    assert scene.ground == pytest.approx(collider.mesh.vertices[:, 2].min())
    assert scene.notes[-1] == (
        "collider egg.obj acts within 7.6 m of the place where the cloth begins, with edges and corners rounded by "
        "up to 0.1 m"
    )
    # The facets of the egg are 18 degrees apart, so it is bent by less than that.
    side = 1.9 * np.cos(np.radians(18))
    assert (np.ptp(last.positions, axis=0)[:2] > side).all()
    # At an edge of that angle the interpolated distance is wrong by at most half a cell times the tangent of its half.
    error = collider.spacing * np.sqrt(3) / 2 * np.tan(np.radians(9))
    distance, radius = signed_distance(collider.mesh, last.positions)[0], scene.chosen["thickness"] / 2
    assert distance.min() > radius - error
    assert np.quantile(distance, 0.9) < radius + error  # it lies there, but for a corner that bounces


@pytest.mark.slow
def test_cloth_over_a_ring_begins_above_its_highest_point(tmp_path):
    path = tmp_path / "ring.obj"
    trimesh.creation.torus(5.0, 1.0, 48, 24).export(path)  # along z, with a hole of 8 m
    scene = scenes.load("drape", collider=str(path), fit="no", **SMALL)
    positions, mesh = scene.particles.positions(), collider_of(scene).mesh
    assert 0 < signed_distance(mesh, positions)[0].min() < 0.1
    middle = positions.mean(axis=0)
    highest = mesh.vertices[np.argmin(np.linalg.norm(mesh.vertices - middle, axis=1))]
    assert highest[2] == pytest.approx(mesh.vertices[:, 2].max(), abs=1e-6)
