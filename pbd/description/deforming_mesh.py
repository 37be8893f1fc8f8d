"""A mesh whose points are given over time, such as an animated character. Plain numpy, without Taichi.

It is a surface of kinematic particles. So its points have velocities, and it touches what surfaces and segments touch:
cloth, ropes and soft bodies that are surfaces or segments, with friction, on both sides.
"""

import math
import warnings

import numpy as np

from pbd.core.messages import shown
from pbd.core.topology import edges_of, half_edges
from pbd.core.validate import finite_array, function_of_time, indices, positive, real_array
from pbd.description.surfaces import lengths_of


class DeformingMesh:
    """A mesh that moves surfaces and segments, and that nothing moves: see `Particles.add_collider`.

    Args:
        triangles: (n, 3) indices of points.
        positions: function of time [s] that returns all points (points, 3) [m]; or frames (frames, points, 3), between
            which points move straight, and after which they stay.
        fps: frames per second, of frames.
        thickness: see `Particles.add_surface` [m]; None for half the shortest edge at the start.

    Raises: ValueError for points that are not finite, or a closed mesh that turns inside out: in a frame, or as soon as
    the function does; IndexError for triangles of points that are not there.
    """

    def __init__(self, triangles, positions, *, fps=60.0, thickness=None):
        self.frames, self.fps = None, positive("fps", fps)
        if callable(positions):
            self._function = function_of_time("positions of a deforming mesh", positions)
        else:
            self.frames = finite_frames(positions)
        first = self._points(0.0)
        self.triangles = indices("triangles of a deforming mesh", triangles, len(first), 3, of="points")
        self._volume = self._volume_of(first) if is_closed(self.triangles) else None
        usual = half_shortest_edge(first, self.triangles)
        self.thickness = usual if thickness is None else positive("thickness", thickness)
        for k in range(0 if self.frames is None else len(self.frames)):
            self(k / self.fps)

    def __call__(self, time):
        """Points at a time [s] (points, 3) [m]."""
        points = self._points(time)
        if self._volume is not None and self._volume_of(points) * self._volume <= 0.0:
            raise ValueError(f"deforming mesh is inside out at {time:g} s: expected the volume to keep its sign")
        return points

    def _volume_of(self, points):
        from pbd.build.mesh import Mesh  # builders import descriptions

        return Mesh(points, self.triangles).volume

    def _points(self, time):
        if self.frames is None:
            return finite_array(f"points of a deforming mesh at {time:g} s", self._function(time), (None, 3))
        place = min(max(time * self.fps, 0.0), len(self.frames) - 1.0)
        before = min(int(place), max(len(self.frames) - 2, 0))
        after = min(before + 1, len(self.frames) - 1)
        return self.frames[before] + (place - before) * (self.frames[after] - self.frames[before])


def finite_frames(positions):
    """Check frames of a deforming mesh. Args: positions: (frames, points, 3) [m]. Returns: the same as an array."""
    frames = real_array("positions of a deforming mesh", positions)
    if frames.ndim != 3 or frames.shape[2] != 3 or not len(frames):
        raise ValueError(
            f"positions of a deforming mesh have shape {frames.shape}: expected a function of time, or frames of shape "
            "(frames, points, 3)"
        )
    wrong = np.argwhere(~np.isfinite(frames))
    if len(wrong):
        frame, point = wrong[0, :2]
        raise ValueError(
            f"point {point} of a deforming mesh is {shown(frames[frame, point])} in frame {frame}: expected numbers"
        )
    return frames


def half_shortest_edge(points, triangles):
    """Half the length of the shortest edge of a mesh [m]. Raises: ValueError for one of no length."""
    edges = edges_of(triangles)
    lengths = lengths_of(edges, points)
    shortest = int(np.argmin(lengths))
    if not lengths[shortest] > 0.0:
        raise ValueError(f"points {shown(edges[shortest])} of a deforming mesh coincide: expected different places")
    return 0.5 * lengths[shortest]


def is_closed(triangles):
    """Whether each edge of triangles (n, 3) is that of two, which run along it in opposite directions."""
    start, end, _ = half_edges(triangles)
    there, back = (np.unique(np.stack(pair, axis=1), axis=0) for pair in ((start, end), (end, start)))
    return len(there) == len(start) and np.array_equal(there, back)


def warn_of_what_passes_through(description):
    """Warn if a deforming mesh is beside particles that are on no surface. Args: description: a Particles."""
    if not any(isinstance(path, DeformingMesh) for _, path in description.paths):
        return
    passes = np.isfinite(description.masses())
    for surface in description.surfaces:
        passes[surface.members] = False
    if passes.any():
        more = f" (and {passes.sum() - 1} more)" if passes.sum() > 1 else ""
        warnings.warn(
            f"particle {np.argmax(passes)}{more} is on no surface or segment, so it passes through meshes that deform: "
            'expected add_surface, add_segments, or build.cloth(..., contacts="surface")',
            UserWarning, stacklevel=4,
        )  # fmt: skip


def add_deforming_mesh(description, mesh, friction, restitution, motion):
    """Add a deforming mesh as a surface of particles on paths. Args: description; mesh; others: see `add_collider`."""
    if motion is not None or restitution:
        raise ValueError("a DeformingMesh with motion or restitution: expected positions that move, and neither")
    points = description.add_particles(mesh(0.0), math.inf)
    description.add_path(points, mesh)
    triangles = points[mesh.triangles]
    return description.add_surface(triangles, thickness=mesh.thickness, friction=friction, self_contact=False)
