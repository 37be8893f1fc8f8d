"""The floor's checkers and the sky, in linear light."""

import taichi as ti

from scenes.render.precision import constant, f32

LIGHT_TILE = (0.83, 0.85, 0.87)
DARK_TILE = (0.62, 0.65, 0.71)
HORIZON = (0.68, 0.79, 0.90)
ZENITH = (0.28, 0.48, 0.78)


@ti.func
def stripes(place, width):
    """Average over a width of the wave that is +1 on even tiles and -1 on odd ones; place and width in tiles."""
    return (zigzag(place + width * f32(0.5)) - zigzag(place - width * f32(0.5))) / width


@ti.func
def zigzag(place):
    """The wave's integral."""
    phase = place - 2 * ti.floor(place * f32(0.5))
    return 1 - ti.abs(phase - 1)


@ti.func
def checkers(x, y, width_x, width_y):
    """Colour of the floor averaged over a rectangle; all in tiles.

    The checkers' pattern is a product of two waves, so its average is the product of theirs (Quilez, "Filtering
    procedural patterns", 2011): no sampling, no moiré, and the mean of both colours far away.
    """
    mixed = f32(0.5) + f32(0.5) * stripes(x, width_x) * stripes(y, width_y)
    return constant(DARK_TILE) + (constant(LIGHT_TILE) - constant(DARK_TILE)) * mixed


@ti.func
def sky(elevation):
    """Colour of the sky; elevation: sine of the angle above the horizon."""
    height = ti.max(elevation, 0)
    return constant(HORIZON) + (constant(ZENITH) - constant(HORIZON)) * ti.min(height, 1)
