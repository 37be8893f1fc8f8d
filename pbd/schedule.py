"""The schedule: the order of projections, as colours of clusters.

A cluster is a run of constraints that one thread projects in order. Clusters of one colour share no particle, so they
run at the same time. Colours run one after another. The schedule follows from the description alone and never depends
on the number of threads, so the bits of the result do not depend on it either.

    serial     one cluster: type after type, each in the order in which it was added (Jakobsen)
    clusters   slabs of particles in one colour, constraints that cross their borders in one or two more colours. Inside
               a cluster, constraints are sorted by their own colours, because projections of neighbours would wait for
               each other: one thread then projects 195-340 million sticks a second instead of 115-125.
               A single cluster whose particles fall into bands that are alike is sorted by those
               (pbd/execution/bands.py). Its seams are a second cluster. The bands can then lie in the lanes of the
               processor's vectors.
    coloured   clusters of a single constraint, type after type, for graphics cards
"""

from dataclasses import dataclass, replace

import numpy as np

from pbd.execution.bands import Bands, find_bands

SCHEDULES = ("auto", "serial", "clusters", "coloured")

# With fewer constraints than this, the order does not matter for speed: keep the order in which they were added.
SERIAL_LIMIT = 1_000
# A parallel loop and a launch cost about 25 µs each, as much as 8,000 sticks. With fewer members of constraints than
# this, two threads gain nothing (65,000 sticks have 130,000 members, and took 2.6 ms instead of 2.4).
PARALLEL_LIMIT = 180_000
# Constraints in a cluster: few enough for a core's cache, many enough to outweigh the cost of the border.
CLUSTER_SIZE = 16_000
MOST_CLUSTERS = 64


@dataclass
class Schedule:
    """Order of constraints, and the clusters.

    Attributes:
        name: "serial", "clusters" or "coloured".
        orders: for each constraint type, the order (n,) in which its constraints are stored.
        runs: (clusters, types, 2), begin and end of each cluster's constraints of each type. For "coloured", each run
            is a colour of one type, (colours, 3): type, begin, end.
        colours: for "clusters" and "serial", how many clusters each colour has.
        bands: a pbd.execution.bands.Bands if the constraints are sorted by bands, or None.
    """

    name: str
    orders: list
    runs: np.ndarray
    colours: list
    bands: Bands | None = None

    def with_others(self, numbers, others):
        """Number the scheduled constraints anew, and store others behind them, which the runs leave out.

        Args: numbers: for each type, the number of each scheduled constraint; others: of the others. Returns: a
        Schedule.
        """
        orders = [np.concatenate([n[order], o]) for n, order, o in zip(numbers, self.orders, others)]
        return replace(self, orders=orders)

    def iterated_types(self):
        """Indices of the types of which constraints are scheduled, a tuple; not those solved directly, or sensors."""
        if self.name == "coloured":
            return tuple(np.unique(self.runs[:, 0]).tolist())
        return tuple(np.flatnonzero((self.runs[..., 0] < self.runs[..., 1]).any(axis=0)).tolist())

    def groups_of_colours(self, slow, most):
        """Consecutive colours of "coloured", in groups of slow types and of others.

        Args: slow: whether each type is slow; most: colours of a group.

        Returns: a list of (types, first colour, whether they are slow), with the type of each colour.
        """
        groups, is_slow = [], np.array(slow, bool)[self.runs[:, 0]]
        for part in np.split(np.arange(len(self.runs)), np.flatnonzero(np.diff(is_slow)) + 1):
            for group in np.array_split(part, max(-(-len(part) // most), 1)):
                types = tuple(self.runs[group, 0].tolist())
                groups += [(types, int(group[0]), bool(is_slow[group[0]]))] if types else []
        return groups

    def runs_of_clusters(self, types):
        """Runs of clusters, or of colours of one type each (clusters, types, 2). Args: types: how many there are."""
        if self.name != "coloured":
            return self.runs
        runs = np.zeros((len(self.runs), types, 2), int)
        runs[np.arange(len(runs)), self.runs[:, 0]] = self.runs[:, 1:]
        return runs

    @property
    def is_one_cluster(self):
        """Whether one thread projects all constraints: those of one cluster, or those of bands and then their seams."""
        return self.name != "coloured" and (len(self.runs) == 1 or self.bands is not None)


def make_schedule(name, members, positions, on_cpu=True, worlds=1, clusters=None, bands=(), coupled=()):
    """Make the schedule of a description.

    Args:
        name: one of SCHEDULES.
        members: for each constraint type, (n, arity) indices.
        positions: (particles, 3) [m], by which slabs are cut.
        on_cpu: whether kernels run on the processor.
        worlds: how many run side by side.
        clusters: number of slabs for "clusters"; None for a number by size.
        bands: into how many bands one cluster may be cut, in the order in which they are tried.
        coupled: for each type, the constraints that each is coupled to (n, others); () if none is.

    Returns: a Schedule.
    """
    total = sum(map(len, members))
    if name == "auto":
        if not on_cpu and worlds == 1 and total > SERIAL_LIMIT // 4:
            name = "coloured"
        else:
            name = "serial" if total < SERIAL_LIMIT else "clusters"
    if name == "serial":
        return one_cluster(name, [np.arange(len(m)) for m in members])
    if name == "coloured":
        return coloured(colours_of(members, len(positions)))
    if clusters is None:
        clusters = 1
        if worlds == 1 and sum(m.size for m in members) >= PARALLEL_LIMIT:
            clusters = int(np.clip(total // CLUSTER_SIZE, 2, MOST_CLUSTERS))
    if clusters == 1 or not total:
        for lanes in bands if total >= SERIAL_LIMIT else ():
            found, orders = find_bands(members, len(positions), lanes, colour_constraints, coupled)
            if found:
                return in_bands(found, orders)
        colours = colours_of(members, len(positions))
        return one_cluster("clusters", [np.argsort(c, kind="stable") for c in colours])
    return clustered(members, colours_of(members, len(positions)), cut_into_slabs(positions, clusters))


def colours_of(members, particles):
    """Colours of the constraints of each type, see `colour_constraints`."""
    return [colour_constraints(each, particles) for each in members]


def one_cluster(name, orders):
    """All constraints in one cluster of one colour."""
    runs = np.array([(0, len(order)) for order in orders], int).reshape(1, len(orders), 2)
    return Schedule(name, orders, runs, [1])


def in_bands(bands, orders):
    """Two clusters: constraints within bands, and seams. Args: bands: a Bands; orders: see `Schedule`."""
    runs = np.zeros((2, len(orders), 2), int)
    for index, (places, order) in enumerate(zip(bands.places, orders)):
        inner = np.count_nonzero(places.place < places.inner)
        runs[:, index] = (0, inner), (inner, len(order))
    return Schedule("clusters", orders, runs, [1, 1], bands)


def coloured(colours):
    """A run for each colour of each type. Args: colours: for each type, the colour (n,) of each constraint."""
    orders = [np.argsort(c, kind="stable") for c in colours]
    runs = []
    for index, colour in enumerate(colours):
        ends = np.cumsum(np.bincount(colour))
        runs += [(index, end - size, end) for end, size in zip(ends, np.bincount(colour))]
    return Schedule("coloured", orders, np.array(runs, int).reshape(-1, 3), [])


def cut_into_slabs(positions, count):
    """The slab (particles,) of each particle: slabs of equal counts along the longest side of the bounding box."""
    axis = int(np.argmax(np.ptp(positions, axis=0)))
    rank = np.empty(len(positions), np.int64)
    rank[np.argsort(positions[:, axis], kind="stable")] = np.arange(len(positions))
    return rank * count // len(positions)


def clustered(members, colours, slab):
    """Make clusters of slabs, and of the constraints that cross between slabs.

    Args: members: for each type, (n, arity); colours: for each type, (n,); slab: (particles,).
    """
    # A cluster's name consists of the lowest and the highest slab of its constraints. If they are equal, the cluster
    # lies inside a slab.
    count = int(slab.max()) + 1
    names = [slab[m].min(axis=1) * count + slab[m].max(axis=1) for m in members]
    clusters = np.unique(np.concatenate(names))
    inner = clusters // count == clusters % count
    colour_of = {int(name): 0 for name in clusters[inner]}
    taken = []  # for each colour, the particles of its crossing clusters
    for name in map(int, clusters[~inner]):
        # Greedy: the lowest colour in which none of the cluster's particles is taken.
        own = np.unique(np.concatenate([m[n == name].ravel() for m, n in zip(members, names)]))
        colour = next((k for k, has in enumerate(taken) if not has[own].any()), len(taken))
        if colour == len(taken):
            taken.append(np.zeros(len(slab), bool))
        taken[colour][own] = True
        colour_of[name] = colour + 1
    clusters = sorted(colour_of, key=lambda name: (colour_of[name], name))
    place = {name: k for k, name in enumerate(clusters)}
    runs = np.zeros((len(clusters), len(members), 2), np.int64)
    orders = []
    for index, (name, colour) in enumerate(zip(names, colours)):
        cluster = np.array([place[n] for n in np.unique(name)])[np.unique(name, return_inverse=True)[1]]
        orders.append(np.lexsort((colour, cluster)))
        ends = np.cumsum(np.bincount(cluster, minlength=len(clusters)))
        runs[:, index, 0], runs[:, index, 1] = np.concatenate([[0], ends[:-1]]), ends
    sizes = np.bincount([colour_of[name] for name in clusters])
    return Schedule("clusters", orders, runs, sizes.tolist())


def colour_constraints(members, particles):
    """Colour constraints greedily: each gets the lowest colour that none of its particles has.

    Args: members: (n, arity) indices; particles: number of particles. Returns: colours (n,).
    """
    taken = [0] * particles  # bits of the colours that each particle has
    colours = []
    for own in members.tolist():
        found = 0
        for particle in own:
            found |= taken[particle]
        lowest = ~found & (found + 1)
        for particle in own:
            taken[particle] |= lowest
        colours.append(lowest.bit_length() - 1)
    return np.array(colours, np.int32)
