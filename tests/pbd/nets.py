"""A net, for tests of schedules."""

import numpy as np


def grid(rows, columns, seed=None):
    """Positions and sticks (with both diagonals) of a net, its bending edges, in a scrambled order of insertion."""
    x = np.array([(j * 0.1, 0.0, -i * 0.1) for i in range(rows) for j in range(columns)])
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = [number[:, :-1], number[:, 1:]], [number[:-1], number[1:]], [number[:-1, :-1], number[1:, 1:]]
    sticks = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    cells = (number[:-1, :-1], number[1:, 1:], number[:-1, 1:], number[1:, :-1])
    hinges = np.stack([corner.ravel() for corner in cells], axis=1)
    if seed is not None:
        rng = np.random.default_rng(seed)
        sticks, hinges = rng.permutation(sticks), rng.permutation(hinges)
    return x, sticks, hinges
