"""The contact cache: what is stored is found once, in any order, by its feature or by its place."""

from typing import NamedTuple

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import Host, Launch, allocate, make_kernel
from rigid.collision.contact_cache import ContactCache, look_up, store
from rigid.collision.data import PAIR, POINT, Points


class Data(NamedTuple):
    """Contacts, the order in which they are looked up, and the entries that are found."""

    cache: ContactCache
    stored: Points
    points: Points
    order: Host(1)
    entries: Host(1)
    tolerance: float


@ti.func
def store_and_look_up(s: ti.template()):
    for world in range(1):
        count = s.order.shape[0]
        for back in range(count):
            c = count - 1 - back
            store(s.cache, s.stored, c, ti.Vector([1.0, 2.0, 3.0]), world)
        for k in range(s.entries.shape[0]):
            c = ti.cast(s.order[k % count], ti.i32)
            s.entries[k] = look_up(s.cache, s.points, c, s.tolerance, world)


def entries(stored, points, order, tolerance=0.0, times=1):
    """Entries that contacts of `points` find among those of `stored`. Args: (numbers, integers, features) of both."""
    arrays = []
    for numbers, integers, features in (stored, points):
        values = {"numbers": numbers[None], "integers": integers[None], "features": features[None]}
        arrays.append(allocate(Points, values, worlds=1, contacts=len(numbers)))
    cache = allocate(ContactCache, worlds=1, contacts=len(order), shapes=5)
    found = np.zeros(times * len(order))
    Launch(make_kernel(store_and_look_up, Data), cache, *arrays)(order.astype(float), found, tolerance)
    return found.astype(int)


def contacts(count, seed):
    """Numbers, integers and features of contacts of 20 pairs of shapes, one pair after another."""
    random = np.random.default_rng(seed)
    numbers, integers = np.zeros((count, POINT.total)), np.zeros((count, PAIR.total), np.int32)
    numbers[:, POINT["position"]] = random.normal(size=(count, 3))
    pairs = np.sort(random.integers(0, 20, count))
    integers[:, PAIR.shape_a], integers[:, PAIR.shape_b] = pairs // 4, 5 + pairs % 4
    return numbers, integers, np.arange(count, dtype=np.int32)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shuffled", [False, True])
def test_each_contact_finds_its_own_entry_once(seed, shuffled):
    stored = contacts(60, seed)
    order = np.random.default_rng(seed).permutation(60) if shuffled else np.arange(60)
    found = entries(stored, stored, order, times=2)
    assert (found[:60] == order).all()
    assert (found[60:] == -1).all()


def test_contacts_with_new_features_find_the_nearest_entry_of_their_pair():
    stored = contacts(60, 3)
    moved = stored[0].copy()
    moved[:, :3] += 1e-6
    new = moved, stored[1], stored[2] + 1000
    assert (entries(stored, new, np.arange(60), tolerance=1e-3) == np.arange(60)).all()
    assert (entries(stored, new, np.arange(60), tolerance=1e-7) == -1).all()
