"""USD files: every position of a recording in single precision, valid stages, interrupted exports."""

import json
import os
import sys
import zipfile

import exported
import numpy as np
import pytest
from exported import FPS, FRAMES, Start
from marks import cases

import scenes
from rigid.rotation import rotate
from scenes.export import export, pieces
from scenes.scene import Scene
from scenes.visuals import BodyVisual, Camera, FollowingCamera, StaticVisual, StickVisual, Surface, tubes
from scenes.visuals.colours import linear_light

pytest.importorskip("pxr", reason="no usd-core: pip install 'verletlab[usd]'")
from pxr import Gf, Usd, UsdGeom, UsdLux, UsdShade, UsdValidation

from scenes.export import usd


@pytest.fixture(scope="module", params=[".usdc", ".usda", ".usd", ".usdz"])
def stage(everything, tmp_path_factory, request):
    path = tmp_path_factory.mktemp("usd") / f"everything{request.param}"
    assert scenes.export_usd(everything.scene, path, everything.recording) == FRAMES
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    return Usd.Stage.Open(str(path))


def attribute(stage, path, name, code):
    """The value of an attribute of /Scene/PATH at a time code, as an array."""
    return np.array(stage.GetPrimAtPath(f"/Scene/{path}").GetAttribute(name).Get(code))


def world(stage, path, code, points):
    """Points (n, 3) of the frame of /Scene/PATH in the world at a time code."""
    matrix = UsdGeom.Xformable(stage.GetPrimAtPath(f"/Scene/{path}")).ComputeLocalToWorldTransform(code)
    return np.array([matrix.Transform(Gf.Vec3d(*map(float, point))) for point in points])


def single(array):
    return np.asarray(array, dtype=np.float32)


def errors_of(stage):
    """Messages of all validators of USD, which are those of the program usdchecker."""
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    return [error.GetMessage() for error in context.Validate(stage)]


def test_stage_has_metres_z_up_and_a_time_code_for_each_frame(stage):
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == FPS
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, FRAMES - 1.0)
    assert stage.GetPrimAtPath("/Scene/Cloth").GetAttribute("points").GetTimeSamples() == list(range(FRAMES))
    assert stage.GetDefaultPrim().GetPath() == "/Scene"


def test_cloth_has_the_positions_and_velocities_of_the_recording(everything, stage):
    mesh, recording = UsdGeom.Mesh.Get(stage, "/Scene/Cloth"), everything.recording
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    assert np.array_equal(everything.cloth[corners], everything.sheet.triangles)
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert not mesh.GetDoubleSidedAttr().Get()
    for code in range(FRAMES):
        points, velocities = (attribute(stage, "Cloth", name, code) for name in ("points", "velocities"))
        assert np.array_equal(points, single(recording.positions[code, everything.cloth]))
        assert np.array_equal(velocities, single(recording.velocities[code, everything.cloth]))
        extent = attribute(stage, "Cloth", "extent", code)
        assert np.array_equal(extent, [points.min(axis=0), points.max(axis=0)])
        normals = attribute(stage, "Cloth", "normals", code)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)


def test_back_of_a_cloth_is_a_mesh_of_its_own_behind_it(everything, stage):
    front, back = (UsdGeom.Mesh.Get(stage, f"/Scene/Cloth{suffix}") for suffix in ("", "_back"))
    assert not back.GetDoubleSidedAttr().Get()
    corners = [np.array(each.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3) for each in (front, back)]
    assert np.array_equal(corners[1], corners[0][:, ::-1])
    visual = everything.scene.visuals[0]
    for mesh, colour in ((front, visual.colour), (back, visual.back_colour)):
        np.testing.assert_allclose(mesh.GetDisplayColorAttr().Get()[0], linear_light(colour), rtol=1e-6)
    for code in range(FRAMES):
        points, normals = (attribute(stage, "Cloth", name, code) for name in ("points", "normals"))
        shift = attribute(stage, "Cloth_back", "points", code) - points
        edge = np.linalg.norm(points[corners[0][:, 1]] - points[corners[0][:, 0]], axis=1).mean()
        np.testing.assert_allclose(shift, -0.01 * edge * normals, atol=1e-6)
        # A shift by a hundredth of an edge, along normals that differ by at most a right angle, turns triangles little.
        np.testing.assert_allclose(attribute(stage, "Cloth_back", "normals", code), -normals, atol=0.03)


def test_soft_body_has_its_skin(everything, stage):
    for code in range(FRAMES):
        for name, of in (("points", "positions"), ("velocities", "velocities")):
            expected = everything.skin.vertices(getattr(everything.recording, of)[code])
            assert np.array_equal(attribute(stage, "Skin", name, code), single(expected))


def test_rope_is_one_curve_with_its_particles(everything, stage):
    curves = UsdGeom.BasisCurves.Get(stage, "/Scene/Stick")
    assert list(curves.GetCurveVertexCountsAttr().Get()) == [len(everything.rope)]
    assert curves.GetTypeAttr().Get() == "linear"
    np.testing.assert_allclose(curves.GetWidthsAttr().Get(), 0.04, rtol=1e-6)
    for code in range(FRAMES):
        expected = single(everything.recording.positions[code, everything.rope])
        assert np.array_equal(attribute(stage, "Stick", "points", code), expected)


def test_particles_are_points(everything, stage):
    for code in range(FRAMES):
        for name, of in (("points", "positions"), ("velocities", "velocities")):
            expected = getattr(everything.recording, of)[code, everything.loose]
            assert np.array_equal(attribute(stage, "Particle", name, code), single(expected))
    np.testing.assert_allclose(attribute(stage, "Particle", "widths", 0), [0.2, 0.4, 0.6], rtol=1e-6)
    assert UsdGeom.Points.Get(stage, "/Scene/Particle").GetDisplayColorPrimvar().GetInterpolation() == "vertex"


def test_bodies_are_transforms_with_static_meshes(everything, stage):
    recording, scene = everything.recording, everything.scene
    names = [prim.GetName() for prim in stage.GetPrimAtPath("/Scene/Bodies").GetChildren()]
    assert names == ["upper_arm", "upper_arm_"]
    visual = BodyVisual(scene.model)
    for code in range(FRAMES):
        poses = recording.body_poses[code]
        for name, pose in zip(names, poses):
            np.testing.assert_allclose(world(stage, f"Bodies/{name}", code, np.eye(3)),
                                       pose[:3] + rotate(pose[3:], np.eye(3)), atol=1e-12)  # fmt: skip
        paths = ["Bodies/upper_arm/Shape", "Bodies/upper_arm/Shape_2", "Bodies/upper_arm_/Shape"]
        drawn = [each for each in visual.draw_bodies(poses)]
        for path, instances in zip(paths, drawn):
            points = attribute(stage, path, "points", code)
            expected = instances.positions[0] + rotate(instances.rotations[0], instances.surface.vertices)
            np.testing.assert_allclose(world(stage, path, code, points), expected, atol=1e-6)
            mesh = stage.GetPrimAtPath(f"/Scene/{path}")
            assert not any(each.ValueMightBeTimeVarying() for each in mesh.GetAttributes())


def test_collider_moves_and_a_static_surface_has_no_samples(everything, stage):
    for code in range(FRAMES):
        np.testing.assert_allclose(world(stage, "Collider", code, np.zeros((1, 3)))[0],
                                   everything.recording.poses[code, 1, :3], atol=1e-12)  # fmt: skip
    for name in ("Static", "Floor"):
        prim = stage.GetPrimAtPath(f"/Scene/{name}")
        assert not any(each.ValueMightBeTimeVarying() for each in prim.GetAttributes())
    assert np.array_equal(attribute(stage, "Static", "points", 3), [(0, 0, 0), (1, 0, 0), (0, 0, 2)])


def test_colours_are_preview_surfaces_in_linear_light(stage):
    prim = stage.GetPrimAtPath("/Scene/Static")
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    shader = UsdShade.Shader(stage.GetPrimAtPath(f"{material.GetPath()}/Surface"))
    assert shader.GetIdAttr().Get() == "UsdPreviewSurface"
    expected = [((c + 0.055) / 1.055) ** 2.4 for c in exported.GREEN]  # IEC 61966-2-1
    np.testing.assert_allclose(shader.GetInput("diffuseColor").Get(), expected, rtol=1e-6)
    np.testing.assert_allclose(UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()[0], expected, rtol=1e-6)


def test_camera_sees_what_the_camera_of_the_scene_sees(everything, stage):
    camera, ours = UsdGeom.Camera.Get(stage, "/Scene/Camera").GetCamera(0), everything.scene.camera
    point = np.array([1.3, 0.4, 0.2])
    seen = camera.frustum.ComputeViewMatrix() * camera.frustum.ComputeProjectionMatrix()
    column, row = np.array(seen.Transform(Gf.Vec3d(*point)))[:2] * (0.5, -0.5) + 0.5
    np.testing.assert_allclose((column, row), ours.project(point, 16, 9) / (16, 9), rtol=1e-5)
    assert camera.horizontalAperture == pytest.approx(0.36)  # tenths of a metre


def test_sun_shines_from_where_that_of_pictures_does(stage):
    sun = UsdLux.DistantLight.Get(stage, "/Scene/Lights/Sun").ComputeLocalToWorldTransform(0)
    np.testing.assert_allclose(sun.TransformDir(Gf.Vec3d(0, 0, 1)) * np.linalg.norm((-0.6, -0.35, 0.75)),
                               (-0.6, -0.35, 0.75), atol=1e-12)  # fmt: skip
    assert sun.GetDeterminant() == pytest.approx(1)


def test_validators_find_no_error(stage):
    assert errors_of(stage) == []


def test_validators_find_errors_in_a_stage_that_has_some(everything, tmp_path):
    scenes.export_usd(everything.scene, tmp_path / "bad.usda", everything.recording)
    text = (tmp_path / "bad.usda").read_text()
    for wrong in (text.replace('upAxis = "Z"', ""), text.replace('info:id = "UsdPreviewSurface"', 'info:id = "none"')):
        (tmp_path / "bad.usda").write_text(wrong)
        stage = Usd.Stage.Open(str(tmp_path / "bad.usda"))
        stage.Reload()
        assert errors_of(stage)


# Every scene of the catalogue, without a solver.
@pytest.mark.parametrize("name", cases(scenes.available(), slow=("ragdoll_pile", "ragdoll_stairs", "terrain")))
def test_scene_of_the_catalogue_becomes_a_valid_stage(name, tmp_path):
    path = tmp_path / f"{name}.usdc"
    assert export.write_frames(Start(scenes.load(name)), path) == 2
    assert errors_of(Usd.Stage.Open(str(path))) == []


def test_rods_that_follow_one_another_are_one_curve():
    points = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)], float)
    rods = StickVisual(np.array([(0, 1), (1, 2), (3, 4)]), [1.0, 2.0, 3.0]).draw(Start.frame_of(points))[0]
    axes, radii, counts = rods.curves()
    assert np.array_equal(axes, points)
    assert list(counts) == [3, 2]
    assert list(radii) == [1.0, 1.5, 2.0, 3.0, 3.0]
    whole = np.array([True, True, False, True])
    axes, radii, counts = tubes(points[:4], points[1:], 1.0, joined=np.ones(3, bool)).only(whole).curves()
    assert np.array_equal(axes, points)
    assert list(counts) == [3, 2]
    assert [len(each) for each in tubes(points[:2], points[1:3], 1.0).curves()] == [4, 4, 2]  # not known to be joined
    assert [len(each) for each in tubes(points[:0], points[:0], 1.0).curves()] == [0, 0, 0]


def test_frames_per_second_choose_frames_and_the_last_has_its_true_time(everything, tmp_path):
    path = tmp_path / "few.usdc"
    assert scenes.export_usd(everything.scene, path, everything.recording, fps=FPS / 2) == 4  # 0, 2, 4 and the last
    stage = Usd.Stage.Open(str(path))
    assert stage.GetTimeCodesPerSecond() == FPS / 2
    assert stage.GetPrimAtPath("/Scene/Cloth").GetAttribute("points").GetTimeSamples() == [0, 1, 2, 2.5]
    expected = single(everything.recording.positions[5, everything.cloth])
    assert np.array_equal(attribute(stage, "Cloth", "points", 2.5), expected)


def test_memory_limit_changes_no_value(everything, tmp_path, monkeypatch):
    texts = []
    for limit in (usd.MEMORY_LIMIT, 0):
        monkeypatch.setattr(usd, "MEMORY_LIMIT", limit)
        path = tmp_path / f"{limit}.usdc"
        scenes.export_usd(everything.scene, path, everything.recording)
        stage = Usd.Stage.Open(str(path))
        texts.append(stage.GetRootLayer().ExportToString())
    assert texts[0] == texts[1]


def test_values_that_rest_between_motions_have_few_samples(tmp_path):
    class Pausing:
        """A triangle that rests, jumps, rests and vanishes."""

        def draw(self, frame):
            shift = 0.0 if frame.time < 0.5 else 1.0
            corners = np.array([(0, 0, shift), (1, 0, 0), (0, 1, 0)])
            surface = Surface(corners, np.array([(0, 1, 2)]))
            return [surface] if frame.time < 0.9 else []

    class Late:
        """A rod that appears at 0.9 s."""

        def draw(self, frame):
            return [tubes([(0, 0, 0)], [(0, 0, 1)], 0.1)] if frame.time > 0.9 else []

    source = Start(exported.scene_of_everything().scene, count=30)
    source.scene.visuals = [Pausing(), Late(), StaticVisual([tubes([(0, 0, 0)], [(0, 0, 1)], 0.1)])]
    export.write_frames(source, tmp_path / "pause.usda")
    stage = Usd.Stage.Open(str(tmp_path / "pause.usda"))
    points = stage.GetPrimAtPath("/Scene/Pausing").GetAttribute("points")
    assert points.GetTimeSamples() == [12, 13]  # 0.48 and 0.52 s
    heights = [points.Get(code)[0][2] for code in range(23)]
    assert heights == [0.0] * 13 + [1.0] * 10
    for name, expected in (("Pausing", [True, True, False, False]), ("Late", [False, False, True, True]),
                           ("Static", [True] * 4)):  # fmt: skip
        shown = UsdGeom.Imageable(stage.GetPrimAtPath(f"/Scene/{name}"))
        assert [shown.ComputeVisibility(code) != "invisible" for code in (0, 22, 23, 29)] == expected
    assert errors_of(stage) == []


def test_following_camera_has_samples(tmp_path):
    made = exported.scene_of_everything()
    recording = exported.recording_of(made.scene)
    made.scene.camera = FollowingCamera(1, Camera((0, -5, 1), (0, 0, 1)))
    scenes.export_usd(made.scene, tmp_path / "x.usdc", recording)
    stage = Usd.Stage.Open(str(tmp_path / "x.usdc"))
    for code in range(FRAMES):
        x, y, _ = recording.body_poses[code, 1, :3]
        np.testing.assert_allclose(world(stage, "Camera", code, np.zeros((1, 3)))[0], (x, y - 5, 1), atol=1e-12)


def test_interrupted_export_holds_the_frames_so_far(everything, tmp_path):
    def progress(number, count):
        assert count == FRAMES
        if number == 3:
            raise KeyboardInterrupt

    path = tmp_path / "x.usdc"
    with pytest.raises(KeyboardInterrupt) as caught:
        scenes.export_usd(everything.scene, path, everything.recording, progress=progress)
    assert caught.value.frames == 3
    stage = Usd.Stage.Open(str(path))
    assert stage.GetEndTimeCode() == 2.0
    assert np.array_equal(attribute(stage, "Cloth", "points", 2), single(everything.recording.positions[2, :20]))
    assert errors_of(stage) == []


def test_interrupted_package_holds_the_frames_so_far(everything, tmp_path):
    def progress(number, _count):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scenes.export_usd(everything.scene, tmp_path / "x.usdz", everything.recording, progress=progress)
    assert [each.name for each in tmp_path.iterdir()] == ["x.usdz"]
    assert zipfile.ZipFile(tmp_path / "x.usdz").namelist() == ["scene.usdc"]
    assert Usd.Stage.Open(str(tmp_path / "x.usdz")).GetEndTimeCode() == 2.0


@pytest.mark.parametrize("number", [0, 3])
def test_failed_export_leaves_the_old_file(everything, tmp_path, monkeypatch, number):
    # Frame 0 fails before anything is written; after frame 3 nothing can be saved any more.
    path = tmp_path / "x.usdc"
    path.write_text("old")

    def pieces_of(scene, frame, backs, ordinary=pieces.pieces_of):
        if frame.time >= number / FPS:
            raise ValueError("it diverges")
        return ordinary(scene, frame, backs)

    monkeypatch.setattr(usd, "pieces_of", pieces_of)
    if number:
        def save(self):
            raise OSError("the disk is full")
        monkeypatch.setattr(usd.UsdWriter, "save", save)
    with pytest.raises(OSError if number else ValueError, match="the disk is full" if number else "it diverges"):
        scenes.export_usd(everything.scene, path, everything.recording)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.usdc"]


def test_run_that_leaves_single_precision_holds_the_frames_before(leap, tmp_path):
    with pytest.raises(ValueError, match=r"at 0\.533333 s the scene cannot be drawn") as caught:
        scenes.export_usd(scenes.load(leap, far=1e37), tmp_path / "leap.usdc")
    assert caught.value.frames == 16  # 0, 1/30 s, ..., 0.5 s
    assert Usd.Stage.Open(str(tmp_path / "leap.usdc")).GetEndTimeCode() == 15.0


def test_paths_that_cannot_be_written_are_refused(everything, tmp_path):
    (tmp_path / "folder.usdc").mkdir()
    for name, error, message in (
        ("x.obj", ValueError, "suffix '.obj': expected one of .usdc, .usda, .usd, .usdz"),
        ("none/x.usdc", FileNotFoundError, "there is no directory"),
        ("folder.usdc", IsADirectoryError, "is a directory"),
    ):
        with pytest.raises(error, match=message):
            scenes.export_usd(everything.scene, tmp_path / name, everything.recording)
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match="not writable"):
            scenes.export_usd(everything.scene, tmp_path / "x.usdc", everything.recording)
    with pytest.raises(TypeError, match=r"expected a scenes\.Recording"):
        scenes.export_usd(everything.scene, tmp_path / "x.usdc", "box.npz")


def test_command_writes_a_run_and_a_recording(hanging, command, tmp_path):
    words = ["--duration", "0.1", "--quiet"]
    assert command("run", hanging, "--out", tmp_path / "x.npz", "--fps", "30", *words)[0] == 0
    assert command("render", hanging, "--out", tmp_path / "run.usda", *words)[0] == 0
    status, out, _ = command("render", "--recording", tmp_path / "x.npz", "--out", tmp_path / "replay.usda")
    assert status == 0
    assert "replay.usda: 4 frames, 0.3 MB" in " ".join(out.split())
    assert (tmp_path / "run.usda").read_text() == (tmp_path / "replay.usda").read_text()
    stage, recording = Usd.Stage.Open(str(tmp_path / "run.usda")), scenes.Recording.load(tmp_path / "x.npz")
    for code in range(4):
        assert np.array_equal(attribute(stage, "Cloth", "points", code), single(recording.positions[code]))


def test_command_refuses_flags_of_pictures(command, tmp_path):
    status, _, errors = command("render", "box", "--out", tmp_path / "x.usdc", "--size", "64x36")
    assert status == 2
    assert "--size cannot be used with" in errors
    assert not list(tmp_path.iterdir())


def test_missing_library_is_named_before_the_run(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    status, _, errors = command("render", "box", "--out", tmp_path / "x.usdc")
    assert status == 2
    assert "usd-core is not installed: pip install 'verletlab[usd]'" in " ".join(errors.split())
    assert not list(tmp_path.iterdir())


def test_names_are_identifiers_and_unique():
    names = pieces.Names("Camera")
    given = ["Camera", "left arm", "left arm", "left.arm", "3", "", "Größe"]
    found = [names.unique(each) for each in given]
    assert found == ["Camera_2", "left_arm", "left_arm_2", "left_arm_3", "_3", "_", "Gr__e"]


def test_torn_cloth_loses_triangles_and_the_layer_lists_events(tmp_path):
    made = exported.scene_of_everything()
    recording = exported.recording_of(made.scene, FRAMES)
    pair = made.sheet.triangles[0][:2]
    tear = {"time": 3 / FPS, "kind": "tear", "world": 0, "members": pair.tolist(), "position": [0.0, 0.0, 1.0]}
    recording.about["events"] = [tear]
    scenes.export_usd(made.scene, tmp_path / "x.usdc", recording)
    stage = Usd.Stage.Open(str(tmp_path / "x.usdc"))
    assert json.loads(stage.GetRootLayer().customLayerData["events"]) == [tear]
    gone = [set(pair.tolist()) <= set(triangle) for triangle in made.sheet.triangles.tolist()]
    for code in range(FRAMES):
        corners = attribute(stage, "Cloth", "faceVertexIndices", code).reshape(-1, 3)
        expected = made.sheet.triangles[np.logical_not(gone)] if code >= 3 else made.sheet.triangles
        assert np.array_equal(made.cloth[corners], expected)
    assert errors_of(stage) == []


def test_scene_without_floor_has_none(tmp_path):
    scene = exported.scene_of_everything().scene
    scene.ground = None
    assert isinstance(scene, Scene)
    export.write_frames(Start(scene), tmp_path / "x.usdc")
    assert not Usd.Stage.Open(str(tmp_path / "x.usdc")).GetPrimAtPath("/Scene/Floor")
