"""Scenes as USD (OpenUSD, `pip install usd-core`): .usdc and .usd are binary, .usda is text, .usdz packs a .usdc.

    /Scene                  an Xform, the default prim; z up, metres, one time code for each frame
        Bodies/NAME         an Xform with the pose of each body of the model; its shapes are meshes below it
        Cloth, Skin, ...    a Mesh with points, normals, velocities and extents that are sampled
        Cloth_back          a Mesh a little behind the cloth, for the colour of its back
        Stick, Plant, ...   BasisCurves, one for each rope, with the positions of its particles
        Particle, ...       Points
        Floor, Camera, Lights, Looks

A value that does not change has no samples. Velocities are those of the recording, over the last substep. The custom
data of the layer has "events", a list in JSON of what tore and broke.

Source: OpenUSD documentation, UsdGeom schemas (Pixar).
"""

import errno
import re

import numpy as np
from pxr import Kind, Tf, Usd, UsdGeom, UsdShade, UsdUtils

from scenes.export.pieces import Names, Placed, events_of, floor_of, name_of, pieces_of
from scenes.export.usd_prims import (
    CameraPrim,
    MeshPrim,
    PlacedPrim,
    Pose,
    RodsPrim,
    SpheresPrim,
    add_lights,
    make_material,
    vectors,
)
from scenes.visuals import Rods, Spheres
from scenes.visuals.colours import linear_light
from scenes.visuals.framing import CameraTrack

MEMORY_LIMIT = 64 * 2**20  # samples of this size wait in memory before a binary file takes them [bytes]


class UsdWriter:
    """Writes frames of a scene to a USD file.

    Args: path: where to write; source: a Run or Replay.

    Attributes: frames: number of frames that the file has.
    """

    def __init__(self, path, source):
        self.path, self.scene, self.source, self.frames = path, source.scene, source, 0
        self.waiting, self.parts, self.materials, self.names = 0, {}, {}, {}
        self.track, self.codes = CameraTrack(source.scene), []
        try:
            self.stage = Usd.Stage.CreateNew(str(path))
        except Tf.ErrorException as error:
            raise failure(path, error) from None

    def add(self, frame):
        """Append a frame. Raises: ValueError if the scene cannot be drawn; OSError if the disk is full."""
        drawn = pieces_of(self.scene, frame, backs=True)
        if not self.frames:
            self.begin(frame, set(drawn))
        # The last frame of a run may come before its time code: the time of a frame is never wrong.
        code = frame.time * self.source.fps
        code = float(round(code)) if abs(code - round(code)) < 1e-6 else code
        self.stage.SetEndTimeCode(code)
        self.time = frame.time
        self.track.add(frame)
        self.codes.append(code)
        for body, pose in zip(self.bodies, frame.body_poses):
            body.update(pose[:3], pose[3:], code)
        for key, part in drawn.items():
            if key not in self.parts:
                self.parts[key] = self.make(key, part)
            self.waiting += self.parts[key].update(part, code)
        for key, part in self.parts.items():
            part.show(key in drawn, code, key in self.first)
        self.frames += 1
        if self.waiting > MEMORY_LIMIT and self.path.suffix != ".usda":
            self.save()

    def save(self):
        """Write to the file what waits in memory. Raises: OSError if the disk is full."""
        self.waiting = 0
        try:
            self.stage.GetRootLayer().Save()
        except Tf.ErrorException as error:
            raise failure(self.path, error) from None

    def finish(self):
        """Complete the file, and close it."""
        for camera, code in zip(self.track.cameras(), self.codes):
            self.camera.update(camera, code)
        self.stage.GetRootLayer().customLayerData = {"events": events_of(self.source, self.time)}
        self.save()
        self.stage = None

    def begin(self, frame, first):
        """Write what all frames share. Args: the first Frame; first: keys of its parts."""
        stage, scene = self.stage, self.scene
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        stage.SetTimeCodesPerSecond(self.source.fps)
        stage.SetFramesPerSecond(self.source.fps)
        stage.SetStartTimeCode(round(frame.time * self.source.fps, 6))
        stage.GetRootLayer().documentation = f"scene {scene.name}, solver {self.source.solver}, by verletlab"
        root = UsdGeom.Xform.Define(stage, "/Scene").GetPrim()
        stage.SetDefaultPrim(root)
        Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
        self.names["/Scene"] = Names("Bodies", "Floor", "Camera", "Lights", "Looks")
        UsdGeom.Scope.Define(stage, "/Scene/Looks")
        self.camera, self.first = CameraPrim(stage), first
        add_lights(stage)
        self.bodies = []
        if scene.model is not None:
            UsdGeom.Scope.Define(stage, "/Scene/Bodies")
            for body in scene.model.bodies:
                path = self.path_in("/Scene/Bodies", body.name or "body")
                self.bodies.append(Pose(UsdGeom.Xform.Define(stage, path)))
        floor = floor_of(scene, frame)
        if floor is not None:
            MeshPrim(self, "/Scene/Floor", floor).update(floor, 0.0)

    def path_in(self, parent, wanted):
        """Make the path of a new prim. Args: parent: its path; wanted: a name."""
        return f"{parent}/{self.names.setdefault(parent, Names()).unique(wanted)}"

    def make(self, key, part):
        """Make the prim of a part. Args: its key; a part, see `pieces_of`."""
        in_body = isinstance(part, Placed) and part.body >= 0
        path = self.path_in(str(self.bodies[part.body].path) if in_body else "/Scene", name_of(self.scene, key, part))
        kinds = {Placed: PlacedPrim, Rods: RodsPrim, Spheres: SpheresPrim}
        return kinds.get(type(part), MeshPrim)(self, path, part)

    def bind(self, prim, colour):
        """Give a prim a colour, and a material of that colour. Args: prim; colour: sRGB, (3,) or one a point (n, 3)."""
        colour = np.asarray(colour)
        light = linear_light(colour).reshape(-1, 3)
        each = colour.ndim > 1
        primvar = UsdGeom.Gprim(prim).CreateDisplayColorPrimvar("vertex" if each else "constant")
        primvar.Set(vectors(light))
        name = "PointColours" if each else "Colour_" + "".join(f"{round(255 * c):02x}" for c in colour)
        if name not in self.materials:
            self.materials[name] = make_material(self.stage, f"/Scene/Looks/{name}", None if each else light[0])
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(self.materials[name])


def pack(layer, path):
    """Pack a .usdc file into a .usdz file. Args: layer: path of the one; path: of the other. Raises: OSError."""
    try:
        done = UsdUtils.CreateNewUsdzPackage(str(layer), str(path))
    except Tf.ErrorException as error:
        raise failure(path, error) from None
    if not done:
        raise OSError(errno.EIO, "USD cannot pack the file", str(path))


def failure(path, error):
    """Make an OSError of an error of USD. Args: path; error: a Tf.ErrorException, which quotes the reason."""
    found = re.findall(r"'([^']+)'", str(error))
    return OSError(errno.EIO, found[-1] if found else "USD cannot write the file", str(path))
