"""Pictures of a scene, drawn in Taichi on whatever the caller's ti.init chose; no window, no graphics library."""

import math

import numpy as np

from scenes.render.contact import ContactMap
from scenes.render.layer import Layer, cover
from scenes.render.mesh import Mesh
from scenes.render.rasterise import ZBuffer
from scenes.render.shade import shade
from scenes.render.shadow import ShadowMap


class Renderer:
    """Draws triangle meshes in sunlight, on a checkered floor that fades into the sky.

    width, height: of the pictures [pixels].
    samples: of each pixel, 1 to 16; more make smoother edges.
    ground: whether there is a floor.  ground_height: its z [m].  ground_tile: edge of its squares [m].
    sun_direction: (3,) towards the sun, above the horizon; any length.
    sun_radius: as the tangent of an angle; the true sun has 0.0047, a larger one casts softer shadows.
    Memory does not grow from picture to picture, only with the largest scene drawn.
    Limitations: one colour a surface, no transparency, no reflections. Shadows come from what is at most three times
    as far from the camera's target as the camera is, share one map of two texels a row of the picture, and soften
    over at most twenty-four of them to each side. Things darken the floor where they touch it, not one another.
    Raises ValueError for sizes below 1 and for other values out of their range.
    """

    def __init__(self, width=1280, height=720, *, samples=8, ground=True, ground_height=0.0, ground_tile=1.0,
                 sun_direction=(-0.6, -0.35, 0.75), sun_radius=0.04):
        for name, value in (("width", width), ("height", height)):
            if value != int(value) or not 1 <= value <= 16384:
                raise ValueError(f"{name} is {value}, expected a whole number of pixels from 1 to 16384")
        if samples != int(samples) or not 1 <= samples <= 16:
            raise ValueError(f"samples is {samples}, expected a whole number from 1 to 16")
        if width * height * samples >= 2**31:
            raise ValueError(f"{width} x {height} pixels of {samples} samples, expected fewer than 2³¹ samples in all")
        sun = np.asarray(sun_direction, dtype=np.float64)
        if sun.shape != (3,) or not np.all(np.isfinite(sun)) or sun[2] <= 0:
            raise ValueError(f"sun_direction is {sun_direction}, expected three finite numbers, the last above zero")
        if not math.isfinite(ground_height):
            raise ValueError(f"ground_height is {ground_height}, expected a finite number")
        for name, value in (("ground_tile", ground_tile), ("sun_radius", sun_radius)):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value}, expected a finite number above zero")
        self.width, self.height = int(width), int(height)
        self.ground_height = ground_height if ground else -1e30
        self.ground_tile, self.sun_radius = ground_tile, sun_radius
        sun /= np.linalg.norm(sun)
        brightest = sun + np.array([0.0, 0.0, 1.0])
        self.sun = np.asarray([sun, brightest / np.linalg.norm(brightest)], dtype=np.float32)
        self.mesh = Mesh()
        self.zbuffer = ZBuffer(self.width, self.height, int(samples))
        self.shadow = ShadowMap(max(2 * self.height, 256), sun)
        self.contact = ContactMap()

    def draw(self, drawables, camera, unseen=()):
        """A picture (height, width, 3) uint8 of surfaces and instances, seen by a Camera.

        unseen: further ones, of which only the shadows are seen.
        Raises ValueError, naming the drawable by its index, where one cannot be drawn (NaN in a diverged
        simulation, an index out of range, a colour outside 0..1), and TypeError where it is none.
        """
        self.mesh.load(drawables, unseen)
        return self._picture(camera, self.mesh.ends[0])

    def draw_layer(self, drawables, over, camera):
        """A Layer: the picture of `drawables` and `over` together, and where in it `over` is seen, and how far away.

        Of floor and sky it has what stands before them; elsewhere the picture is black.
        """
        self.mesh.load(drawables, over)
        picture = self._picture(camera, self.mesh.triangle_count, everywhere=False)
        coverage = np.empty((self.height, self.width), dtype=np.float32)
        depth = np.empty((self.height, self.width), dtype=np.float32)
        cover(self.zbuffer.keys, self.zbuffer.covered, self.zbuffer.pattern, self._lens(camera), self.ground_height,
              2 * self.mesh.ends[0], coverage, depth)
        return Layer(picture, coverage, depth)

    def _picture(self, camera, seen, everywhere=True):
        """What the mesh looks like, of which the first so many triangles are seen; or that of it where they are."""
        self.zbuffer.draw(self.mesh, camera.view(self.width, self.height), seen)
        lower, upper = self._neighbourhood(camera)
        self.shadow.draw(self.mesh, lower, upper)
        self.contact.draw(self.mesh, camera.target, self._width_of_view(camera), upper[2], self.ground_height)

        picture = np.empty((self.height, self.width, 3), dtype=np.uint8)
        shade(self.mesh.vertices, self.mesh.normals, self.mesh.triangles, self.mesh.palette,
              self.zbuffer.keys, self.zbuffer.covered, self.zbuffer.pattern,
              self._lens(camera), self.sun, self.sun_radius,
              self.shadow.view, self.shadow.texel, self.shadow.depths, self.shadow.near_range, self.shadow.taps,
              self.contact.view, self.contact.hidden, 4 * self.contact.texel,
              self.ground_height, self.ground_tile, self._fade(camera), int(everywhere), picture)
        return picture

    def _lens(self, camera):
        """The eye and the rays through the corner pixel, and from one column and row to the next; of depth 1."""
        right, down, forward = camera.axes
        focal = camera.focal_length(self.height)
        corner = forward - right * (self.width / 2 / focal) - down * (self.height / 2 / focal)
        return np.asarray([camera.position, corner, right / focal, down / focal], dtype=np.float32)

    def _neighbourhood(self, camera):
        """The box around all that casts shadows and lies not too far from what the camera looks at."""
        reach = 3 * np.linalg.norm(camera.target - camera.position)
        lower = np.clip(self.mesh.lower, camera.target - reach, camera.target + reach)
        upper = np.clip(self.mesh.upper, camera.target - reach, camera.target + reach)
        return lower, upper

    def _width_of_view(self, camera):
        """What the picture shows across at the camera's target, and some more [m]."""
        distance = np.linalg.norm(camera.target - camera.position)
        return 1.2 * max(self.width, self.height) * distance / camera.focal_length(self.height)

    def _fade(self, camera):
        """Where the floor has gone over into the sky [m]."""
        return 4 * np.linalg.norm(camera.target - camera.position)
