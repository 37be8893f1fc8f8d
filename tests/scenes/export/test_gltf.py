"""Files .glb: read by trimesh, by the specification's own layout, and by three.js in a browser."""

import json
import struct
import sys

import exported
import numpy as np
import pytest
import trimesh
from exported import FPS, FRAMES, Start

import scenes
from rigid.rotation import rotate
from scenes.export import export
from scenes.render.video import TooLong
from scenes.visuals import Surface
from scenes.visuals.colours import linear_light

pytest.importorskip("pygltflib", reason="no pygltflib: pip install 'verletlab[gltf]'")
from scenes.export import gltf


@pytest.fixture(scope="module")
def path(everything, tmp_path_factory):
    path = tmp_path_factory.mktemp("gltf") / "everything.glb"
    assert scenes.export_gltf(everything.scene, path, everything.recording) == FRAMES
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    return path


class Glb:
    """A .glb file, read as the specification says: a header, JSON, and a buffer."""

    def __init__(self, path):
        data = path.read_bytes()
        magic, version, length, size = struct.unpack("<4sIII", data[:16])
        assert (magic, version, length) == (b"glTF", 2, len(data))
        self.json, self.buffer = json.loads(data[20 : 20 + size]), data[28 + size :]
        self.nodes = {node["name"]: node for node in self.json["nodes"]}

    def array(self, number):
        """The values of an accessor."""
        accessor = self.json["accessors"][number]
        columns = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        dtype = {5126: np.float32, 5125: np.uint32}[accessor["componentType"]]
        start = self.json["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
        array = np.frombuffer(self.buffer, dtype, columns * accessor["count"], start).reshape(-1, columns)
        for bound, of in (("min", array.min), ("max", array.max)):
            assert bound not in accessor or np.array_equal(np.float32(accessor[bound]), of(axis=0))
        return array

    def primitive(self, name):
        """The one primitive of the mesh of a node."""
        (primitive,) = self.json["meshes"][self.nodes[name]["mesh"]]["primitives"]
        return primitive

    def track(self, name, path):
        """Times and values of the animation of a node; None if it has none."""
        for animation in self.json.get("animations", ()):
            for channel in animation["channels"]:
                target = channel["target"]
                if self.json["nodes"][target["node"]]["name"] == name and target["path"] == path:
                    sampler = animation["samplers"][channel["sampler"]]
                    return self.array(sampler["input"])[:, 0], self.array(sampler["output"])
        return None


def test_trimesh_reads_the_first_frame(everything, path):
    scene, recording = trimesh.load(path, process=False), everything.recording
    upright = np.linalg.inv(scene.graph.get("Scene")[0])  # back to z up
    np.testing.assert_allclose(upright[:3, :3] @ (0, 1, 0), (0, 0, 1), atol=1e-7)  # glTF has y up
    transform, name = scene.graph.get("Cloth")
    assert np.array_equal(scene.geometry[name].vertices, np.float32(recording.positions[0, everything.cloth]))
    assert len(scene.geometry[name].faces) == len(everything.sheet.triangles)
    np.testing.assert_allclose(upright @ transform, np.eye(4), atol=1e-7)
    for body, node in enumerate(("upper_arm", "upper_arm_")):
        pose, found = recording.body_poses[0, body], upright @ scene.graph.get(node)[0]
        np.testing.assert_allclose(found[:3, 3], pose[:3], atol=1e-6)
        np.testing.assert_allclose(found[:3, :3].T, rotate(pose[3:], np.eye(3)), atol=1e-6)
    for number, particle in enumerate(everything.loose):
        transform, name = scene.graph.get(f"Particle_{number}")
        np.testing.assert_allclose((upright @ transform)[:3, 3], recording.positions[0, particle], atol=1e-6)
        vertices = trimesh.transform_points(scene.geometry[name].vertices, transform)
        centre = transform[:3, 3]
        np.testing.assert_allclose(np.linalg.norm(vertices - centre, axis=1), 0.1 * (number + 1), rtol=1e-5)


def test_cloth_and_soft_body_have_a_morph_target_for_each_frame(everything, path):
    read, recording = Glb(path), everything.recording
    for name, expected in (
        ("Cloth", recording.positions[:, everything.cloth]),
        ("Skin", np.array([everything.skin.vertices(each) for each in recording.positions])),
    ):
        primitive = read.primitive(name)
        base = read.array(primitive["attributes"]["POSITION"])
        assert len(primitive["targets"]) == FRAMES - 1
        times, weights = read.track(name, "weights")
        np.testing.assert_allclose(times, np.arange(FRAMES) / FPS, rtol=1e-6)
        weights = weights.reshape(FRAMES, FRAMES - 1)
        targets = np.array([read.array(each["POSITION"]) for each in primitive["targets"]])
        for frame in range(FRAMES):  # a sum of two numbers in single precision, each rounded once
            found = base + np.tensordot(weights[frame], targets, 1)
            np.testing.assert_allclose(found, expected[frame], rtol=0, atol=2.0**-22 * np.abs(expected).max())
            normals = read.array(primitive["attributes"]["NORMAL"]) + sum(
                weight * read.array(each["NORMAL"]) for weight, each in zip(weights[frame], primitive["targets"])
            )
            np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)


def test_back_of_a_cloth_has_its_own_colour_and_both_sides_are_single(everything, path):
    read, visual = Glb(path), everything.scene.visuals[0]
    indices = []
    for name, colour in (("Cloth", visual.colour), ("Cloth_back", visual.back_colour)):
        primitive = read.primitive(name)
        material = read.json["materials"][primitive["material"]]
        assert not material.get("doubleSided", False)
        found = material["pbrMetallicRoughness"]["baseColorFactor"][:3]
        np.testing.assert_allclose(found, linear_light(colour), rtol=1e-6)
        indices.append(read.array(primitive["indices"]).reshape(-1, 3))
    assert np.array_equal(indices[0], indices[1][:, ::-1])
    normals = [read.array(read.primitive(name)["attributes"]["NORMAL"]) for name in ("Cloth", "Cloth_back")]
    np.testing.assert_allclose(normals[0], -normals[1], atol=0.03)  # see test_usd


def test_bodies_colliders_and_particles_are_animated_nodes(everything, path):
    read, recording = Glb(path), everything.recording
    tracks = {"upper_arm": recording.body_poses[:, 0], "upper_arm_": recording.body_poses[:, 1],
              "Collider": recording.poses[:, 1], "Particle_2": recording.positions[:, everything.loose[2]]}  # fmt: skip
    for name, expected in tracks.items():
        assert np.array_equal(read.track(name, "translation")[1], np.float32(expected[:, :3]))
        np.testing.assert_allclose(read.nodes[name]["translation"], expected[0, :3], rtol=1e-6)
    for name in ("upper_arm", "upper_arm_"):
        found = read.track(name, "rotation")[1][:, [3, 0, 1, 2]]
        np.testing.assert_allclose(np.abs(np.sum(found * tracks[name][:, 3:], axis=1)), 1, atol=1e-6)
        assert (np.sum(found[1:] * found[:-1], axis=1) >= 0).all()  # the shorter way
    for name in ("Static", "Floor", "Shape", "Camera", "Sun", "Scene"):
        assert all(read.track(name, of) is None for of in ("translation", "rotation", "scale", "weights"))
    assert read.json["extensionsUsed"] == ["KHR_lights_punctual"]


@pytest.mark.slow
def test_file_is_animated_in_a_browser_by_three(everything, path, tab, tmp_path):
    from scenes.render.page.replay import stopped_server

    server = stopped_server()
    serializer = server.get_scene_serializer()
    server.scene.add_glb("/model", path.read_bytes(), cast_shadow=False, receive_shadow=False)
    serializer.insert_sleep(0.1)
    (tmp_path / "page.html").write_text(serializer.as_html())
    tab.open((tmp_path / "page.html").as_uri())
    find = """name => { let found = null; const root = __viserMutable.nodeRefFromName['/model'];
        if (root) root.traverse(each => { if (each.name === name) found = each; }); if (!found) return false; """
    shapes = tab.evaluate(find + """const { position: targets } = found.geometry.morphAttributes;
        return { base: [...found.geometry.attributes.position.array], targets: targets.map(each => [...each.array]) };
    }""", "Cloth")  # fmt: skip
    base, targets = np.reshape(shapes["base"], (-1, 3)), np.array(shapes["targets"])
    found = np.array([base, *(base + each.reshape(-1, 3) for each in targets)])
    np.testing.assert_allclose(found, everything.recording.positions[:, everything.cloth], atol=1e-6)
    state = find + "return { weights: [...found.morphTargetInfluences ?? []], place: found.position.toArray() }; }"
    weights = []
    for _ in range(3):  # its mixer plays the animation over and over
        weights.append(tab.until(lambda: np.array(tab.evaluate(state, "Cloth")["weights"]),
                                 lambda now: not any(np.array_equal(now, each) for each in weights)))  # fmt: skip
        assert weights[-1].sum() <= 1 + 1e-6
    place = np.array(tab.evaluate(state, "upper_arm")["place"])
    way = everything.recording.body_poses[:, 0, :3]  # the node is between two positions of the recording
    ends, steps = way[:-1], np.diff(way, axis=0)
    along = np.clip(np.sum((place - ends) * steps, axis=1) / np.sum(steps**2, axis=1), 0, 1)
    assert np.linalg.norm(ends + along[:, None] * steps - place, axis=1).min() < 1e-5


def test_surface_at_rest_has_no_targets_and_one_that_vanishes_has_scale_zero(tmp_path):
    class Pausing:
        """A triangle that rests, jumps, rests, and vanishes."""

        def draw(self, frame):
            shift = 0.0 if frame.time < 0.5 else 1.0
            corners = np.array([(0, 0, shift), (1, 0, 0), (0, 1, 0)])
            return [Surface(corners, np.array([(0, 1, 2)]))] if frame.time < 0.9 else []

    source = Start(exported.scene_of_everything().scene, count=30)
    source.scene.visuals = [Pausing()]
    export.write_frames(source, tmp_path / "pause.glb")
    read = Glb(tmp_path / "pause.glb")
    assert len(read.primitive("Pausing")["targets"]) == 1
    assert np.array_equal(read.track("Pausing", "weights")[1][:, 0], np.arange(30) >= 13)
    assert np.array_equal(read.track("Pausing", "scale")[1], np.repeat(np.arange(30) < 23, 3).reshape(30, 3))


# Khronos's validator found normals and rotations that were not quite units in these scenes.
@pytest.mark.parametrize("name", ["four_bar", "dominoes", "mobile", "pendulum"])
def test_normals_and_rotations_are_units(name, tmp_path):
    export.write_frames(Start(scenes.load(name)), tmp_path / "x.glb")
    read = Glb(tmp_path / "x.glb")
    for mesh in read.json["meshes"]:
        attributes = mesh["primitives"][0]["attributes"]
        if "NORMAL" in attributes:
            np.testing.assert_allclose(np.linalg.norm(read.array(attributes["NORMAL"]), axis=1), 1, atol=1e-6)
    rotations = np.array([node["rotation"] for node in read.json["nodes"] if "rotation" in node])
    assert np.abs(rotations).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=1), 1, atol=1e-12)


def test_too_many_frames_are_refused_after_the_second(everything, tmp_path, monkeypatch):
    calls = []
    for name, most in (("MOST_FRAMES", FRAMES - 1), ("LIMIT", 1000)):
        with monkeypatch.context() as patch:
            patch.setattr(gltf, name, most)
            with pytest.raises(TooLong, match=r"6 frames of surfaces that deform.* or write \.usdc"):
                scenes.export_gltf(everything.scene, tmp_path / "x.glb", everything.recording,
                                   progress=lambda *now: calls.append(now))  # fmt: skip
    assert calls == [(1, FRAMES)] * 2
    assert not list(tmp_path.iterdir())


def test_bodies_may_have_more_frames(tmp_path):
    scene = scenes.load("dominoes")
    assert export.write_frames(Start(scene, gltf.MOST_FRAMES + 10), tmp_path / "x.glb") == gltf.MOST_FRAMES + 10


class Changing:
    """Three triangles, of which some are drawn at each frame. Args: drawn: a list of numbers for each frame."""

    def __init__(self, drawn):
        self.drawn = drawn

    def draw(self, frame):
        triangles = np.array([(0, 1, 2), (2, 1, 3), (3, 1, 0)])[self.drawn[round(frame.time * FPS)]]
        return [Surface(np.array([(0, 0, frame.time), (1, 0, 0), (0, 1, 0), (1, 1, 0)]), triangles)]


def test_torn_triangles_are_hidden_from_then_on(tmp_path):
    source = Start(exported.scene_of_everything().scene, count=4)
    source.scene.visuals = [Changing([[0, 1, 2], [0, 1, 2], [0, 2], [2]])]
    export.write_frames(source, tmp_path / "x.glb")
    read = Glb(tmp_path / "x.glb")
    shown = {"Changing_until_4": [(3, 1, 0)], "Changing_until_3": [(0, 1, 2)], "Changing_until_2": [(2, 1, 3)]}
    for number, (name, triangles) in enumerate(shown.items()):
        primitive = read.primitive(name)
        assert np.array_equal(read.array(primitive["indices"]).reshape(-1, 3), triangles)
        assert len(primitive["targets"]) == 3
        scale = read.track(name, "scale")
        assert (scale is None) == (number == 0)
        assert scale is None or np.array_equal(scale[1][:, 0], np.arange(4) < 4 - number)


def test_torn_rope_keeps_its_positions_and_hides_the_torn_rod(tmp_path):
    made = exported.scene_of_everything()
    recording = exported.recording_of(made.scene, FRAMES)
    sticks = made.scene.visuals[1].pairs
    tear = {"time": 3 / FPS, "kind": "tear", "world": 0, "members": sticks[2].tolist(), "position": [0.0, 0.0, 1.0]}
    recording.about["events"] = [tear]
    scenes.export_gltf(made.scene, tmp_path / "x.glb", recording)
    read = Glb(tmp_path / "x.glb")
    torn = read.primitive("Stick_until_3")
    corners = np.unique(read.array(torn["indices"]))
    for frame in range(FRAMES):  # the middle of a rod's vertices is the middle of its axis
        base, shift = read.array(torn["attributes"]["POSITION"]), 0
        if frame:
            shift = read.array(torn["targets"][frame - 1]["POSITION"])
        expected = recording.positions[frame, sticks[2]].mean(axis=0)
        np.testing.assert_allclose((base + shift)[corners].mean(axis=0), expected, atol=1e-6)
    assert np.array_equal(read.track("Stick_until_3", "scale")[1][:, 0], np.arange(FRAMES) < 3)
    whole = read.array(read.primitive(f"Stick_until_{FRAMES}")["indices"])
    assert len(whole) == (len(sticks) - 1) * 3 * (len(corners) * 2 - 4)


def test_events_until_the_last_frame_are_in_the_extras(tmp_path):
    source = Start(exported.scene_of_everything().scene, count=4)
    export.write_frames(source, tmp_path / "x.glb")
    assert json.loads(Glb(tmp_path / "x.glb").json["asset"]["extras"]["events"]) == source.events()[:4]


def test_new_triangles_are_refused(tmp_path):
    source = Start(exported.scene_of_everything().scene, count=4)
    source.scene.visuals = [Changing([[0, 1], [0, 1], [0, 2], [2]])]
    with pytest.raises(ValueError, match=r"at 0\.08 s triangles of a surface change.*expected \.usdc") as caught:
        export.write_frames(source, tmp_path / "x.glb")
    assert caught.value.frames == 2


def test_interrupted_export_holds_the_frames_so_far(everything, tmp_path):
    def progress(number, _count):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        scenes.export_gltf(everything.scene, tmp_path / "x.glb", everything.recording, progress=progress)
    assert caught.value.frames == 3
    assert len(Glb(tmp_path / "x.glb").track("upper_arm", "translation")[0]) == 3


def test_command_writes_a_recording(hanging, command, tmp_path):
    assert command("run", hanging, "--out", tmp_path / "x.npz", "--fps", "30", "--duration", "0.1")[0] == 0
    status, out, _ = command("render", "--recording", tmp_path / "x.npz", "--out", tmp_path / "x.glb")
    assert status == 0
    assert "x.glb: 4 frames" in " ".join(out.split())
    first = scenes.Recording.load(tmp_path / "x.npz").positions[0]
    assert np.array_equal(trimesh.load(tmp_path / "x.glb", process=False).geometry["Cloth"].vertices, np.float32(first))


def test_missing_library_is_named_before_the_run(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygltflib", None)
    status, _, errors = command("render", "box", "--out", tmp_path / "x.glb")
    assert status == 2
    assert "pygltflib is not installed: pip install 'verletlab[gltf]'" in " ".join(errors.split())
    assert not list(tmp_path.iterdir())
