"""Limits of angles, and of distances from planes, in a description. Plain numpy, without Taichi."""

import math

import numpy as np

from pbd.core.validate import finite_number, indices, one_index, one_of


def angle_limits(minimum, maximum):
    """Check the limits of an angle.

    Args: minimum, maximum: [rad]; None for no limit.

    Returns: list of (limit [rad], "at_least" or "at_most").

    Raises: ValueError for limits outside of [0, π], or if there is none.
    """
    if minimum is None and maximum is None:
        raise ValueError("angle limit without a limit: expected minimum, maximum or both")
    low = 0.0 if minimum is None else finite_number("minimum", minimum)
    high = math.pi if maximum is None else finite_number("maximum", maximum)
    if not 0 <= low <= high <= math.pi:
        raise ValueError(f"angle limits {low:g} to {high:g}: expected 0 <= minimum <= maximum <= π")
    return [each for each in ((minimum, "at_least"), (maximum, "at_most")) if each[0] is not None]


def opposite_side(arm_a, arm_b, angle):
    """Length [m] of a triangle's side, by the law of cosines. Args: the other two sides [m]; their angle [rad]."""
    return math.sqrt(max(arm_a**2 + arm_b**2 - 2 * arm_a * arm_b * math.cos(angle), 0.0))


def add_angle_limit(description, a, vertex, b, minimum=None, maximum=None, form="dot", compliance=0.0):
    """Limit the angle at a vertex, between the directions to two other particles.

    Args:
        a, vertex, b: indices.
        minimum, maximum: angles in [0, π] [rad]; None for no limit.
        form: "dot", a bound on the dot product of the two directions, for arms of any length; or "distance", a
            one-sided stick between a and b. It is cheaper, and exact while sticks keep the arms' lengths. (The
            literature's third form, a plane, is `add_plane_limit`.)
        compliance: [rad²/J] ("dot") or [m/N] ("distance").
    """
    one_of("form", form, ("dot", "distance"))
    given = (("a", a), ("vertex", vertex), ("b", b))
    a, vertex, b = (one_index(f"{name} of an angle limit", index, description.count) for name, index in given)
    if len({a, vertex, b}) < 3:
        raise ValueError(f"a, vertex and b of an angle limit are {[a, vertex, b]}: expected three different ones")
    limits = angle_limits(minimum, maximum)
    arms = [np.linalg.norm(description.positions()[end] - description.positions()[vertex]) for end in (a, b)]
    if 0 in arms:
        raise ValueError(f"vertex {vertex} of an angle limit coincides with a or b: expected arms of some length")
    for limit, bound in limits:
        if form == "distance":
            description.add_stick(a, b, opposite_side(*arms, limit), compliance, bound)
        else:
            description.add_constraints(f"angle {bound.replace('_', ' ')}", [(vertex, a, b)], compliance, limit=limit)


def add_plane_limit(description, particle, span, distance=0.0, compliance=0.0):
    """Keep a particle on one side of a plane through three others.

    Args:
        particle: index.
        span: three indices, counter-clockwise seen from the permitted side.
        distance: least distance from the plane [m].
        compliance: [m/N].
    """
    particle = one_index("particle of a plane limit", particle, description.count)
    span = indices("span", span, description.count)
    if len(span) != 3:
        raise ValueError(f"span of {len(span)} particles: expected three")
    members = [(particle, *span.tolist())]
    if len(set(members[0])) < 4:
        raise ValueError(f"particle and span of a plane limit are {list(members[0])}: expected different ones")
    description.add_constraints("plane limit", members, compliance, distance=finite_number("distance", distance))
