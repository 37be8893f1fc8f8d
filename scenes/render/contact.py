"""Contact darkening: how much of the sky the things above the ground hide from it.

A level patch of area dA at height h hides h² dA / (π (ρ² + h²)²) of the sky from a point of the ground at the
horizontal distance ρ: as much as it covers, blurred as widely as it is high. So the lower sides of all things are
drawn from below, sorted into layers by height, and each layer is blurred with its own width. The layers' sum is the
hidden part of the sky; it has no noise, needs no samples and follows the things smoothly.

Things have sides as well, which this does not see: so each texel counts in higher layers too, less in each.
"""

import math

import numpy as np
import taichi as ti

from scenes.render.precision import f32
from scenes.render.rasterise import ZBuffer, nearness_of
from scenes.render.shadow import in_parallel_view

SIZE = 128          # texels along the map's edge
LAYERS = 3
WIDTH = 1.0         # the lowest layer's blur, as a standard deviation [texels]
RATIO = 3.0         # from one layer's width to the next
SIDES = 0.9         # from a layer's share to the next one's, above the lower side


class ContactMap:
    """hidden: (SIZE, SIZE) part of the sky that is hidden from the ground, 0 to 1, as a view from below sees it."""

    def __init__(self):
        self.buffer = ZBuffer(SIZE, SIZE, 1)
        self.layers = ti.ndarray(ti.f32, (LAYERS, SIZE, SIZE))
        self.blurred = ti.ndarray(ti.f32, (LAYERS, SIZE, SIZE))
        self.hidden = ti.ndarray(ti.f32, (SIZE, SIZE))
        weights = gaussians()
        self.weights = ti.ndarray(ti.f32, weights.shape)
        self.weights.from_numpy(weights)

    def draw(self, mesh, centre, extent, top, ground_height):
        """Draw what lies around a point (3,), in a square of that extent [m] and up to the height `top`, from below.

        The square depends on the camera alone, so that the darkening does not change as things come and go.
        """
        self.texel = extent / SIZE
        corner = np.floor(centre[:2] / self.texel) - SIZE // 2
        self.view = np.array([[1 / self.texel, 0, 0, -corner[0]], [0, 1 / self.texel, 0, -corner[1]], [0, 0, 0, 1],
                              [0, 0, -1, top + 1]])
        self.buffer.draw(mesh, self.view)
        sort(self.buffer.keys, self.buffer.covered, self.view[3, 3] - ground_height, self.texel, self.layers)
        blur(self.layers, self.weights, self.blurred)
        combine(self.blurred, self.weights, self.hidden)


def gaussians():
    """Each layer's blur, (LAYERS, widest + 1): the weight of each distance [texels]; zero beyond 2.5 deviations."""
    widths = WIDTH * RATIO ** np.arange(LAYERS)[:, None]
    distances = np.arange(math.ceil(2.5 * widths[-1, 0]) + 1)
    weights = np.exp(-0.5 * (distances / widths) ** 2) * (distances <= 2.5 * widths)
    return (weights / (2 * weights.sum(axis=1, keepdims=True) - weights[:, :1])).astype(np.float32)


@ti.kernel
def sort(
    keys: ti.types.ndarray(dtype=ti.i64, ndim=2),
    covered: ti.types.ndarray(dtype=ti.i32, ndim=1),
    ground_nearness: ti.f32,
    texel: ti.f32,
    layers: ti.types.ndarray(dtype=ti.f32, ndim=3),
):
    """Share each covered texel among the layers from its height upwards; what is too high fades out."""
    for pixel in range(SIZE * SIZE):
        level = f32(1.0 * LAYERS)
        if covered[pixel] == 1:
            height = ground_nearness - nearness_of(keys[pixel, 0])
            level = ti.max(ti.log(ti.max(height, f32(1e-9)) / (f32(WIDTH) * texel)) / ti.log(f32(RATIO)), 0)
        fade, total = ti.max(ti.min(LAYERS - level, 1), 0), f32(0.0)
        for layer in range(LAYERS):
            share = ti.max(1 - (level - layer), 0)
            if layer > level:
                share = ti.pow(f32(SIDES), layer - level)
            layers[layer, pixel // SIZE, pixel % SIZE] = share
            total += share
        for layer in range(LAYERS):
            share = layers[layer, pixel // SIZE, pixel % SIZE]
            layers[layer, pixel // SIZE, pixel % SIZE] = share * (fade / ti.max(total, f32(1e-6)))


@ti.func
def blurred_along(layers: ti.template(), weights: ti.template(), layer, row, column, rows, columns):
    """Weighted average of a layer along rows or along columns."""
    total = f32(0.0)
    for step in range(1 - weights.shape[1], weights.shape[1]):
        weight = weights[layer, ti.abs(step)]
        there_row, there_column = row + step * rows, column + step * columns
        if weight > 0 and there_row >= 0 and there_column >= 0 and there_row < SIZE and there_column < SIZE:
            total += weight * layers[layer, there_row, there_column]
    return total


@ti.kernel
def blur(
    layers: ti.types.ndarray(dtype=ti.f32, ndim=3),
    weights: ti.types.ndarray(dtype=ti.f32, ndim=2),
    blurred: ti.types.ndarray(dtype=ti.f32, ndim=3),
):
    """Blur each layer along its rows into `blurred`."""
    for row, column, layer in ti.ndrange(SIZE, SIZE, LAYERS):
        blurred[layer, row, column] = blurred_along(layers, weights, layer, row, column, 0, 1)


@ti.kernel
def combine(
    blurred: ti.types.ndarray(dtype=ti.f32, ndim=3),
    weights: ti.types.ndarray(dtype=ti.f32, ndim=2),
    hidden: ti.types.ndarray(dtype=ti.f32, ndim=2),
):
    """Blur each layer along its columns, and add the layers."""
    for row, column in ti.ndrange(SIZE, SIZE):
        total = f32(0.0)
        for layer in range(LAYERS):
            total += blurred_along(blurred, weights, layer, row, column, 1, 0)
        hidden[row, column] = total


@ti.func
def hidden_sky(point, view: ti.template(), hidden: ti.template()):
    """Part of the sky hidden from the ground at, or below, a point: 0 to 1."""
    column, row, _depth = in_parallel_view(view, point)
    x = ti.max(ti.min(column - f32(0.5), f32(SIZE - 1.001)), 0)
    y = ti.max(ti.min(row - f32(0.5), f32(SIZE - 1.001)), 0)
    left, top = ti.cast(x, ti.i32), ti.cast(y, ti.i32)
    right_part, lower_part = x - left, y - top
    upper = hidden[top, left] * (1 - right_part) + hidden[top, left + 1] * right_part
    lower = hidden[top + 1, left] * (1 - right_part) + hidden[top + 1, left + 1] * right_part
    return upper * (1 - lower_part) + lower * lower_part
