"""Files .obj and .ply: what a scene shows at its last frame, or at each frame, read back by trimesh."""

import exported
import numpy as np
import pytest
import trimesh
from exported import FRAMES

import scenes
from scenes.render.video import is_sequence, number_name


def objects(path):
    """Objects of an .obj file: {name: vertices}."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("o "):
            found[line[2:]] = []
        elif line.startswith("v "):
            found[list(found)[-1]].append([float(word) for word in line.split()[1:4]])
    return {name: np.array(vertices) for name, vertices in found.items()}


def single(array):
    return np.asarray(array, dtype=np.float32)


@pytest.mark.parametrize("ending", [".obj", ".ply"])
def test_last_moment_has_the_positions_of_the_recording(everything, tmp_path, ending):
    path = tmp_path / f"x{ending}"
    assert scenes.export_mesh(everything.scene, path, everything.recording) == 1
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    mesh = trimesh.load(path, process=False, force="mesh")
    expected = everything.recording.positions[-1, everything.cloth]
    # .ply has single precision, .obj nine decimals
    expected, rounding = (single(expected), 0) if ending == ".ply" else (expected, 0.501e-9)
    np.testing.assert_allclose(mesh.vertices[: len(expected)], expected, rtol=0, atol=rounding)
    triangles = mesh.faces[: len(everything.sheet.triangles)]
    assert np.array_equal(everything.cloth[triangles], everything.sheet.triangles)


def test_objects_are_the_parts_of_the_scene(everything, tmp_path):
    scenes.export_mesh(everything.scene, tmp_path / "x.obj", everything.recording)
    found, recording = objects(tmp_path / "x.obj"), everything.recording
    assert list(found) == ["Cloth", "Stick", "Skin", "Particle", "Collider", "upper_arm", "upper_arm_2", "upper_arm_",
                           "Static"]  # fmt: skip
    skin = everything.skin.vertices(recording.positions[-1])
    np.testing.assert_allclose(found["Skin"], skin, rtol=0, atol=0.501e-9)
    middles = found["Particle"].reshape(3, -1, 3).mean(axis=1)
    np.testing.assert_allclose(middles, recording.positions[-1, everything.loose], atol=1e-7)
    for name, place in (("Collider", recording.poses[-1, 1]), ("upper_arm_", recording.body_poses[-1, 1])):
        np.testing.assert_allclose(found[name].mean(axis=0), place[:3], atol=1e-7)


def test_number_in_the_name_makes_a_file_of_each_frame(everything, tmp_path):
    out = tmp_path / "new" / "x-%03d.obj"
    assert scenes.export_mesh(everything.scene, out, everything.recording) == FRAMES
    files = sorted(out.parent.iterdir())
    assert [each.name for each in files] == [f"x-{k:03d}.obj" for k in range(1, FRAMES + 1)]
    for file, positions in zip(files, everything.recording.positions):
        np.testing.assert_allclose(objects(file)["Cloth"], positions[everything.cloth], rtol=0, atol=0.501e-9)


def test_numbers_in_names():
    for name, expected in (("x-%04d.obj", "x-0007.obj"), ("%d.ply", "7.ply"), ("a%12db.ply", "a           7b.ply")):
        assert is_sequence(name)
        assert number_name(name, 7) == expected
    assert not any(map(is_sequence, ("x.obj", "100%.obj", "x-%s.obj", "%d/x.obj", "x-%d.usdc")))


@pytest.mark.parametrize(("name", "left"), [("x-%d.ply", ["x-1.ply", "x-2.ply", "x-3.ply"]), ("x.ply", ["x.ply"])])
def test_interrupted_export_leaves_whole_files(everything, tmp_path, name, left):
    def progress(number, _count):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        scenes.export_mesh(everything.scene, tmp_path / name, everything.recording, progress=progress)
    assert caught.value.frames == len(left)
    assert sorted(each.name for each in tmp_path.iterdir()) == left
    mesh = trimesh.load(tmp_path / left[-1], process=False)
    assert np.array_equal(single(mesh.vertices[:20]), single(everything.recording.positions[2, everything.cloth]))


def test_what_cannot_be_written_is_refused(everything, tmp_path, command):
    for name, error, message in (
        ("x.stl", ValueError, "expected one of .obj, .ply"),
        ("none/none/x-%d.obj", FileNotFoundError, "there is no directory"),
        ("none/x.obj", FileNotFoundError, "there is no directory"),
    ):
        with pytest.raises(error, match=message):
            scenes.export_mesh(everything.scene, tmp_path / name, everything.recording)
    (tmp_path / "x.obj").mkdir()
    status, _, errors = command("render", "box", "--out", tmp_path / "x.obj")
    assert status == 2
    assert "is a directory" in " ".join(errors.split())
    everything = exported.scene_of_everything()
    everything.scene.visuals = []
    with pytest.raises(ValueError, match="draws nothing"):
        scenes.export_mesh(everything.scene, tmp_path / "y.obj", exported.recording_of(everything.scene))
    assert [each.name for each in tmp_path.iterdir()] == ["x.obj"]


def test_command_writes_a_sequence(hanging, command, tmp_path):
    words = ["render", hanging, "--duration", "0.1", "--out", tmp_path / "frames" / "cloth-%04d.ply"]
    status, out, _ = command(*words)
    assert status == 0
    assert "cloth-%04d.ply: 4 frames" in " ".join(out.split())
    assert len(list((tmp_path / "frames").iterdir())) == 4
