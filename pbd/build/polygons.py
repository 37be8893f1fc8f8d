"""Triangles of polygons with any number of corners, convex or not, flat or nearly so, in space."""

import numpy as np

ROUND_OFF = 1e-12  # areas below this part of the square of a polygon's extent count as zero


def triangulated(vertices, corners, counts):
    """Divide polygons into triangles, with no other corners than theirs.

    A polygon becomes a fan around its first corner if that covers it once. Otherwise ears are clipped.

    Args: vertices: (n, 3) [m]; corners: indices of all polygons in a row; counts: how many of them each polygon has.

    Returns: (m, 3) indices, with the orientation of the polygons. Those of fewer than three corners are left out.
    """
    found = [np.zeros((0, 3), np.int64)]
    first = np.cumsum(counts) - counts
    for count in np.unique(counts[counts > 2]):
        of_polygon = corners[first[counts == count][:, None] + np.arange(count)]
        fans = np.stack([np.zeros(count - 2, np.int64), np.arange(1, count - 1), np.arange(2, count)], axis=1)
        triangles = of_polygon[:, fans]
        for k in np.flatnonzero(overlaps(vertices[of_polygon])) if count > 3 else ():
            triangles[k] = of_polygon[k][ears(vertices[of_polygon[k]])]
        found.append(triangles.reshape(-1, 3))
    return np.concatenate(found)


def overlaps(points):
    """Whether fans around the first corners overlap or leave the polygon: not all their triangles have its orientation.

    Args: points: (polygons, corners, 3); polygons with numbers that are not finite count as good.

    Returns: (polygons,).
    """
    with np.errstate(invalid="ignore", over="ignore"):
        arms = points[:, 1:] - points[:, :1]
        areas = np.cross(arms[:, :-1], arms[:, 1:])
        normal = areas.sum(axis=1)  # Newell's: its length is twice the area of the polygon
        length = np.linalg.norm(normal, axis=1)
        along = np.einsum("pti,pi->pt", areas, normal / np.where(length > 0, length, 1.0)[:, None])
        return (along <= ROUND_OFF * np.ptp(points, axis=1).max(axis=1)[:, None] ** 2).any(axis=1)


def ears(points):
    """Clip ears of one polygon, the best shaped first, until a triangle is left.

    Args: points: (k, 3), a polygon whose projection along its normal does not cross itself.

    Returns: (k - 2, 3) indices of corners. Corners that coincide with the one before form triangles without area.

    Source: Meisters, Polygons Have Ears (1975), https://doi.org/10.2307/2319703; the normal by Newell.
    """
    flat = projected(points)
    ring, scores = np.arange(len(flat)), np.zeros(len(flat))
    triangles = []
    while len(ring) > 3:
        if scores.max() <= 0:  # at first, and where rounding has hidden an ear
            scores = np.array([ear_score(flat[ring], k) for k in range(len(ring))])
        tip = int(scores.argmax())
        triangles.append([ring[tip - 1], ring[tip], ring[(tip + 1) % len(ring)]])
        ring, scores = np.delete(ring, tip), np.delete(scores, tip)
        for k in (tip - 1, tip % len(ring)):
            scores[k] = ear_score(flat[ring], k)
    return np.array([*triangles, ring])


def projected(points):
    """Corners (k, 2) of a polygon in the plane across its normal, counter-clockwise, with an extent of about one."""
    points = (points - points.mean(axis=0)) / (np.ptp(points, axis=0).max() or 1.0)
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    _, _, axes = np.linalg.svd(normal[None])  # the last two are across the normal
    across = axes[1:] if np.linalg.det([axes[1], axes[2], normal]) >= 0 else axes[:0:-1]
    return points @ across.T


def ear_score(flat, k):
    """The shape of the triangle at a corner: above zero if it can be clipped, 0.29 if its sides are equal.

    Corners without area follow, then reflex ones, then triangles with other corners inside: these serve for polygons
    that cross themselves.

    Args: flat: (corners, 2); k: the corner.
    """
    a, b, c = flat[k - 1], flat[k], flat[(k + 1) % len(flat)]
    sides = np.array([b - a, c - b, a - c])
    if (sides[:2] == 0).all(axis=1).any():  # it coincides with a neighbour
        return 1.0
    area = cross(sides[0], sides[1])
    shape = area / (sides**2).sum()
    if area <= ROUND_OFF:
        return shape - 1.0
    inside = np.ones(len(flat), bool)
    for start, side in zip((a, b, c), sides):
        inside &= (cross(side, flat - start) > -ROUND_OFF) & (flat != start).any(axis=1)
    return shape - 2.0 if inside.any() else shape


def cross(a, b):
    """The cross product of vectors in the plane."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
