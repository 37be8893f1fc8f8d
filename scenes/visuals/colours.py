"""Colours of scenes, and one colour for each solver in all plots, films and pages."""

import numpy as np

# Colours of scenes, sRGB from 0 to 1.
RED, SAND, BLUE, STEEL, GOLD, GREEN, WOOD, CHALK = (
    (0.85, 0.30, 0.24),
    (0.86, 0.66, 0.52),
    (0.13, 0.32, 0.48),
    (0.45, 0.52, 0.58),
    (0.90, 0.68, 0.22),
    (0.36, 0.58, 0.28),
    (0.55, 0.40, 0.27),
    (0.88, 0.87, 0.84),
)
STONE = (0.62, 0.64, 0.68)
FLOOR = (224 / 255, 228 / 255, 233 / 255)  # of pages and files; pictures have a checkered one

# Colours of bodies, in turn, if a scene chooses none.
PALETTE = np.array([RED, GOLD, BLUE, GREEN, SAND, STEEL])

# The palette of Okabe and Ito ("Color universal design", 2008) is distinct for colour-blind readers, too.
SOLVERS = {"verlet": "#0072b2", "impulse": "#d55e00", "articulated": "#009e73", "penalty": "#cc79a7"}
MORE = ("#e69f00", "#56b4e9", "#8c6d31", "#7b4fa3", "#7f9f1f", "#b2182b")  # for more runs of one solver
REFERENCE = "#7a818c"  # of a reference run with other settings than usual


def colours_of(runs, reference=None):
    """Choose a colour for each of several runs.

    The first run of a solver gets the colour of the solver, further runs get colours of MORE. A reference whose label
    is not the name of its solver is grey, so that the usual run of the solver keeps its colour.

    Args: runs: pairs (label, solver); reference: label of the run that others are compared with, or None.

    Returns:
        {label: colour}, as "#rrggbb".
    """
    found = {label: SOLVERS[solver] for label, solver in runs if label == solver and solver in SOLVERS}
    left = list(MORE)
    for label, solver in runs:
        if label in found:
            continue
        usual = SOLVERS.get(solver)
        if label == reference:
            found[label] = REFERENCE
        elif usual and usual not in found.values():
            found[label] = usual
        else:
            found[label] = left.pop(0)
            left.append(found[label])
    return {label: found[label] for label, _ in runs}


def linear_light(colours):
    """Convert sRGB from 0 to 1 to linear light (IEC 61966-2-1). Args: colours: numbers of any shape."""
    colours = np.asarray(colours, dtype=np.float64)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def rgb(colour):
    """Convert "#rrggbb" to (red, green, blue) from 0 to 1."""
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
