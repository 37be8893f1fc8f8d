"""Layers: pictures of one scene that are laid over one another, each with things that the others lack."""

from typing import NamedTuple

import numpy as np
import taichi as ti

from scenes.render.precision import f32, vec2, vec3
from scenes.render.shade import seen


class Layer(NamedTuple):
    """A picture (height, width, 3) uint8; coverage (height, width) of each pixel by what is the layer's own, 0 to 1;
    and the depth of that [m], 0 where there is none."""

    picture: np.ndarray
    coverage: np.ndarray
    depth: np.ndarray


@ti.kernel
def cover(
    keys: ti.types.ndarray(dtype=ti.i64, ndim=2),
    covered: ti.types.ndarray(dtype=ti.i32, ndim=1),
    pattern: ti.types.ndarray(dtype=vec2, ndim=1),
    lens: ti.types.ndarray(dtype=vec3, ndim=1),
    ground: ti.f32,
    first: ti.i32,
    coverage: ti.types.ndarray(dtype=ti.f32, ndim=2),
    depth: ti.types.ndarray(dtype=ti.f32, ndim=2),
):
    """Which part of each pixel shows a kind (see `seen`) from the first one on, and how far away that is [m]."""
    width, samples = coverage.shape[1], keys.shape[1]
    for pixel in range(covered.shape[0]):
        row, column = pixel // width, pixel % width
        count, total = f32(0.0), f32(0.0)
        if covered[pixel] == 1:
            for sample in range(samples):
                ray = lens[1] + lens[2] * (column + pattern[sample].x) + lens[3] * (row + pattern[sample].y)
                there, kind = seen(keys, pixel, sample, 1, ray, lens[0], ground)
                if kind >= first:
                    count += 1
                    total += there
        coverage[row, column] = count / ti.cast(samples, ti.f32)
        depth[row, column] = total / ti.max(count, f32(1.0))


STRIPES = 65  # of a layer's width that fit into the height of a picture
NARROWEST = 6  # stripe [pixels]
BLEND = 0.25  # of a stripe's colour that is the mean of all who are there
SOFT = 2.5  # edge of a stripe [pixels]


def lay(base, layers, opacity, thickness):
    """Layers over a picture, each as opaque as told: what is in front hides; where several are at one place, there are
    stripes of each, so that all of their colours are seen as they are.

    Arguments: base (height, width, 3) uint8; layers; opacity, 0 to 1, of what covers a pixel alone; thickness [m]: how
    much farther away a thing counts e times less. Weights that fall so with the distance behind the nearest are of
    McGuire and Bavoil, "Weighted blended order-independent transparency" (2013); the stripes are ours, where they mix.

    Returns: (height, width, 3) uint8.
    """
    coverage = np.array([layer.coverage for layer in layers])
    rows, columns = (np.flatnonzero(coverage.any(axis=(0, axis))) for axis in (2, 1))
    laid = base.copy()
    if not len(rows):
        return laid
    here = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    coverage = coverage[(slice(None), *here)]
    depth = np.where(coverage > 0, [layer.depth[here] for layer in layers], np.float32(1e30))
    weight = coverage * np.exp(-np.minimum((depth - depth.min(axis=0)) / thickness, 60))
    weight /= np.maximum(weight.sum(axis=0), 1e-30)

    # Who is there shares a period of the stripes by weight; their edges are smoothed over some pixels. A stripe that
    # ends with the period goes on where it starts.
    period = len(layers) * max(base.shape[0] / STRIPES, NARROWEST)
    row, column = np.ogrid[here]
    place = ((column - row) / period % 1.0).astype(np.float32)
    ends, half = np.cumsum(weight, axis=0), 0.5 * SOFT / period
    stripes = sum(
        np.maximum(np.minimum(ends, place + turn + half) - np.maximum(ends - weight, place + turn - half), 0)
        for turn in (-1, 0, 1)
    ) / (2 * half)
    share = BLEND * weight + (1 - BLEND) * stripes
    colours = np.array([layer.picture[here] for layer in layers], dtype=np.float32)
    through = np.prod(1 - opacity * coverage, axis=0)[..., None]
    laid[here] = np.rint(through * base[here] + (1 - through) * np.einsum("khw,khwc->hwc", share, colours))
    return laid
