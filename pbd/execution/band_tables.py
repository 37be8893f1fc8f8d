"""Arrays of a particle system with bands in lanes (pbd/execution/bands.py): where each item lies. Plain numpy."""

import numpy as np

from pbd.core.kernels import Placed, Substitute


def placements_of(bands, types, multipliers):
    """Layouts of arrays with an axis of worlds, by the name of their first axis, and of others (see `allocate`).

    Args: bands: a Bands; types: its ConstraintTypes; multipliers: how many, with those of grab springs.
    """
    lanes, places = bands.lanes, bands.places
    counts, partial = np.array([(len(each.members), len(each.members) - each.full) for each in places]).T
    widths = np.array([each.width for each in types])
    multiplied = np.array([each.multipliers * each.compliance for each in types])
    sizes = np.column_stack([[each.members.size for each in places], counts * widths, counts * multiplied, partial])
    ends = np.cumsum(sizes, axis=0)
    starts = ends - sizes
    parameters, projected, present = [], [np.zeros(0, int)], []
    for each, width, several, start in zip(places, widths, multiplied, starts):
        numbers = (start[1] + width * each.place)[:, None] + np.arange(width)
        parameters.append((numbers * lanes + each.lane[:, None]).ravel())
        numbers = (start[2] + several * each.place)[:, None] + np.arange(several)
        projected.append((numbers * lanes + each.lane[:, None]).ravel())
        chosen = each.place >= each.full
        present.append((start[3] - each.full + each.place[chosen]) * lanes + each.lane[chosen])
    grabs = multipliers - sum(map(len, projected))
    projected.append((ends[-1, 2] + np.arange(grabs)) * lanes)  # those of grab springs are in the first lane
    inner = np.array([each.inner for each in places])
    runs = np.stack([np.column_stack([0 * inner, inner]), np.column_stack([inner, counts])])
    coupled = np.cumsum([0, *(each.others.size for each in places)])
    with_worlds = {
        "particles": Placed(bands.place_of_particles, bands.slots, lanes),
        "parameters": Placed(np.concatenate(parameters), ends[-1, 1], lanes),
        "multipliers": Placed(np.concatenate(projected), ends[-1, 2] + grabs, lanes),
        "partial": Placed(np.concatenate(present), ends[-1, 3], lanes),
    }
    if coupled[-1]:
        with_worlds["moments"] = with_worlds["multipliers"]
    return with_worlds, {
        "members": Substitute(np.concatenate([each.members.ravel() for each in places])),
        "types": Substitute(np.column_stack([starts[:, :3], counts, starts[:, 3], counts - partial, coupled[:-1]])),
        "coupled": Substitute(np.concatenate([each.others.ravel() for each in places])),
        "clusters": Substitute(runs),
    }


def tables_of(bands, members, worlds):
    """Values of BandArrays. Args: bands: a Bands; members: of all constraints; worlds: how many."""
    return {
        "place": bands.place_of_particles,
        "members": members,
        "halo": bands.halo,
        "present": np.ones((count_partial(bands), worlds)),
    }


def count_partial(bands):
    """Number of constraints at places that some bands lack. Args: bands: a Bands, or None."""
    return 0 if bands is None else sum(np.count_nonzero(each.place >= each.full) for each in bands.places)
