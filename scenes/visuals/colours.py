"""A colour for each solver, the same one in every plot, film and page."""

# Okabe and Ito's palette ("Color universal design", 2008), which stays apart for colour-blind eyes.
SOLVERS = {"verlet": "#0072b2", "impulse": "#d55e00", "articulated": "#009e73", "penalty": "#cc79a7"}
MORE = ("#e69f00", "#56b4e9", "#8c6d31", "#7b4fa3", "#7f9f1f", "#b2182b")  # for a solver that runs more than once
REFERENCE = "#7a818c"  # of a run that is there to be compared with, and is no solver's usual one


def colours_of(runs, reference=None):
    """A colour, as "#rrggbb", for each of several runs: a solver's own for its first run, of MORE for others.

    Arguments: runs: pairs (label, solver); reference: the label of the run that others are compared with. A reference
    that bears another name than its solver is grey, so that the solver's own run keeps its colour.

    Returns: {label: colour}.
    """
    found = {label: SOLVERS[solver] for label, solver in runs if label == solver and solver in SOLVERS}
    left = list(MORE)
    for label, solver in runs:
        if label in found:
            continue
        own = SOLVERS.get(solver)
        if label == reference:
            found[label] = REFERENCE
        elif own and own not in found.values():
            found[label] = own
        else:
            found[label] = left.pop(0)
            left.append(found[label])
    return {label: found[label] for label, _ in runs}


def rgb(colour):
    """(red, green, blue), 0 to 1, of "#rrggbb"."""
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
