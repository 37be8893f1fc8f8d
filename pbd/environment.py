"""The surroundings at an instant: what a description says of gravity, wind, colliders and paths, as a row of numbers.

A kernel reads row k at the start and row k + 1 at the end of its substep k (columns: see pbd/data.py); one row
serves all substeps where nothing moves.
"""

import numpy as np

from pbd.core.validate import finite_array, finite_vector


def surroundings(particles, time):
    """The surroundings at one instant [s]: gravity, wind, poses of colliders, positions of driven particles, in a
    row."""
    wind = particles.wind
    if callable(wind):
        wind = finite_vector("wind", wind(time))
    row = [particles.gravity, np.zeros(3) if wind is None else wind]
    row += [collider.pose(time) for collider in particles.colliders]
    for driven, path in particles.drives:
        row.append(finite_array("path", np.atleast_2d(path(time)), (len(driven), 3)).ravel())
    return np.concatenate(row)
