"""Layers: pictures of several results of one scene, which are blended into one picture."""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import make_kernel
from scenes.render.data import Covering
from scenes.render.precision import f32, row_of
from scenes.render.shade import ray_through, seen


class Layer(NamedTuple):
    """A picture of one layer, with the pixels that the layer covers and their depth.

    Args: picture (height, width, 3) uint8; coverage (height, width): part of each pixel that the layer covers, from 0
    to 1; depth (height, width): of what covers the pixel [m], 0 if nothing does.
    """

    picture: np.ndarray
    coverage: np.ndarray
    depth: np.ndarray


@ti.func
def cover(data: ti.template(), first):
    """Compute coverage and depth of some triangles in each pixel.

    Args: data: Covering; first: twice the number of the first triangle that counts.
    """
    width, samples = data.coverage.shape[1], data.samples.keys.shape[1]
    for pixel in range(data.samples.covered.shape[0]):
        row, column = pixel // width, pixel % width
        count, total = f32(0.0), f32(0.0)
        if data.samples.covered[pixel] == 1:
            for sample in range(samples):
                offset = data.samples.pattern[sample]
                ray = ray_through(data.lens, column + offset.x, row + offset.y)
                eye, ground = row_of(data.lens, 0), data.ground_height[0]
                sample_depth, kind = seen(data.samples, pixel, sample, 1, ray, eye, ground)
                if kind >= first:
                    count += 1
                    total += sample_depth
        data.coverage[row, column] = count / ti.cast(samples, ti.f32)
        data.depth[row, column] = total / ti.max(count, f32(1.0))


cover_kernel = make_kernel(cover, Covering)

STRIPES = 65  # stripes of one layer in the height of a picture
NARROWEST = 6  # stripe [pixels]
BLEND = 0.25  # part of the mean colour of all layers in the colour of a stripe
SOFTNESS = 2.5  # of the edges of stripes [pixels]


def blend_layers(base, layers, opacity, thickness):
    """Blend layers over a picture.

    The nearest layer hides the others. Layers at the same depth share stripes, so that all colours are visible.

    The weights, which decrease with the distance behind the nearest layer, are those of McGuire and Bavoil, "Weighted
    blended order-independent transparency" (2013). The stripes replace their mixture of colours.

    Args:
        base: (height, width, 3) uint8.
        layers: a list of Layer.
        opacity: of a layer that alone covers a pixel, from 0 to 1.
        thickness: a layer this much farther away has a weight smaller by a factor e [m].

    Returns: (height, width, 3) uint8.
    """
    coverage = np.array([layer.coverage for layer in layers])
    rows, columns = (np.flatnonzero(coverage.any(axis=(0, axis))) for axis in (2, 1))
    blended = base.copy()
    if not len(rows):
        return blended
    window = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    coverage = coverage[(slice(None), *window)]
    depth = np.where(coverage > 0, [layer.depth[window] for layer in layers], np.float32(1e30))
    weight = coverage * np.exp(-np.minimum((depth - depth.min(axis=0)) / thickness, 60))
    weight /= np.maximum(weight.sum(axis=0), 1e-30)

    # The layers at a pixel share a period of the stripes by weight. The edges are smooth over some pixels, also where
    # one period ends and the next begins.
    period = len(layers) * max(base.shape[0] / STRIPES, NARROWEST)
    row, column = np.ogrid[window]
    phase = ((column - row) / period % 1.0).astype(np.float32)
    ends, half = np.cumsum(weight, axis=0), 0.5 * SOFTNESS / period
    stripes = sum(
        np.maximum(np.minimum(ends, phase + turn + half) - np.maximum(ends - weight, phase + turn - half), 0)
        for turn in (-1, 0, 1)
    ) / (2 * half)
    share = BLEND * weight + (1 - BLEND) * stripes
    colours = np.array([layer.picture[window] for layer in layers], dtype=np.float32)
    transparency = np.prod(1 - opacity * coverage, axis=0)[..., None]
    mixed = np.einsum("khw,khwc->hwc", share, colours)
    blended[window] = np.rint(transparency * base[window] + (1 - transparency) * mixed)
    return blended
