"""Contact darkening: the part of the sky that surfaces above the ground hide from it.

A level patch of area dA at height h hides h² dA / (π (ρ² + h²)²) of the sky from a point of the ground at horizontal
distance ρ: its own area, blurred with a width proportional to its height. So the map draws the lower sides of all
surfaces from below, sorts them into layers by height, and blurs each layer with a width of its own. The sum of the
layers is the hidden part of the sky. It has no noise, needs no samples and changes smoothly with the surfaces.

Vertical sides also hide the sky, but a view from below does not see them. So each texel contributes to higher layers
too, with decreasing weight.
"""

import math

import numpy as np
import taichi as ti

from pbd.core.kernels import allocate, arrays_of, make_kernel
from scenes.render.data import SCALE, ContactArrays, Layering
from scenes.render.precision import f32
from scenes.render.rasterise import ZBuffer, nearness_of
from scenes.render.shadow import in_parallel_view

SIZE = 128  # of the map [texels]
LAYERS = 3
WIDTH = 1.0  # standard deviation of the blur of the lowest layer [texels]
RATIO = 3.0  # of the widths of adjacent layers
SIDES = 0.9  # weight of a layer above a lower side, relative to the layer below it


class ContactMap:
    """The part of the sky that is hidden from the ground.

    Attributes: arrays: ContactArrays. view: (4, 4) parallel view from below. texel: length of a texel [m].
    """

    def __init__(self):
        self.buffer = ZBuffer(SIZE, SIZE, 1)
        weights = blur_weights()
        self.arrays = allocate(
            ContactArrays, {"weights": weights}, texels=SIZE, layers=LAYERS, distances=weights.shape[1]
        )

    def draw(self, mesh, centre, extent, top, ground_height):
        """Draw the map of a square. The square depends on the camera alone, so that motion does not change it.

        Args: a Mesh; centre (3,) and extent of the square [m]; top: largest height [m]; ground_height [m].
        """
        self.texel = extent / SIZE
        corner = np.floor(centre[:2] / self.texel) - SIZE // 2
        self.view = np.array(
            [[1 / self.texel, 0, 0, -corner[0]], [0, 1 / self.texel, 0, -corner[1]], [0, 0, 0, 1], [0, 0, -1, top + 1]]
        )
        self.buffer.draw(mesh, self.view)
        scale = np.array([self.view[3, 3] - ground_height, self.texel], np.float32)
        sort_kernel(*arrays_of(self.buffer.arrays), *arrays_of(self.arrays), scale)
        layers, blurred = self.arrays.layers, self.arrays.blurred
        blur_kernel(*arrays_of(self.arrays), 0, 1)
        blur_kernel(*arrays_of(self.arrays._replace(layers=blurred, blurred=layers)), 1, 0)
        sum_layers_kernel(*arrays_of(self.arrays))


def blur_weights():
    """Weights of the blur of each layer, by distance [texels]: (LAYERS, widest + 1); zero beyond 2.5 deviations."""
    widths = WIDTH * RATIO ** np.arange(LAYERS)[:, None]
    distances = np.arange(math.ceil(2.5 * widths[-1, 0]) + 1)
    weights = np.exp(-0.5 * (distances / widths) ** 2) * (distances <= 2.5 * widths)
    return (weights / (2 * weights.sum(axis=1, keepdims=True) - weights[:, :1])).astype(np.float32)


@ti.func
def sort_into_layers(data: ti.template()):
    """Distribute each covered texel over the layers from its height upwards. Texels above all layers fade out."""
    layers = ti.static(data.contact.layers)
    for pixel in range(SIZE * SIZE):
        level = f32(1.0 * LAYERS)
        if data.samples.covered[pixel] == 1:
            height = data.scale[SCALE.ground_nearness] - nearness_of(data.samples.keys[pixel, 0])
            width = f32(WIDTH) * data.scale[SCALE.texel]
            level = ti.max(ti.log(ti.max(height, f32(1e-9)) / width) / ti.log(f32(RATIO)), 0)
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
def blur(contact: ti.template(), rows, columns):
    """Blur each layer along a direction. Args: contact: ContactArrays; rows, columns: (0, 1) or (1, 0)."""
    layers, weights = ti.static(contact.layers, contact.weights)
    for row, column, layer in ti.ndrange(SIZE, SIZE, LAYERS):
        total = f32(0.0)
        for step in range(1 - weights.shape[1], weights.shape[1]):
            weight = weights[layer, ti.abs(step)]
            other_row, other_column = row + step * rows, column + step * columns
            if weight > 0 and other_row >= 0 and other_column >= 0 and other_row < SIZE and other_column < SIZE:
                total += weight * layers[layer, other_row, other_column]
        contact.blurred[layer, row, column] = total


@ti.func
def sum_layers(contact: ti.template()):
    """Add the layers."""
    for row, column in ti.ndrange(SIZE, SIZE):
        total = f32(0.0)
        for layer in range(LAYERS):
            total += contact.layers[layer, row, column]
        contact.hidden[row, column] = total


@ti.func
def hidden_sky(point, view: ti.template(), hidden: ti.template()):
    """Part of the sky that is hidden from the ground at or below a point, from 0 to 1."""
    column, row, _depth = in_parallel_view(view, point)
    x = ti.max(ti.min(column - f32(0.5), f32(SIZE - 1.001)), 0)
    y = ti.max(ti.min(row - f32(0.5), f32(SIZE - 1.001)), 0)
    left, top = ti.cast(x, ti.i32), ti.cast(y, ti.i32)
    right_part, lower_part = x - left, y - top
    upper = hidden[top, left] * (1 - right_part) + hidden[top, left + 1] * right_part
    lower = hidden[top + 1, left] * (1 - right_part) + hidden[top + 1, left + 1] * right_part
    return upper * (1 - lower_part) + lower * lower_part


sort_kernel = make_kernel(sort_into_layers, Layering)
blur_kernel = make_kernel(blur, ContactArrays)
sum_layers_kernel = make_kernel(sum_layers, ContactArrays)
