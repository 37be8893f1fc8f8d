"""Bands: parts of one cloth that are alike, one in each lane of the processor's vectors. Plain numpy, without Taichi.

Particle i is at slot i % P of band i // P. A *place* is a tuple of slots: the constraints at one place, at most one in
each band, are projected together. Where a band lacks one, its lane is not stored. A *seam* is a constraint between a
band and the next one. It finds the particles of the next band in its *halo*, further slots that hold copies of them. An
iteration projects the constraints within bands, copies the first slots of each band to the halo of the band before,
projects the seams, and copies the halo back. Coupled constraints read the λ of others, which may be in the next band or
in the one before, see `others_of`.

Constraints at places of one colour share no particle, whatever their bands. So the bits are those of the same colours
one constraint after another, in any order of those of a colour: the schedule has band after band, which are near each
other in memory. The order follows from the members of constraints alone: P is tried at multiples of the commonest
differences of members, such as the length of a row, and the one with the least work is taken.
"""

import functools
from typing import NamedTuple

import numpy as np

# Work for a particle in a substep, in that for a member of a constraint.
WORK_OF_PARTICLE = 4.0
# Bands must take at most so many times the work that they would if no lane was idle.
MOST_WORK = 2.0
# How many of the commonest differences between members are tried, and how many multiples of each.
DIFFERENCES, MULTIPLES = 6, 2
MOST = 2**63 - 1  # of an integer of numpy


class Places(NamedTuple):
    """Places of the constraints of one type.

    Attributes: members: (places, arity) slots, those in the halo from P on; full: how many places have a constraint in
    each band, they come first; inner: how many come before seams; place, lane: (n,) of each constraint in the order of
    the schedule; others: (places, coupled) those that each is coupled to, as 3 · place + 1 + how many bands further.
    """

    members: np.ndarray
    full: int
    inner: int
    place: np.ndarray
    lane: np.ndarray
    others: np.ndarray | None = None


class Bands(NamedTuple):
    """Bands of a description.

    Attributes: lanes: how many bands; particles: how many there are; length: P; halo: (h,) slots of the next band
    that seams reach, in the order of the halo; places: for each type, its Places.
    """

    lanes: int
    particles: int
    length: int
    halo: np.ndarray
    places: list

    @property
    def slots(self):
        """Slots of a band, with its halo."""
        return self.length + len(self.halo)

    @property
    def place_of_particles(self):
        """Slot and lane of each particle, as slot · lanes + lane (particles,)."""
        lane, slot = np.divmod(np.arange(self.particles), self.length)
        return slot * self.lanes + lane


def find_bands(members, particles, lanes, colour, coupled=()):
    """Cut a description into bands.

    Args: members: for each constraint type, (n, arity) indices; particles: how many; lanes: how many bands; colour:
    function (members, particles) -> colours (n,) of constraints that share no particle, see pbd/schedule.py; coupled:
    for each type, the constraints that each is coupled to (n, others); itself for none; () if none is.

    Returns: Bands, and for each type the order (n,) of its constraints; or None and None where too many lanes would be
    idle, or bands are coupled in different ways.
    """
    work = WORK_OF_PARTICLE * particles + sum(each.size for each in members)
    least, best = MOST_WORK * work / lanes, None
    repetitions = [repetitions_of(each) for each in members]
    for length in lengths_to_try(members, -(-particles // lanes)):
        if WORK_OF_PARTICLE * length + sum(each.size for each in members) / lanes >= least:
            continue
        if not can_cut(members, length):
            continue
        counts = [np.unique(keys_of(own, repeated, length)).size for own, repeated in zip(members, repetitions)]
        work = WORK_OF_PARTICLE * length + sum(count * each.shape[1] for count, each in zip(counts, members))
        if work < least:
            least, best = work, length
    if best is None:
        return None, None
    halo = slots_of_seams(members, best)[1]
    found = [places_of(own, repeated, best, lanes, halo, colour) for own, repeated in zip(members, repetitions)]
    places, orders = zip(*found)
    none = [np.zeros((len(each), 0), int) for each in members]
    others = [others_of(*each) for each in zip(places, orders, coupled or none)]
    if any(each is None for each in others):
        return None, None
    places = [each._replace(others=at) for each, at in zip(places, others)]
    return Bands(lanes, particles, best, halo, places), list(orders)


def lengths_to_try(members, shortest):
    """Lengths of bands, in ascending order. Args: members: see `find_bands`; shortest: of all."""
    differences = np.concatenate([np.abs(np.diff(each, axis=1)).ravel() for each in members])
    counts = np.bincount(differences)
    common = np.argsort(-counts, kind="stable")[:DIFFERENCES]
    common = common[counts[common] > 0]
    first = -(-shortest // common) * common
    return np.unique(np.concatenate([first + k * common for k in range(MULTIPLES)])).tolist()


def slots_in_bands(members, length):
    """Slots (n, arity) from the first band that a constraint is in, and that band (n,)."""
    lane = over_columns(np.minimum, members) // length
    return members - length * lane[:, None], lane


def over_columns(ufunc, members):
    """Combine the few columns of an array (n, arity), as `ufunc.reduce(members, axis=1)` does several times slower."""
    return functools.reduce(ufunc, members.T)


def slots_of_seams(members, length):
    """Slots of the bands and slots of the next bands that seams reach. Args: see `find_bands`; length: P."""
    slots = [slots_in_bands(each, length)[0] for each in members]
    seams = np.concatenate([each[over_columns(np.maximum, each) >= length].ravel() for each in slots])
    return np.unique(seams[seams < length]), np.unique(seams[seams >= length]) - length


def can_cut(members, length):
    """Whether seams join a band to the next one only, and no slot is both in a seam and in a halo."""
    spans = [over_columns(np.maximum, each) - over_columns(np.minimum, each) for each in members]
    if any((span >= length).any() for span in spans):
        return False
    own, others = slots_of_seams(members, length)
    return not len(others) or (others.max() < length and not np.isin(own, others).any())


def repetitions_of(members):
    """For each constraint, the number of constraints before it with the same members in the same order (n,)."""
    key = joined(members.T)
    order = np.argsort(key, kind="stable")
    index = np.arange(len(order))
    is_first = np.diff(key[order], prepend=-1) > 0
    repetition = np.empty(len(order), np.int64)
    repetition[order] = index - np.maximum.accumulate(np.where(is_first, index, 0))
    return repetition


def keys_of(members, repetition, length):
    """A number (n,) for each constraint, the same for constraints at one place, in the order of slots.

    A second constraint on the same particles has another place.
    """
    slots, _ = slots_in_bands(members, length)
    return joined([*slots.T, repetition])


def joined(columns):
    """One number (n,) for each row of some columns of numbers from 0 on, in the order of the rows."""
    key, above = np.zeros(len(columns[0]), np.int64), 1  # all numbers are less
    for column in columns:
        limit = int(column.max(initial=0)) + 1
        if above * limit > MOST:
            key, above = np.unique(key, return_inverse=True)[1], len(key)
        key, above = key * limit + column, above * limit
    return key


def places_of(members, repetition, length, lanes, halo, colour):
    """Places of the constraints of one type: a Places, and the order (n,) of its constraints.

    Args: members (n, arity); repetition: see `repetitions_of`; length: P; lanes, halo, colour: see Bands and
    `find_bands`. Places are sorted by colour, because projections of neighbours would wait for each other.
    """
    slots, lane = slots_in_bands(members, length)
    if len(halo):
        slots = np.where(slots >= length, length + np.searchsorted(halo, slots - length), slots)
    _, first, place = np.unique(keys_of(members, repetition, length), return_index=True, return_inverse=True)
    at = slots[first]
    seam, full = (at >= length).any(axis=1), np.bincount(place, minlength=len(at)) == lanes
    keys = colour(at, length + len(halo)), ~full, seam
    by_colour = np.lexsort(keys)
    rank = np.empty(len(at), np.int64)
    rank[by_colour] = np.arange(len(at))
    order = np.lexsort((rank[place], lane, *(key[place] for key in keys)))
    return Places(at[by_colour], int(full.sum()), int((~seam).sum()), rank[place][order], lane[order]), order


def others_of(places, order, coupled):
    """The places that places are coupled to, see Places; None where bands differ, or their order would count.

    Args: places: of one type; order (n,): of its constraints; coupled (n, others).

    While constraints within bands are projected, seams keep their λ, and while seams are, the others do. So the λ of
    another band is the same in lanes as one constraint after another if it is on the other side of the two.
    """
    at, lane = np.empty((2, len(order)), int)
    at[order], lane[order] = places.place, places.lane
    further = lane[coupled[order]] - places.lane[:, None]
    keys = 3 * at[coupled[order]] + 1 + further
    exists = coupled[order] != order[:, None]
    seam = places.place[:, None] >= places.inner, at[coupled[order]] >= places.inner
    others = np.repeat(3 * np.arange(len(places.members))[:, None] + 1, coupled.shape[1], axis=1)
    constraint, column = np.nonzero(exists)
    others[places.place[constraint], column] = keys[exists]
    alike = (keys == others[places.place]) & ((further == 0) | ((abs(further) == 1) & (seam[0] != seam[1])))
    return others if (alike | ~exists).all() else None
