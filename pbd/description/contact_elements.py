"""Contact elements of a description: rows with the columns of `pbd.data.ElementArrays`. Plain numpy, without Taichi."""

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import finite_array, indices, not_negative, spread, whole_array

# Particles of an element: two of a stick, three of a triangle, four of a tetrahedron.
MOST_MEMBERS = 4

# The depth of a surface in a collider is found to this part of its radius. With the best precision a cloth on a ball
# costs 1.8 times as much.
PRECISION = 0.05

NO_ELEMENTS = np.zeros((0, MOST_MEMBERS + 2), np.int64), np.zeros((0, MOST_MEMBERS + 1))


def elements_of(elements, radius, radii):
    """Check sticks, triangles or tetrahedra. Args: see `Particles.add_element_contacts`; radii: of all particles [m].

    Returns: integers (n, 6) and numbers (n, 5).
    """
    expected = "expected (n, 2) sticks, (n, 3) triangles or (n, 4) tetrahedra"
    try:
        shape = whole_array("contact elements", elements, "particles").shape
    except TypeError:
        raise TypeError(f"contact elements are {shown(elements)}: {expected}") from None
    if len(shape) != 2 or not 2 <= shape[1] <= MOST_MEMBERS:
        raise ValueError(f"contact elements have shape {shown(shape)}: {expected}")
    elements = indices("contact elements", elements, len(radii), shape[1])
    repeated = (np.diff(np.sort(elements, axis=1), axis=1) == 0).any(axis=1)
    if repeated.any():
        raise ValueError(f"contact element on particles {shown(elements[repeated][0])}: expected different ones")
    if radius is None:
        radius = radii[elements].min(axis=1)
    else:
        radius = spread("radius", radius, (len(elements),), signed=False)
    return element_rows(elements, np.zeros(shape), radius, fixed=0)


def point_of(particles, weights, radius, count):
    """Check a contact point. Args: see `Particles.add_contact_point`; count: of all particles. Returns: one element."""
    particles = indices("particles of a contact point", particles, count)
    if not 1 <= len(particles) <= MOST_MEMBERS:
        raise ValueError(f"contact point on {len(particles)} particles: expected one to {MOST_MEMBERS}")
    if len(set(particles.tolist())) < len(particles):
        raise ValueError(f"contact point on particles {shown(particles)}: expected different ones")
    weights = finite_array("weights of particles of a contact point", weights, (len(particles),))
    if abs(weights.sum() - 1) > 1e-9:
        raise ValueError(f"weights of a contact point sum to {weights.sum():g}: expected one")
    radius = np.array([not_negative("radius", radius)])
    return element_rows(particles[None], weights[None], radius, fixed=1)


def all_elements(description, apart=()):
    """Rows of all contact elements of a description: its own, and where it has colliders those of its surfaces.

    What has a particle without contacts, or is on a path, has none.

    Args: description: a Particles; apart: indices of particles whose surfaces meet colliders at the particles alone.

    Returns: integers (n, 6) and numbers (n, 6), with the columns of `pbd.data.ElementArrays`.
    """
    integers, numbers = description.contact_elements()
    found = [(integers, np.pad(numbers, ((0, 0), (0, 1))))]
    on_paths = np.concatenate([np.zeros(0, int), *(particles for particles, _ in description.paths)])
    for surface in description.surfaces if description.colliders else ():
        left_out = np.isin(surface.members, apart) | (description.radii()[surface.members] < 0)
        left_out = left_out.any(axis=1) | np.isin(surface.members, on_paths).all(axis=1)
        members = surface.members[~left_out]
        radius, weights = np.full(len(members), surface.radius), np.zeros(members.shape)
        integers, numbers = element_rows(members, weights, radius, fixed=0)
        found.append((integers, np.column_stack([numbers, PRECISION * radius])))
    integers, numbers = map(np.concatenate, zip(*found))
    return integers, numbers


def element_rows(members, weights, radius, fixed):
    """Rows of elements, with the first particle and weights of zero in columns that are not in use."""
    unused = MOST_MEMBERS - members.shape[1]
    padded = np.concatenate([members, np.repeat(members[:, :1], unused, axis=1)], axis=1)
    kind = np.broadcast_to((members.shape[1], fixed), (len(members), 2))
    weights = np.pad(weights, ((0, 0), (0, unused)))
    return np.concatenate([padded, kind], axis=1), np.concatenate([weights, radius[:, None]], axis=1)
