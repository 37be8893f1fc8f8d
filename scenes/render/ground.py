"""Colours of the floor and the sky, in linear light."""

import taichi as ti

from scenes.render.precision import constant, f32

LIGHT_TILE = (0.83, 0.85, 0.87)
DARK_TILE = (0.62, 0.65, 0.71)
HORIZON = (0.68, 0.79, 0.90)
ZENITH = (0.28, 0.48, 0.78)


@ti.func
def mean_square_wave(position, width):
    """Mean of a square wave over a width. The wave is +1 on even tiles and -1 on odd ones. Args: in tiles."""
    return (triangle_wave(position + width * f32(0.5)) - triangle_wave(position - width * f32(0.5))) / width


@ti.func
def triangle_wave(position):
    """The integral of the square wave."""
    phase = position - 2 * ti.floor(position * f32(0.5))
    return 1 - ti.abs(phase - 1)


@ti.func
def floor_colour(x, y, width_x, width_y):
    """Mean colour of the floor over a rectangle. Args: centre and size of the rectangle, in tiles.

    The checkers are a product of two waves, so their mean is the product of two means (Quilez, "Filtering procedural
    patterns", 2011). Without sampling there is no moiré. Far away the colour is the mean of both tiles.
    """
    mixed = f32(0.5) + f32(0.5) * mean_square_wave(x, width_x) * mean_square_wave(y, width_y)
    return constant(DARK_TILE) + (constant(LIGHT_TILE) - constant(DARK_TILE)) * mixed


@ti.func
def sky_colour(elevation):
    """Colour of the sky. Args: elevation: sine of the angle above the horizon."""
    height = ti.max(elevation, 0)
    return constant(HORIZON) + (constant(ZENITH) - constant(HORIZON)) * ti.min(height, 1)
