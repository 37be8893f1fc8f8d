"""What a picture shows and where it is seen from: plain numpy, in metres, z up, right-handed."""

import math
from dataclasses import dataclass

import numpy as np
import trimesh

IDENTITY_ROTATION = (1.0, 0.0, 0.0, 0.0)


@dataclass
class Surface:
    """A triangle mesh of one colour, in the world's frame.

    vertices: (n, 3) [m].  triangles: (m, 3) indices of vertices, anticlockwise seen from the front.
    colour: (3,) sRGB from 0 to 1.  back_colour: (3,) or None, seen from behind; None: the same on both sides.
    smooth: whether light varies across triangles (normals of the vertices) or each is flat.
    solid: whether it closes around something, so that it need not be drawn from behind; faster.
    Raises ValueError for other shapes, indices out of range, colours outside 0..1 and vertices that are not finite.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    colour: np.ndarray = (0.8, 0.8, 0.8)
    back_colour: np.ndarray | None = None
    smooth: bool = True
    solid: bool = False

    def __post_init__(self):
        self.validate("Surface")

    def validate(self, name):
        """Refuse, under that name, what cannot be drawn; the renderer asks again in case arrays were changed."""
        self.vertices = _rows(self.vertices, 3, f"{name}: vertices")
        indices = np.asarray(self.triangles)
        if indices.size == 0:
            indices = np.zeros((0, 3), dtype=np.int32)
        if indices.ndim != 2 or indices.shape[1] != 3 or not np.issubdtype(indices.dtype, np.integer):
            raise ValueError(f"{name}: triangles have shape {indices.shape} and type {indices.dtype}, "
                             "expected (m, 3) integers")
        if len(indices) and (indices.min() < 0 or indices.max() >= len(self.vertices)):
            raise ValueError(f"{name}: triangles name vertices {indices.min()} to {indices.max()}, "
                             f"expected 0 to {len(self.vertices) - 1}")
        self.triangles = np.ascontiguousarray(indices, dtype=np.int32)
        self.colour = _colours(self.colour, (3,), f"{name}: colour")
        if self.back_colour is not None:
            self.back_colour = _colours(self.back_colour, (3,), f"{name}: back_colour")


@dataclass
class Instances:
    """One surface drawn k times: particles, limbs, links.

    surface: a Surface in its own frame.
    positions: (k, 3) [m].  rotations: (k, 4) quaternions (w, x, y, z) of any length but zero, or None.
    scales: (k, 3) or (k,) factors along the surface's own axes, above zero, or None.
    colours: (k, 3) sRGB in place of the surface's colour (on both sides), or None.
    Raises ValueError where these do not fit.
    """

    surface: Surface
    positions: np.ndarray
    rotations: np.ndarray | None = None
    scales: np.ndarray | None = None
    colours: np.ndarray | None = None

    def __post_init__(self):
        self.validate("Instances")

    def validate(self, name):
        """Refuse, under that name, what cannot be drawn."""
        self.surface.validate(name)
        self.positions = _rows(self.positions, 3, f"{name}: positions")
        count = len(self.positions)
        if self.rotations is not None:
            self.rotations = _rows(self.rotations, 4, f"{name}: rotations", count)
            if count and np.linalg.norm(self.rotations, axis=1).min() < 1e-12:
                raise ValueError(f"{name}: a rotation is the quaternion zero")
        if self.scales is not None:
            scales = np.asarray(self.scales, dtype=np.float64)
            scales = np.repeat(scales[:, None], 3, axis=1) if scales.ndim == 1 else scales
            self.scales = _rows(scales, 3, f"{name}: scales", count)
            if count and self.scales.min() <= 0:
                raise ValueError(f"{name}: scales reach down to {self.scales.min()}, expected above zero")
        if self.colours is not None:
            self.colours = _colours(self.colours, (count, 3), f"{name}: colours")


def sphere(radius=1.0, colour=(0.8, 0.8, 0.8), centre=(0.0, 0.0, 0.0), subdivisions=4):
    """A sphere of 20 * 4**subdivisions triangles: 4 for a few large ones, 2 for a thousand particles."""
    _positive(radius, "sphere radius")
    mesh = trimesh.creation.icosphere(subdivisions=subdivisions)
    return Surface(np.asarray(mesh.vertices) * radius + np.asarray(centre), mesh.faces, colour, solid=True)


def capsule(radius, length, colour=(0.8, 0.8, 0.8), sectors=24):
    """A capsule about the z axis and the origin; length [m] is between the middles of its round ends."""
    _positive(radius, "capsule radius")
    half = np.array([[0.0, 0.0, length / 2]])
    return tubes(-half, half, radius, colour, sectors=sectors, rings=sectors // 4)


def box(size, colour=(0.8, 0.8, 0.8)):
    """A box about the origin; size: (3,) full edge lengths [m]."""
    mesh = trimesh.creation.box(extents=np.broadcast_to(np.asarray(size, dtype=float), 3))
    return Surface(mesh.vertices, mesh.faces, colour, smooth=False, solid=True)


def cylinder(radius, length, colour=(0.8, 0.8, 0.8), sectors=48):
    """A cylinder about the z axis and the origin, with flat ends and a smooth side."""
    _positive(radius, "cylinder radius")
    mesh = trimesh.creation.cylinder(radius=radius, height=length, sections=sectors)
    # Ends and side share no vertices, so that the normals do not smear across the rims.
    is_end = np.abs(mesh.face_normals[:, 2]) > 0.5
    triangles = mesh.faces + is_end[:, None] * len(mesh.vertices)
    return Surface(np.concatenate([mesh.vertices, mesh.vertices]), triangles, colour, solid=True)


def particles(positions, radius, colour=(0.8, 0.8, 0.8), colours=None, subdivisions=2):
    """Small spheres at positions (k, 3) [m]; radius: one, or (k,) of them [m]; colours: (k, 3) or None."""
    positions = np.asarray(positions, dtype=np.float64)
    scales = np.broadcast_to(np.asarray(radius, dtype=np.float64), len(positions))
    return Instances(sphere(1.0, colour, subdivisions=subdivisions), positions, scales=scales, colours=colours)


def tubes(points_a, points_b, radius, colour=(0.8, 0.8, 0.8), sectors=12, rings=3):
    """Capsules from points_a to points_b as one surface: ropes, sticks, plants, limbs.

    points_a, points_b: (k, 3) [m]; equal points make a sphere.  radius: one, or (k,) of them [m].
    sectors, rings: how many facets around, and from an end's rim to its pole.
    """
    points_a, points_b = _rows(points_a, 3, "points_a"), _rows(points_b, 3, "points_b")
    if points_a.shape != points_b.shape:
        raise ValueError(f"points_a and points_b have shapes {points_a.shape} and {points_b.shape}")
    count = len(points_a)
    radius = np.broadcast_to(np.asarray(radius, dtype=np.float64), count)
    if count:
        _positive(radius.min(), "tubes radius")
    directions, triangles, at_b = _unit_capsule(sectors, rings)
    frames = _frames(points_b.astype(np.float64) - points_a)
    offsets = np.einsum("va,kax->kvx", directions, frames) * radius[:, None, None]
    vertices = np.where(at_b[None, :, None], points_b[:, None], points_a[:, None]) + offsets
    indices = triangles[None] + (np.arange(count) * len(directions))[:, None, None]
    return Surface(vertices.reshape(-1, 3), indices.reshape(-1, 3), colour, solid=True)


def _unit_capsule(sectors, rings):
    """Unit directions (v, 3) of a capsule's vertices about z, its triangles, and which belong to the upper end."""
    polar = np.linspace(0.0, math.pi / 2, rings + 1)[1:]
    polar = np.concatenate([polar, math.pi - polar[::-1]])             # the rim stands twice: once for each end
    turn = np.arange(sectors) * (2 * math.pi / sectors)
    ring = np.stack([np.outer(np.sin(polar), np.cos(turn)), np.outer(np.sin(polar), np.sin(turn)),
                     np.repeat(np.cos(polar)[:, None], sectors, axis=1)], axis=-1)
    directions = np.concatenate([[[0.0, 0.0, 1.0]], ring.reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    at_b = np.arange(len(directions)) <= rings * sectors
    here = np.arange(sectors)
    there = (here + 1) % sectors
    triangles = [np.stack([np.zeros(sectors, int), 1 + here, 1 + there], axis=-1)]
    for upper in 1 + sectors * np.arange(2 * rings - 1):
        lower = upper + sectors
        triangles.append(np.stack([upper + here, lower + here, lower + there], axis=-1))
        triangles.append(np.stack([upper + here, lower + there, upper + there], axis=-1))
    last = 1 + sectors * (2 * rings - 1)
    triangles.append(np.stack([np.full(sectors, len(directions) - 1), last + there, last + here], axis=-1))
    return directions, np.concatenate(triangles), at_b


def _frames(axes):
    """(k, 3, 3): for each axis two unit vectors across it and the unit vector along it (z where it is zero)."""
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    along = np.where(lengths > 1e-12, axes / np.maximum(lengths, 1e-12), (0.0, 0.0, 1.0))
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    across = np.cross(along, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.stack([across, np.cross(along, across), along], axis=1)


def _positive(value, name):
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} is {value}, expected a finite number above zero")


def _rows(value, width, name, count=None):
    """Rows of finite numbers that still are finite in the float32 they are drawn in."""
    array = np.asarray(value)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.size == 0 and not count:
        array = array.reshape(0, width)
    if array.ndim != 2 or array.shape[1] != width or (count is not None and len(array) != count):
        raise ValueError(f"{name} have shape {array.shape}, expected ({'n' if count is None else count}, {width})")
    if array.size and not np.abs(array).max() <= 1e30:                 # also refuses NaN
        row = int(np.flatnonzero(~(np.abs(array) <= 1e30).all(axis=1))[0])
        raise ValueError(f"{name} are not finite (or beyond 1e30): row {row} is {array[row]}")
    return array


def _colours(value, shape, name):
    colours = np.asarray(value, dtype=np.float64)
    if colours.shape != shape:
        raise ValueError(f"{name} has shape {colours.shape}, expected {shape}")
    if colours.size and not (colours.min() >= 0 and colours.max() <= 1):
        raise ValueError(f"{name} has values outside 0..1: {colours if colours.ndim == 1 else colours.min()}")
    return colours
