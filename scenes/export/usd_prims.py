"""Prims of USD that follow a scene: meshes, curves, points, poses, camera; lights and materials, which stay."""

import math

import numpy as np
from pxr import Gf, Sdf, UsdGeom, UsdLux, UsdShade, Vt

from rigid.rotation import frame_axes
from scenes.render.ground import HORIZON
from scenes.render.mesh import normals_of
from scenes.render.renderer import SUN_DIRECTION, SUN_RADIUS
from scenes.render.shade import SKY_LIGHT, SUN_LIGHT
from scenes.visuals.framing import ASPECT

ROUGHNESS = 0.6  # of all surfaces
APERTURE = 0.2025  # height of the picture in the camera, in tenths of a metre: 20.25 mm of a width of 36 mm

class Samples:
    """The samples of an attribute. A sample is written only where the value changes.

    Args: attribute; convert: function from an array to a value of USD.
    """

    def __init__(self, attribute, convert):
        self.attribute, self.convert = attribute, convert
        self.last, self.code, self.written = None, None, None

    def set(self, value, code):
        """Set the value at a time code. Args: value: an array; code. Returns: the size of what is written [bytes]."""
        value = np.asarray(value)
        before, at, self.last, self.code = self.last, self.code, value, code
        if before is None:
            self.attribute.Set(self.convert(value))
            return value.nbytes
        if np.array_equal(value, before):
            return 0
        if self.written != at:  # where it begins to change
            self.attribute.Set(self.convert(before), at)
        self.attribute.Set(self.convert(value), code)
        self.written = code
        return value.nbytes


def vectors(array):
    """A Vt.Vec3fArray of (n, 3)."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(array, dtype=np.float32))


def whole_numbers(array):
    """A Vt.IntArray."""
    return Vt.IntArray.FromNumpy(np.ascontiguousarray(np.ravel(array), dtype=np.int32))


def numbers(array):
    """A Vt.FloatArray."""
    return Vt.FloatArray.FromNumpy(np.ascontiguousarray(array, dtype=np.float32))


def position_of(array):
    """A Gf.Vec3d."""
    return Gf.Vec3d(*map(float, array))


def rotation_of(array):
    """A Gf.Quatd of (w, x, y, z)."""
    return Gf.Quatd(*map(float, array))


def matrix_of(axes, position):
    """The Gf.Matrix4d of a frame. Args: axes: three unit vectors (3, 3); position (3,)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[3, :3] = axes, position
    return Gf.Matrix4d(matrix.tolist())



class Prim:
    """What all prims of parts share. Args: schema: of UsdGeom."""

    def __init__(self, schema):
        self.schema, self.path, self.visibility = schema, schema.GetPath(), None

    def show(self, visible, code, before):
        """Show or hide it from a time code on. Args: visible; code; before: whether it was there at first."""
        if self.visibility is None:
            if visible and before:
                return
            self.visibility = Samples(self.schema.CreateVisibilityAttr(), str)
            start = self.schema.GetPrim().GetStage().GetStartTimeCode()
            self.visibility.set("inherited" if before else "invisible", start)
        self.visibility.set("inherited" if visible else "invisible", code)


class Pose(Prim):
    """A prim with a pose. Args: schema: of UsdGeom; scale: (3,), or None."""

    def __init__(self, schema, scale=None):
        super().__init__(schema)
        self.position = Samples(schema.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).GetAttr(), position_of)
        self.rotation = Samples(schema.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).GetAttr(), rotation_of)
        if scale is not None:
            schema.AddScaleOp().Set(Gf.Vec3f(*map(float, scale)))

    def update(self, position, rotation, code):
        """Set position (3,) [m] and rotation (w, x, y, z) at a time code."""
        self.position.set(position, code)
        self.rotation.set(rotation, code)


class PointsPrim(Prim):
    """What meshes, curves and points share: points, velocities and extents.

    Args: schema: a UsdGeom.PointBased.
    """

    def __init__(self, schema):
        super().__init__(schema)
        self.points, self.velocities = Samples(schema.CreatePointsAttr(), vectors), None
        self.extent = Samples(schema.CreateExtentAttr(), vectors)

    def set(self, points, velocities, radii, code):
        """Set points (n, 3) [m], velocities (n, 3) [m/s] or None, and radii (n,) [m]. Returns: size written [bytes]."""
        reach = np.reshape(radii, (-1, 1))
        low, high = (points - reach, points + reach) if len(points) else (np.zeros((1, 3)),) * 2
        size = self.extent.set([low.min(axis=0), high.max(axis=0)], code) + self.points.set(points, code)
        if velocities is not None:
            self.velocities = self.velocities or Samples(self.schema.CreateVelocitiesAttr(), vectors)
            size += self.velocities.set(velocities, code)
        return size


class MeshPrim(PointsPrim):
    """A mesh. Args: writer; path; surface: a Surface; colour: in place of its own, or None."""

    def __init__(self, writer, path, surface, colour=None):
        mesh = UsdGeom.Mesh.Define(writer.stage, path)
        super().__init__(mesh)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(not surface.solid)
        self.counts = Samples(mesh.CreateFaceVertexCountsAttr(), whole_numbers)
        self.indices = Samples(mesh.CreateFaceVertexIndicesAttr(), whole_numbers)
        self.surface, self.normals = None, Samples(mesh.CreateNormalsAttr(), vectors)
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex if surface.smooth else UsdGeom.Tokens.uniform)
        writer.bind(mesh.GetPrim(), surface.colour if colour is None else colour)

    def update(self, surface, code):
        """Set the surface at a time code. Returns: size written [bytes]."""
        if surface is self.surface:  # a static visual draws the same one for each frame
            return 0
        self.surface = surface
        size = self.counts.set(np.full(len(surface.triangles), 3), code) + self.indices.set(surface.triangles, code)
        size += self.normals.set(normals_of(surface), code)
        return size + self.set(surface.vertices, surface.velocities, 0.0, code)


class PlacedPrim(MeshPrim):
    """A mesh with a pose, in the world or in the frame of a body. Args: writer; path; part: a Placed."""

    def __init__(self, writer, path, part):
        super().__init__(writer, path, part.surface, part.colour)
        super().update(part.surface, 0.0)
        self.pose, self.body = Pose(self.schema, part.scale), part.body
        self.pose.update(part.position, part.rotation, 0.0)

    def update(self, part, code):
        """Set the pose at a time code. One in the frame of a body is constant. Returns: 0, as poses are small."""
        if self.body < 0:
            self.pose.update(part.position, part.rotation, code)
        return 0


class RodsPrim(PointsPrim):
    """Rods as curves. Args: writer; path; part: Rods."""

    def __init__(self, writer, path, part):
        curves = UsdGeom.BasisCurves.Define(writer.stage, path)
        super().__init__(curves)
        curves.CreateTypeAttr(UsdGeom.Tokens.linear)
        curves.CreateWrapAttr(UsdGeom.Tokens.nonperiodic)
        self.counts = Samples(curves.CreateCurveVertexCountsAttr(), whole_numbers)
        self.widths = Samples(curves.CreateWidthsAttr(), numbers)
        curves.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        writer.bind(curves.GetPrim(), part.colour)

    def update(self, part, code):
        """Set the rods at a time code. Returns: size written [bytes]."""
        points, radii, counts = part.curves()
        self.counts.set(counts, code)
        self.widths.set(2 * radii, code)
        return self.set(points, None, radii, code)


class SpheresPrim(PointsPrim):
    """Spheres as points. Args: writer; path; part: Spheres."""

    def __init__(self, writer, path, part):
        points = UsdGeom.Points.Define(writer.stage, path)
        super().__init__(points)
        self.widths = Samples(points.CreateWidthsAttr(), numbers)
        points.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        writer.bind(points.GetPrim(), part.surface.colour if part.colours is None else part.colours)

    def update(self, part, code):
        """Set the spheres at a time code. Returns: size written [bytes]."""
        self.widths.set(2 * part.radii, code)
        return self.set(part.positions, part.velocities, part.radii, code)


class CameraPrim:
    """The camera of the scene. Args: stage."""

    def __init__(self, stage):
        self.camera = UsdGeom.Camera.Define(stage, "/Scene/Camera")
        self.camera.CreateVerticalApertureAttr(APERTURE)
        self.camera.CreateHorizontalApertureAttr(APERTURE * ASPECT)
        self.matrix = Samples(self.camera.AddTransformOp().GetAttr(), lambda rows: Gf.Matrix4d(rows.tolist()))
        self.focal_length = Samples(self.camera.CreateFocalLengthAttr(), float)

    def update(self, camera, code):
        """Set it at a time code. Args: a Camera; code."""
        right, down, forward = camera.axes
        rows = np.eye(4)
        rows[:3, :3], rows[3, :3] = (right, -down, -forward), camera.position
        if self.matrix.last is None:
            distance = float(np.linalg.norm(camera.target - camera.position))
            self.camera.CreateClippingRangeAttr(Gf.Vec2f(0.01 * distance, 1000 * distance))
            self.camera.CreateFocusDistanceAttr(distance)
        self.matrix.set(rows, code)
        self.focal_length.set(camera.focal_length(APERTURE), code)


def add_lights(stage):
    """Add the sun and the sky of pictures. Args: stage."""
    UsdGeom.Scope.Define(stage, "/Scene/Lights")
    sun = UsdLux.DistantLight.Define(stage, "/Scene/Lights/Sun")
    towards = np.divide(SUN_DIRECTION, np.linalg.norm(SUN_DIRECTION))
    across = frame_axes(towards)[1:]
    sun.AddTransformOp().Set(matrix_of([*across, towards], np.zeros(3)))
    sun.CreateAngleAttr(2 * math.degrees(math.atan(SUN_RADIUS)))
    # A white surface that faces the light reflects its colour if the irradiance is π times as large. Blender 5.0 makes
    # the sun four times as strong as a file says.
    sun.CreateNormalizeAttr(True)
    sun.CreateIntensityAttr(math.pi / 4)
    sun.CreateColorAttr(Gf.Vec3f(*SUN_LIGHT))
    sky = UsdLux.DomeLight.Define(stage, "/Scene/Lights/Sky")
    sky.CreateIntensityAttr(float(np.mean(SKY_LIGHT) / np.mean(HORIZON)))
    sky.CreateColorAttr(Gf.Vec3f(*HORIZON))


def make_material(stage, path, colour):
    """Make a material that is a UsdPreviewSurface. Args: stage; path; colour: linear light (3,), None for each point's.

    Returns: a UsdShade.Material.
    """
    material, shader = UsdShade.Material.Define(stage, path), UsdShade.Shader.Define(stage, f"{path}/Surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(ROUGHNESS)
    diffuse = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
    if colour is None:
        reader = UsdShade.Shader.Define(stage, f"{path}/DisplayColour")
        reader.CreateIdAttr("UsdPrimvarReader_float3")
        reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("displayColor")
        diffuse.ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float3))
    else:
        diffuse.Set(Gf.Vec3f(*map(float, colour)))
    material.CreateSurfaceOutput().ConnectToSource(shader.CreateOutput("surface", Sdf.ValueTypeNames.Token))
    return material
