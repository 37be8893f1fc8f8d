"""A rigid body as a frame of particles: four corners, and light particles at its joints.

S = tr(I)/2 E - I are the body's second moments about its centre of mass (∫ x xᵀ dm). Joint particles of masses m_i are
at p_i. The four corners carry the rest:

    M' = M - Σ m_i,   c' = -Σ m_i p_i / M',   S' = S - Σ m_i p_i p_iᵀ - M' c' c'ᵀ
    corners at c' + Q diag(sqrt(s_k/M')) u_i,   S' = Q diag(s) Qᵀ,   u = (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1)

of mass M'/4 each. Mass, centre of mass and inertia tensor of the whole are then exactly the body's, for any number of
joint particles that leaves S' positive definite. Light enough particles do. The corners may also be along axes of the
body, held by right angles (axes_frame.py).

Source: Jakobsen, Advanced Character Physics (2001), section 5, for the tetrahedron. His centre of mass, the mean of the
four, is right if their masses are equal, as here. The exact masses are ours.
"""

from dataclasses import dataclass

import numpy as np

from rigid.mass import second_moment
from rigid.solvers.verlet import axes_frame

CORNERS = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])

# A joint particle's part of the body's mass, and how often it may be halved until the corners can carry the inertia.
# Light particles beside heavy ones slow convergence down. 1/24 suits a chain of five rods.
SHARE = 1 / 24
HALVINGS = 20
# Least part of S that S' keeps in any direction. With less, the tetrahedron is so thin that its short sticks
# rotate by large angles.
LEAST_PART = 0.1


@dataclass
class Frame:
    """Particles of a body, in its own frame.

    Attributes:
        corners: (4, 3) [m].
        corner_mass: of each corner [kg].
        joints: particles at joint points (n, 3) [m].
        joint_mass: of each of these [kg].
        counterweights: (0 or 1, 3) [m], of a corner's mass.
        kind: "tetrahedron" or "axes".
    """

    corners: np.ndarray
    corner_mass: float
    joints: np.ndarray
    joint_mass: float
    counterweights: np.ndarray
    kind: str = "tetrahedron"

    @property
    def points(self):
        """All particles: corners, joints, counterweights (n, 3) [m]."""
        return np.concatenate([self.corners, self.joints, self.counterweights])

    @property
    def masses(self):
        """Masses of all particles (n,) [kg]."""
        of_joints, of_corners = np.full(len(self.joints), self.joint_mass), np.full(4, self.corner_mass)
        return np.concatenate([of_corners, of_joints, of_corners[: len(self.counterweights)]])

    def weights(self, points):
        """The c of p = Σ c_k x_k over the corners, with Σ c_k = 1 (..., 4). Args: points: of the body (..., 3) [m]."""
        return corner_weights(self.corners, points)


def corner_weights(corners, vectors, total=1.0):
    """The c of v = Σ c_k x_k (..., 4).

    Args: corners: x (4, 3) [m]; vectors: v (..., 3) [m]; total: Σ c_k, 1 for points and 0 for vectors.
    """
    # (x_k 1) c = (v total)
    system = np.concatenate([corners.T, np.ones((1, 4))])
    vectors = np.asarray(vectors, float)
    ends = np.concatenate([vectors, np.full((*vectors.shape[:-1], 1), total)], axis=-1)
    return np.linalg.solve(system, ends[..., None])[..., 0]


def make_frame(name, mass, inertia, joints=(), kind="tetrahedron", counterweight=False):
    """Make the frame of a body.

    Args:
        name: of the body, for messages.
        mass: [kg].
        inertia: (3, 3) about the centre of mass [kg m²].
        joints: joint points from the centre of mass (n, 3) [m].
        kind: "tetrahedron" or "axes".
        counterweight: whether a frame along axes has a counterweight even if it needs none.

    Returns: a Frame.

    Raises: ValueError for a flat body, and for joint points so far out that no share of the mass is small enough.
    """
    joints = np.reshape(np.asarray(joints, float), (-1, 3))
    moments = second_moment(inertia)
    least = np.linalg.eigvalsh(moments)
    if least[0] <= 1e-9 * least[2]:
        raise ValueError(
            f"{name!r} is flat (second moments {least.round(12).tolist()} kg m²): expected some thickness, because "
            "four particles cannot carry a flat body's inertia"
        )
    share = SHARE * mass if len(joints) else 0.0
    for _ in range(HALVINGS):
        rest = mass - len(joints) * share
        if rest > 0:
            centre = -share * joints.sum(axis=0) / rest
            left = moments - share * joints.T @ joints - rest * np.outer(centre, centre)
            # xᵀ S' x > LEAST_PART xᵀ S x for every x
            if np.linalg.eigvalsh(left - LEAST_PART * moments)[0] > 0:
                if kind == "axes":
                    corners, counterweights = axes_frame.place(rest, left, counterweight)
                else:
                    corners, counterweights = tetrahedron(rest, left)
                each = rest / (len(corners) + len(counterweights))
                return Frame(centre + corners, each, joints, share, centre + counterweights, kind)
        share /= 2
    raise ValueError(
        f"{name!r} has joint points up to {np.linalg.norm(joints, axis=1).max():g} m from its centre of mass: "
        f"expected them so near that particles of {2 * share:.3g} kg there leave a frame for the rest"
    )


def tetrahedron(mass, moments):
    """Corners of four particles from their centre of mass (4, 3) [m], and no counterweights (0, 3).

    Args: mass: of the four [kg]; moments: S about the centre of mass (3, 3) [kg m²].
    """
    values, axes = (array[..., ::-1] for array in np.linalg.eigh(moments))  # the longest side first
    axes = axes * (1, 1, np.linalg.det(axes))  # right-handed, so that no world has the mirror image
    return CORNERS * np.sqrt(values / mass) @ axes.T, np.zeros((0, 3))


def fit_pose(points, masses, positions):
    """Fit a pose: the one that brings points of a body nearest to its particles, by mass.

    Args: points: in the body's frame, whose origin is their centre of mass (..., n, 3) [m]; masses (..., n) [kg];
    positions: of the particles (..., n, 3) [m].

    Returns: position (..., 3) [m] and rotation matrix (..., 3, 3).

    Source: Kabsch, A solution for the best rotation to relate two sets of vectors (1976).
    """
    weights = masses / masses.sum(axis=-1, keepdims=True)
    centre = (weights[..., None] * positions).sum(axis=-2)
    arms = weights[..., None] * (positions - centre[..., None, :])
    covariance = np.swapaxes(arms, -1, -2) @ points
    finite = np.isfinite(covariance).all(axis=(-2, -1), keepdims=True)
    covariance = np.where(finite, covariance, np.eye(3))  # after a run that diverged, the position says so
    left, _, right = np.linalg.svd(covariance)
    sign = np.ones(covariance.shape[:-1])
    sign[..., 2] = np.linalg.det(left @ right)
    return centre, left * sign[..., None, :] @ right


def fit_velocity(masses, inertia, arms, rotation, velocities):
    """Velocity and angular velocity with which a body has the momentum of its particles.

    Args: masses (..., n) [kg]; inertia: in the body's frame (..., 3, 3) [kg m²]; arms: from the centre of mass (..., n,
    3) [m]; rotation: of the body (..., 3, 3); velocities: of the particles (..., n, 3) [m/s].

    Returns: velocity [m/s] and angular velocity [rad/s], (..., 3) each.
    """
    momenta = masses[..., None] * velocities
    velocity = momenta.sum(axis=-2) / masses.sum(axis=-1)[..., None]
    spin = np.cross(arms, momenta).sum(axis=-2)
    world = rotation @ inertia @ np.swapaxes(rotation, -1, -2)
    return velocity, np.linalg.solve(world, spin[..., None])[..., 0]
