"""Triangles and segments at sticks that are torn or cut touch nothing any more. Plain numpy.

Their boxes are empty, so that no search finds them. Vertices and edges that they owned get other owners. At colliders
the distance that they keep is below zero.
"""

import numpy as np

from pbd.collision.surfaces.tables import NO_PARTICLE, owned_features
from pbd.core.kernels import read, write
from pbd.data import ELEMENT, ELEMENT_NUMBER, SURFACE
from pbd.description.contact_elements import PRECISION
from pbd.host.edges import have_both

NOWHERE = -1e30  # distance [m] that keeps nothing apart


def leave_out_torn(arrays, pairs):
    """Leave out the elements at torn sticks, and take all others in again. The next step begins with a search.

    Args: arrays: a Data; pairs: particles of all sticks that are torn or cut (n, 2).
    """
    elements = read(arrays.surface.elements)
    members = elements[:, SURFACE["members"]]
    torn = have_both(members, pairs)
    elements[:, SURFACE["torn"]] = torn
    elements[:, SURFACE["owned"]] = owned_features(np.where(torn[:, None], NO_PARTICLE, members))
    write(arrays.surface.elements, elements)
    numbers = read(arrays.elements.numbers)
    radius = numbers[:, ELEMENT_NUMBER["precision"]] / PRECISION  # zero for those that are not of surfaces
    torn = have_both(read(arrays.elements.integers)[:, ELEMENT["members"]], pairs)
    kept = np.where(torn, NOWHERE, radius)
    numbers[:, ELEMENT_NUMBER["radius"]] = np.where(radius > 0.0, kept, numbers[:, ELEMENT_NUMBER["radius"]])
    write(arrays.elements.numbers, numbers)
