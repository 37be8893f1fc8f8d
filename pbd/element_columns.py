"""ElementColumns: points, sticks, triangles and tetrahedra of a description that stay out of colliders as a whole."""

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import finite_array, indices, not_negative, spread, whole_array
from pbd.particle_columns import ParticleColumns

# Particles of an element: two of a stick, three of a triangle, four of a tetrahedron.
MOST_MEMBERS = 4


class ElementColumns(ParticleColumns):
    """Base of Particles: contact points and contact elements. A particle alone needs none of them."""

    def __init__(self):
        super().__init__()
        self._columns["element"] = [np.zeros((0, MOST_MEMBERS + 2), np.int64)]
        self._columns["element_number"] = [np.zeros((0, MOST_MEMBERS + 1))]

    def contact_elements(self):
        """All contact elements: integers (n, 6) and numbers (n, 5), with the columns of `pbd.data.ElementArrays`."""
        return self._column("element"), self._column("element_number")

    def add_element_contacts(self, elements, radius=None):
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
        expected = "expected (n, 2) sticks, (n, 3) triangles or (n, 4) tetrahedra"
        try:
            shape = whole_array("contact elements", elements, "particles").shape
        except TypeError:
            raise TypeError(f"contact elements are {shown(elements)}: {expected}") from None
        if len(shape) != 2 or not 2 <= shape[1] <= MOST_MEMBERS:
            raise ValueError(f"contact elements have shape {shown(shape)}: {expected}")
        elements = indices("contact elements", elements, self.count, shape[1])
        repeated = (np.diff(np.sort(elements, axis=1), axis=1) == 0).any(axis=1)
        if repeated.any():
            raise ValueError(f"contact element on particles {shown(elements[repeated][0])}: expected different ones")
        if radius is None:
            radius = self.radii()[elements].min(axis=1)
        else:
            radius = spread("radius", radius, (len(elements),), signed=False)
        self._add_elements(elements, np.zeros(shape), radius, fixed=0)

    def add_contact_point(self, particles, weights, radius=0.0):
        """Keep one point of some particles out of colliders and inside boxes, such as a corner of what they carry.

        Args:
            particles: up to four indices (n,).
            weights: of the particles in the point p = Σ c_i x_i, (n,). They sum to one, and may be negative for a point
                outside of the particles.
            radius: distance of the point from colliders and boxes [m].

        Raises: ValueError for weights that do not sum to one, too many particles, or a particle twice.

        Source: Jakobsen, Advanced Character Physics (2001), section 5.
        """
        particles = indices("particles of a contact point", particles, self.count)
        if not 1 <= len(particles) <= MOST_MEMBERS:
            raise ValueError(f"contact point on {len(particles)} particles: expected one to {MOST_MEMBERS}")
        if len(set(particles.tolist())) < len(particles):
            raise ValueError(f"contact point on particles {shown(particles)}: expected different ones")
        weights = finite_array("weights of particles of a contact point", weights, (len(particles),))
        if abs(weights.sum() - 1) > 1e-9:
            raise ValueError(f"weights of a contact point sum to {weights.sum():g}: expected one")
        radius = np.array([not_negative("radius", radius)])
        self._add_elements(particles[None], weights[None], radius, fixed=1)

    def _add_elements(self, members, weights, radius, fixed):
        """Add rows, with the first particle and weights of zero in columns that are not in use."""
        unused = MOST_MEMBERS - members.shape[1]
        padded = np.concatenate([members, np.repeat(members[:, :1], unused, axis=1)], axis=1)
        kind = np.broadcast_to((members.shape[1], fixed), (len(members), 2))
        self._columns["element"].append(np.concatenate([padded, kind], axis=1))
        weights = np.pad(weights, ((0, 0), (0, unused)))
        self._columns["element_number"].append(np.concatenate([weights, radius[:, None]], axis=1))
