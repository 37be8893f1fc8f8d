"""A rolling ground, which scenes on terrain share."""

import math

import numpy as np


def hills(size, points, height, rng):
    """Heights of a rolling terrain (points, points) [m]. Args: size [m]; points along a side; height of hills [m]."""
    x, y = np.meshgrid(*2 * [np.linspace(-size / 2, size / 2, points)])
    heights = np.zeros_like(x)
    for length in (6.0, 3.3, 1.9):
        for _ in range(3):
            heading, phase = rng.uniform(0, 2 * math.pi, 2)
            wave = 2 * math.pi / length * (x * math.cos(heading) + y * math.sin(heading)) + phase
            heights += height * length / 18 * np.sin(wave)
    return heights - heights.min() + 0.02  # above the floor that pictures have at zero
