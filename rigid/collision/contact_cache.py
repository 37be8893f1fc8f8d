"""The contact cache: numbers of a contact, such as its impulse, stored for the same contact of the next step.

A step looks up each of its contacts once, before it stores any. The entries of one shape a are a linked list. In this
list a contact is identified by its shape b and its feature. Store the last contact first: then the list has the order
in which contacts are looked up, and most of them are found at its beginning.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Integer, Real, count, load_vector, store_vector
from rigid.collision.data import PAIR, POINT

# Numbers of an entry: a vector of the solver's choice, in the world; the position of the contact point [m]; and, where
# contacts resist rolling or spinning, the angular impulse [N m s].
CACHED = Columns(vector=3, position=3, angular=3)

# Integers of an entry: shape b, or -1 once the entry has been found; the contact's feature; the next entry of the list.
CACHE_KEY = Columns(shape_b=1, feature=1, next=1)


class ContactCache(NamedTuple):
    """Contacts of the last step. Entries are counted from one in `first` and `next`; zero ends a list."""

    numbers: Real(count.worlds, count.contacts, CACHED, kept=True)
    keys: Integer(count.worlds, count.contacts, CACHE_KEY, kept=True)
    first: Integer(count.shapes, count.worlds, kept=True)  # of each shape a


@ti.func
def look_up(cache: ti.template(), points: ti.template(), c, tolerance, world):
    """Find the entry of a contact and take it, so that no other contact gets it.

    Where boxes lie edge on edge, a corner may take the place of a crossing: then the feature changes, and the nearest
    entry of the same two shapes is the contact's.

    Args:
        cache, points: ContactCache and Points.
        c: the contact, an index of `points`; its shape a is not -1.
        tolerance: how far away an entry with another feature may be [m]; 0 to accept the same feature alone.

    Returns: index of the entry; -1 for a new contact.
    """
    shape_b, feature = points.integers[world, c, PAIR.shape_b], points.features[world, c]
    point = load_vector(points.numbers, c, POINT.position, world)
    found, before, nearest, previous = -1, -1, tolerance, -1
    entry = cache.first[points.integers[world, c, PAIR.shape_a], world] - 1
    while entry >= 0:
        following = cache.keys[world, entry, CACHE_KEY.next] - 1
        if cache.keys[world, entry, CACHE_KEY.shape_b] == shape_b:
            if cache.keys[world, entry, CACHE_KEY.feature] == feature:
                found, before, following = entry, previous, -1
            else:
                distance = (load_vector(cache.numbers, entry, CACHED.position, world) - point).norm()
                if distance < nearest:
                    found, before, nearest = entry, previous, distance
        previous = entry
        entry = following
    if found >= 0:
        cache.keys[world, found, CACHE_KEY.shape_b] = -1
        # The first entry stays, so that `first` tells whether a shape had contacts. Threads may look up different pairs
        # of one list at the same time: then entries that were found may stay in it, which does no harm.
        if before >= 0:
            cache.keys[world, before, CACHE_KEY.next] = cache.keys[world, found, CACHE_KEY.next]
    return found


@ti.func
def clear(cache: ti.template(), world):
    """Remove all contacts of a world."""
    for shape in range(cache.first.shape[0]):
        cache.first[shape, world] = 0


@ti.func
def store(cache: ti.template(), points: ti.template(), c, vector, world):
    """Store a contact as the first entry of its shape a. `CACHED.angular` is left to the caller.

    Args: cache, points: ContactCache and Points; c: the contact, whose shape a is not -1; vector (3,).
    """
    store_vector(cache.numbers, c, CACHED.vector, vector, world)
    store_vector(cache.numbers, c, CACHED.position, load_vector(points.numbers, c, POINT.position, world), world)
    cache.keys[world, c, CACHE_KEY.shape_b] = points.integers[world, c, PAIR.shape_b]
    cache.keys[world, c, CACHE_KEY.feature] = points.features[world, c]
    link(cache, points, c, world)


@ti.func
def link(cache: ti.template(), points: ti.template(), c, world):
    """Put an entry that is stored, of contact c, into the list of its shape a."""
    shape = points.integers[world, c, PAIR.shape_a]
    cache.keys[world, c, CACHE_KEY.next] = cache.first[shape, world]
    cache.first[shape, world] = c + 1
