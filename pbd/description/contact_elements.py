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


def add_element_contacts(description, elements, radius=None):
    """Keep sticks, triangles or tetrahedra out of colliders as a whole, not only their particles.

    In each iteration, the deepest point Σ c_i x_i of each element is found and moved out, with the friction of the
    collider. The corrections of its particles are proportional to c_i/m_i, so this is one impulse at that point.
    Restitution acts on particles alone. Boxes need no such contacts: if all particles are inside a box, the
    elements between them are.

    Args:
        elements: (n, 2), (n, 3) or (n, 4) indices.
        radius: distance that elements keep from colliders [m], for all or one each; None for the smallest radius of
            an element's particles.

    Raises: ValueError for elements of another shape, a particle twice in one, or a negative radius.

    Source: Jakobsen, Advanced Character Physics (2001), section 5.
    """
    add_elements(description, *elements_of(elements, radius, description.radii()))


def add_contact_point(description, particles, weights, radius=0.0):
    """Keep one point of some particles out of colliders and inside boxes, such as a corner of what they carry.

    Args:
        particles: up to four indices (n,).
        weights: of the particles in the point p = Σ c_i x_i, (n,). They sum to one, and may be negative for a point
            outside of the particles.
        radius: distance of the point from colliders and boxes [m].

    Raises: ValueError for weights that do not sum to one, too many particles, or a particle twice.

    Source: Jakobsen, Advanced Character Physics (2001), section 5.
    """
    add_elements(description, *point_of(particles, weights, radius, description.count))


def add_elements(description, integers, numbers):
    """Add rows. Args: description: a Particles; integers, numbers: see `element_rows`."""
    description._columns["element"].append(integers)
    description._columns["element_number"].append(numbers)
