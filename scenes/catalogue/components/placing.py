"""Where a cloth begins above a mesh, and which points of both a camera shows."""

import numpy as np

from pbd.build.mesh import signed_distance

FAR = 5  # a collider of more sides of the cloth is far larger than it
REACH = 4.0  # how far from the cloth such a collider acts, in sides of the cloth
CELLS, FINE_CELLS = 64, 128  # along a side of the grid of distances: of a whole collider, of the part that acts
STEPS = 100  # most steps with which a cloth is lowered
FLAT = 1e-3  # a mesh is as high in the middle as anywhere, but for this part of its height
WITHIN = 0.74  # 2/3 to 9/10
HEIGHT = 1.0  # of a cloth above a far larger collider: the collider is moved down, and the floor with it [m]


class Place:
    """Places a mesh and a cloth: the cloth above the middle of the mesh, as near as it can be without touching it.

    A cloth that would fall through the mesh to the floor begins above the highest point. It also does so above a mesh
    that is far larger than the cloth and higher elsewhere, because it would slide off.

    Args: own: an OwnMesh on the floor, which is moved; points: of the cloth (n, 3) [m]; gap: the distance to begin with
    [m].

    Attributes: height: of the lowest point of the cloth; floor: height of the floor [m]; region: of the mesh that acts,
    as in pbd.MeshCollider; None for all of it; resolution: of its grid, likewise; subject: points for the camera
    (n, 3) [m].
    """

    def __init__(self, own, points, gap):
        mesh, side, points = own.mesh, np.ptp(points, axis=0).max(), points - (0, 0, points[:, 2].min())
        self.height, self.floor, self.region, self.resolution = lowered(mesh, points, gap), 0.0, None, CELLS
        far = np.ptp(mesh.vertices, axis=0).max() > FAR * side
        top = mesh.vertices[:, 2].max()
        if self.height < 1.1 * gap or (far and self.height - gap < (1 - FLAT) * top):
            highest = mesh.vertices[mesh.vertices[:, 2] >= top]
            nearest = highest[np.argmin(np.linalg.norm(highest[:, :2], axis=1))]
            mesh.vertices[:, :2] -= nearest[:2]
            self.height = lowered(mesh, points, gap)
        if far:
            reach, self.resolution = REACH * side, FINE_CELLS
            rounded = 2 * reach / FINE_CELLS * np.sqrt(3) / 2  # see pbd.MeshCollider
            own.notes.append(
                f"{own.name} acts within {reach:.3g} m of the place where the cloth begins, with edges and corners "
                f"rounded by up to {rounded:.1g} m"
            )
            self.floor = HEIGHT - self.height
            mesh.vertices[:, 2] += self.floor
            self.height = HEIGHT
            self.region = [(-reach, -reach, HEIGHT - reach), (reach, reach, HEIGHT + reach)]
        start = points + (0, 0, self.height)
        end = hung(start - (0, 0, gap), mesh, self.floor)
        self.subject = subject_of(start, end if far else np.concatenate([mesh.vertices, end]))


def lowered(mesh, points, gap):
    """How far a cloth can be lowered before it is nearer than `gap` to a mesh or the floor: height of its lowest point.

    It is lowered by its distance, as a ray advances in sphere tracing (Hart, 1996). Args: see Place.
    """
    height = mesh.vertices[:, 2].max() + gap
    for _ in range(STEPS):
        fall = min(signed_distance(mesh, points + (0, 0, height))[0].min(), height) - gap
        height -= max(fall, 0.0)
        if fall < 0.01 * gap:
            break
    return height


def subject_of(start, end):
    """Points for the camera: the end fills two thirds of the picture, and the start no more than nine tenths.

    Args: start, end: points (n, 3) [m].
    """
    middle = (end.min(axis=0) + end.max(axis=0)) / 2
    return np.concatenate([end, middle + WITHIN * (start - middle)])


def hung(points, mesh, floor):
    """About where a cloth hangs in the end: what is beside the box around a mesh turns down at its sides.

    Args: points: of the cloth where it touches the mesh (n, 3) [m]; mesh; floor: its height [m].

    Returns: (n, 3) [m].
    """
    lower, upper = mesh.vertices[:, :2].min(axis=0), mesh.vertices[:, :2].max(axis=0)
    inside = points[:, :2].clip(lower, upper)
    beside = points[:, :2] - inside
    length = np.linalg.norm(beside, axis=1)
    height = points[:, 2] - length
    on_floor = np.maximum(floor - height, 0) / np.maximum(length, 1e-12)
    return np.column_stack([inside + on_floor[:, None] * beside, np.maximum(height, floor)])
