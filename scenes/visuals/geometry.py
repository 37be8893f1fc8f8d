"""Triangle meshes that renderers draw: surfaces, and surfaces drawn many times. Plain numpy, in metres."""

from dataclasses import dataclass, replace

import numpy as np

IDENTITY_ROTATION = (1.0, 0.0, 0.0, 0.0)

# Pictures are drawn in single precision, which larger coordinates [m] would overflow.
LARGEST = 1e30


@dataclass
class Surface:
    """A triangle mesh of one colour, in the world frame.

    Args:
        vertices: (n, 3) [m].
        triangles: (m, 3) indices of vertices, anticlockwise if seen from the front.
        colour: (3,) sRGB from 0 to 1.
        back_colour: (3,) sRGB of the back; None for the same colour on both sides.
        smooth: True interpolates normals across triangles, False draws each triangle flat.
        solid: True if the mesh is closed. Its back is then not drawn, which is faster.
        velocities: (n, 3) of the vertices [m/s], for files that keep them (scenes/export); None if unknown.

    Raises:
        ValueError: for other shapes, indices out of range, colours outside 0..1 and vertices that are not finite.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    colour: np.ndarray = (0.8, 0.8, 0.8)
    back_colour: np.ndarray | None = None
    smooth: bool = True
    solid: bool = False
    velocities: np.ndarray | None = None

    def __post_init__(self):
        self.validate("Surface")

    def validate(self, name):
        """Raise ValueError if this cannot be drawn. The renderer calls it again, because arrays may have changed.

        Args: name: for error messages.
        """
        self.vertices = checked_rows(self.vertices, 3, f"{name}: vertices")
        indices = np.asarray(self.triangles)
        if indices.size == 0:
            indices = np.zeros((0, 3), dtype=np.int32)
        if indices.ndim != 2 or indices.shape[1] != 3 or not np.issubdtype(indices.dtype, np.integer):
            raise ValueError(
                f"{name}: triangles have shape {indices.shape} and type {indices.dtype}: expected (m, 3) integers"
            )
        if len(indices) and (indices.min() < 0 or indices.max() >= len(self.vertices)):
            raise ValueError(
                f"{name}: triangles refer to vertices {indices.min()} to {indices.max()}: expected 0 to "
                f"{len(self.vertices) - 1}"
            )
        self.triangles = np.ascontiguousarray(indices, dtype=np.int32)
        self.colour = _checked_colours(self.colour, (3,), f"{name}: colour")
        if self.back_colour is not None:
            self.back_colour = _checked_colours(self.back_colour, (3,), f"{name}: back_colour")


@dataclass
class Rods(Surface):
    """Capsules between pairs of points, as one surface. Files with curves (scenes/export) keep the axes.

    Args:
        ends: (k, 2, 3) of the axes [m].
        radii: (k,) [m].
        joined: (k - 1,) whether the next rod begins at the particle or point where a rod ends; None for no rod.
        more: of Surface.
    """

    ends: np.ndarray | None = None
    radii: np.ndarray | None = None
    joined: np.ndarray | None = None

    def only(self, drawn):
        """A copy that draws some rods. It keeps the vertices of all, as torn cloth does. Args: drawn: a mask (k,)."""
        kept = np.flatnonzero(drawn)
        joined = None if self.joined is None else self.joined[kept[:-1]] & (np.diff(kept) == 1)
        triangles = self.triangles.reshape(len(drawn), -1, 3)[drawn].reshape(-1, 3)
        return replace(self, triangles=triangles, ends=self.ends[kept], radii=self.radii[kept], joined=joined)

    def curves(self):
        """The axes as curves: rods that are joined make one.

        Returns: points of all curves (n, 3) [m]; their radii (n,) [m]; the number of points of each curve (c,).
        """
        joined = np.zeros(max(len(self.ends) - 1, 0), bool) if self.joined is None else self.joined
        begins, joined = np.append(True, ~joined)[: len(self.ends)], np.append(joined, False)[: len(self.ends)]
        kept = np.stack([begins, np.ones_like(begins)], axis=1)  # the start of a joined rod is the end of another
        radii = np.stack([self.radii, self.radii], axis=1)
        radii[joined, 1] = (radii[joined, 1] + radii[1:][joined[:-1], 0]) / 2
        return self.ends[kept], radii[kept], np.bincount(np.cumsum(begins) - 1, kept.sum(axis=1)).astype(int)


@dataclass
class Instances:
    """One surface drawn k times: particles, limbs, links.

    Args:
        surface: a Surface in its own frame.
        positions: (k, 3) [m].
        rotations: (k, 4) quaternions (w, x, y, z) of any length above zero; None for no rotation.
        scales: (k, 3) or (k,) factors along the axes of the surface, above zero; None for 1.
        colours: (k, 3) sRGB that replace the colour of the surface on both sides, or None.
        velocities: (k, 3) [m/s], as in Surface.

    Raises:
        ValueError: if these do not fit together.
    """

    surface: Surface
    positions: np.ndarray
    rotations: np.ndarray | None = None
    scales: np.ndarray | None = None
    colours: np.ndarray | None = None
    velocities: np.ndarray | None = None

    def __post_init__(self):
        self.validate("Instances")

    def validate(self, name):
        """Raise ValueError if this cannot be drawn. Args: name: for error messages."""
        self.surface.validate(name)
        self.positions = checked_rows(self.positions, 3, f"{name}: positions")
        count = len(self.positions)
        if self.rotations is not None:
            self.rotations = checked_rows(self.rotations, 4, f"{name}: rotations", count)
            if count and np.linalg.norm(self.rotations, axis=1).min() < 1e-12:
                raise ValueError(f"{name}: rotations contain the quaternion zero: expected lengths above zero")
        if self.scales is not None:
            scales = np.asarray(self.scales, dtype=np.float64)
            scales = np.repeat(scales[:, None], 3, axis=1) if scales.ndim == 1 else scales
            self.scales = checked_rows(scales, 3, f"{name}: scales", count)
            if count and self.scales.min() <= 0:
                raise ValueError(f"{name}: scales contain {self.scales.min()}: expected numbers above zero")
        if self.colours is not None:
            self.colours = _checked_colours(self.colours, (count, 3), f"{name}: colours")


@dataclass
class Spheres(Instances):
    """Instances of a sphere of radius 1. Files with points (scenes/export) keep centres and radii alone."""

    @property
    def radii(self):
        """Radii (k,) [m]."""
        return self.scales[:, 0]


def checked_rows(value, width, name, count=None):
    """Convert to rows of numbers that are finite in single precision.

    Args: value: anything like an array; width: numbers in a row; name: for error messages; count: rows, None for any.

    Returns:
        (n, width) array of float32 or float64.
    """
    array = np.asarray(value)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.size == 0 and not count:
        array = array.reshape(0, width)
    if array.ndim != 2 or array.shape[1] != width or (count is not None and len(array) != count):
        raise ValueError(f"{name} have shape {array.shape}: expected ({'n' if count is None else count}, {width})")
    if array.size and not np.abs(array).max() <= LARGEST:  # False for NaN, too
        row = int(np.flatnonzero(~(np.abs(array) <= LARGEST).all(axis=1))[0])
        raise ValueError(f"{name} are not finite: row {row} is {array[row]}, expected numbers up to {LARGEST:g}")
    return array


def _checked_colours(value, shape, name):
    colours = np.asarray(value, dtype=np.float64)
    if colours.shape != shape:
        raise ValueError(f"{name} has shape {colours.shape}: expected {shape}")
    if colours.size and not (colours.min() >= 0 and colours.max() <= 1):
        raise ValueError(f"{name} is {colours if colours.ndim == 1 else colours.min()}: expected numbers from 0 to 1")
    return colours
