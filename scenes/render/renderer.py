"""Pictures of scenes, drawn by Taichi kernels on the device of ti.init. There is no window and no graphics library."""

import math

import numpy as np

from pbd.core.kernels import arrays_of, compiling
from pbd.core.messages import shown
from pbd.core.validate import is_number
from scenes.render.ambient_occlusion import ContactMap
from scenes.render.data import SHADING
from scenes.render.layers import Layer, cover_kernel
from scenes.render.mesh import Mesh
from scenes.render.rasterise import ZBuffer
from scenes.render.shade import shade_kernel
from scenes.render.shadow import ShadowMap

SUN_DIRECTION = (-0.6, -0.35, 0.75)  # towards the sun
SUN_RADIUS = 0.04  # tangent of its angle
LARGEST_SIDE = 16384  # of a picture [pixels]
NO_GROUND = -1e30  # height of the floor if there is none [m]


def check_size(width, height):
    """Raise ValueError for a size that no picture can have. Args: width, height [pixels]."""
    for name, value in (("width", width), ("height", height)):
        if not (is_number(value) and 1 <= value <= LARGEST_SIDE and value == int(value)):
            raise ValueError(f"{name} is {shown(value)}: expected a whole number of pixels from 1 to {LARGEST_SIDE}")


class Renderer:
    """Draws triangle meshes in sunlight, on a checkered floor that fades into the sky.

    Memory grows with the largest scene drawn, not with the number of pictures.

    Limitations: One colour for each surface. No transparency and no reflections. Shadows come from surfaces at most
    three times as far from the target of the camera as the camera itself. They share one map with two texels per row of
    the picture, and their edges soften over at most twenty-four texels on each side. Contacts darken only the floor.

    Args:
        width, height: of pictures [pixels].
        samples: of each pixel, 1 to 16. More samples make smoother edges.
        ground: whether there is a floor.
        ground_height: of the floor [m].
        ground_tile: edge length of the squares of the floor [m].
        sun_direction: (3,) towards the sun, above the horizon, of any length.
        sun_radius: as the tangent of an angle. That of the real sun is 0.0047; a larger sun casts softer shadows.

    Raises:
        ValueError: for a value out of its range.
    """

    def __init__(self, width=1280, height=720, *, samples=8, ground=True, ground_height=0.0, ground_tile=1.0,
                 sun_direction=SUN_DIRECTION, sun_radius=SUN_RADIUS):  # fmt: skip
        check_size(width, height)
        if samples != int(samples) or not 1 <= samples <= 16:
            raise ValueError(f"samples is {samples}: expected a whole number from 1 to 16")
        if width * height * samples >= 2**31:
            raise ValueError(f"{width} x {height} pixels with {samples} samples: expected fewer than 2³¹ samples")
        sun = np.asarray(sun_direction, dtype=np.float64)
        if sun.shape != (3,) or not np.all(np.isfinite(sun)) or sun[2] <= 0:
            raise ValueError(f"sun_direction is {sun_direction}: expected three finite numbers, the last above zero")
        if not math.isfinite(ground_height):
            raise ValueError(f"ground_height is {ground_height}: expected a finite number")
        for name, value in (("ground_tile", ground_tile), ("sun_radius", sun_radius)):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value}: expected a finite number above zero")
        self.width, self.height = int(width), int(height)
        self.ground_height = ground_height if ground else NO_GROUND
        self.ground_tile, self.sun_radius = ground_tile, sun_radius
        sun /= np.linalg.norm(sun)
        brightest = sun + np.array([0.0, 0.0, 1.0])
        self.sun = np.asarray([sun, brightest / np.linalg.norm(brightest)], dtype=np.float32)
        self.mesh = Mesh()
        self.zbuffer = ZBuffer(self.width, self.height, int(samples))
        self.shadow = ShadowMap(max(2 * self.height, 256), sun)
        self.contact = ContactMap()

    @compiling(fast_math=True)
    def draw(self, drawables, camera, only_shadows=()):
        """Draw a picture.

        Args: drawables: list of Surface and Instances; camera: a Camera; only_shadows: further drawables that are
        invisible but cast shadows.

        Returns: (height, width, 3) uint8 sRGB.

        Raises: ValueError with the index of a drawable that cannot be drawn: NaN of a diverged simulation, an index out
            of range, a colour outside 0..1. TypeError for something else than a Surface or Instances.
        """
        self.mesh.load(drawables, only_shadows)
        return self._picture(camera, self.mesh.ends[0])

    @compiling(fast_math=True)
    def draw_layer(self, drawables, layer, camera):
        """Draw a Layer.

        Args: drawables: of all layers; layer: of this layer, both lists of Surface and Instances; camera: a Camera.

        Returns: a Layer. Its picture shows both lists. Pixels without any of them are black.
        """
        self.mesh.load(drawables, layer)
        picture = self._picture(camera, self.mesh.triangle_count, everywhere=False)
        coverage = np.empty((self.height, self.width), dtype=np.float32)
        depth = np.empty((self.height, self.width), dtype=np.float32)
        cover_kernel(
            *arrays_of(self.zbuffer.arrays), self._lens(camera), np.array([self.ground_height], np.float32), coverage,
            depth, 2 * self.mesh.ends[0],
        )  # fmt: skip
        return Layer(picture, coverage, depth)

    def _picture(self, camera, visible, everywhere=True):
        """Draw the loaded mesh.

        Args: camera; visible: how many triangles are visible, the others only cast shadows; everywhere: False leaves
        out pixels without triangles.
        """
        self.zbuffer.draw(self.mesh, camera.view(self.width, self.height), visible)
        lower, upper = self._shadow_box(camera)
        self.shadow.draw(self.mesh, lower, upper)
        self.contact.draw(self.mesh, camera.target, self._contact_extent(camera), upper[2], self.ground_height)
        picture = np.empty((self.height, self.width, 3), dtype=np.uint8)
        arrays = self.mesh.arrays, self.zbuffer.arrays, self.shadow.arrays, self.contact.arrays
        shade_kernel(
            *(array for group in arrays for array in arrays_of(group)), self._lens(camera), self.sun,
            self.shadow.view.astype(np.float32), self.contact.view.astype(np.float32), self._shading_numbers(camera),
            picture, int(everywhere),
        )  # fmt: skip
        return picture

    def _shading_numbers(self, camera):
        """The columns of SHADING for a camera."""
        numbers = np.zeros(SHADING.total, np.float32)
        numbers[SHADING.sun_radius] = self.sun_radius
        numbers[SHADING.shadow_texel] = self.shadow.texel
        numbers[SHADING.contact_height] = 4 * self.contact.texel
        numbers[SHADING.ground_height] = self.ground_height
        numbers[SHADING.ground_tile] = self.ground_tile
        numbers[SHADING.fade_distance] = 4 * np.linalg.norm(camera.target - camera.position)
        return numbers

    def _lens(self, camera):
        """The eye, and rays of depth 1 through the upper left corner, one column on and one row on: (4, 3) float32."""
        right, down, forward = camera.axes
        focal = camera.focal_length(self.height)
        corner = forward - right * (self.width / 2 / focal) - down * (self.height / 2 / focal)
        return np.asarray([camera.position, corner, right / focal, down / focal], dtype=np.float32)

    def _shadow_box(self, camera):
        """The box around everything that casts shadows and is not too far from the target of the camera."""
        reach = 3 * np.linalg.norm(camera.target - camera.position)
        lower = np.clip(self.mesh.lower, camera.target - reach, camera.target + reach)
        upper = np.clip(self.mesh.upper, camera.target - reach, camera.target + reach)
        return lower, upper

    def _contact_extent(self, camera):
        """Size of the contact map: somewhat more than the picture shows at the target of the camera [m]."""
        distance = np.linalg.norm(camera.target - camera.position)
        return 1.2 * max(self.width, self.height) * distance / camera.focal_length(self.height)
