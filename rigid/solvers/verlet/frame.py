"""A rigid body as a frame of particles: four that carry it, and light ones where its joints are.

With S = tr(I)/2 E - I, the body's second moments about its centre of mass (∫ x xᵀ dm), and joint particles of masses
m_i at p_i, the four carry the rest:

    M' = M - Σ m_i,   c' = -Σ m_i p_i / M',   S' = S - Σ m_i p_i p_iᵀ - M' c' c'ᵀ
    corners at c' + Q diag(sqrt(s_k/M')) u_i,   S' = Q diag(s) Qᵀ,   u = (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1)

of mass M'/4 each. Mass, centre of mass and inertia tensor of the whole are then the body's, exactly, for any number of
joint particles that leaves S' positive definite; light enough ones do. The four may stand along axes of the body
instead, held by right angles: rigid/solvers/verlet/axes.py.

Source: Jakobsen, Advanced Character Physics (2001), section 5, for the tetrahedron; his centre of mass, the mean of the
four, is right where their masses are equal, as here. The exact masses are ours.
"""

from dataclasses import dataclass

import numpy as np

from rigid.mass import second_moment
from rigid.solvers.verlet import axes_frame

KINDS = ("tetrahedron", "axes")
CORNERS = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])

# A joint particle's part of the body's mass, where that is feasible, and how often it may be halved until it is. Light
# particles beside heavy ones make the relaxation slow; a 24th is what a chain of five rods did well with.
SHARE = 1 / 24
HALVINGS = 20
# Least part of S that S' keeps in any direction: less, and the tetrahedron is a needle or a leaf, whose short sticks
# turn by large angles.
LEAST_PART = 0.1


@dataclass
class Frame:
    """Particles of a body in its own frame.

    corners (4, 3) [m], each of mass `corner_mass` [kg]; joints (n, 3) [m], each of mass `joint_mass`; counterweights
    (0 or 1, 3) [m] of a corner's mass; kind: one of KINDS.
    """

    corners: np.ndarray
    corner_mass: float
    joints: np.ndarray
    joint_mass: float
    counterweights: np.ndarray
    kind: str = "tetrahedron"

    @property
    def points(self):
        """All particles, corners first, then joints, then counterweights (n, 3) [m]."""
        return np.concatenate([self.corners, self.joints, self.counterweights])

    @property
    def masses(self):
        """Masses of all particles [kg]."""
        of_joints, of_corners = np.full(len(self.joints), self.joint_mass), np.full(4, self.corner_mass)
        return np.concatenate([of_corners, of_joints, of_corners[: len(self.counterweights)]])

    def weights(self, points):
        """The c of p = Σ c_k x_k over the corners, Σ c_k = 1 (..., 4). Arguments: points (..., 3) of the body [m]."""
        # (x_k 1) c = (p 1)
        system = np.concatenate([self.corners.T, np.ones((1, 4))])
        points = np.asarray(points, float)
        ends = np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)
        return np.linalg.solve(system, ends[..., None])[..., 0]


def make_frame(name, mass, inertia, joints=(), kind="tetrahedron", counterweight=False):
    """The frame of a body.

    Arguments: name: of the body, for messages; mass [kg]; inertia (3, 3) about the centre of mass [kg m²]; joints
    (n, 3): its joint points, from the centre of mass [m]; kind: one of KINDS; counterweight: whether one along axes has
    a counterweight where it could do without.

    Errors: ValueError for a flat body, and for joint points so far out that no share of the mass is small enough.
    """
    joints = np.reshape(np.asarray(joints, float), (-1, 3))
    moments = second_moment(inertia)
    least = np.linalg.eigvalsh(moments)
    if least[0] <= 1e-9 * least[2]:
        raise ValueError(
            f"body {name} is flat (second moments {least.round(12).tolist()} kg m²): four particles can only carry one "
            "with some thickness"
        )
    share = SHARE * mass if len(joints) else 0.0
    for _ in range(HALVINGS):
        rest = mass - len(joints) * share
        if rest > 0:
            centre = -share * joints.sum(axis=0) / rest
            left = moments - share * joints.T @ joints - rest * np.outer(centre, centre)
            # xᵀ S' x > LEAST_PART xᵀ S x for every x
            if np.linalg.eigvalsh(left - LEAST_PART * moments)[0] > 0:
                corners, behind = axes_frame.place(rest, left, counterweight) if kind == "axes" else tetrahedron(rest, left)
                each = rest / (len(corners) + len(behind))
                return Frame(centre + corners, each, joints, share, centre + behind, kind)
        share /= 2
    raise ValueError(
        f"body {name} has joint points up to {np.linalg.norm(joints, axis=1).max():g} m from its centre of mass: no "
        f"share of its mass down to {2 * share:.3g} kg there leaves a frame to carry the rest"
    )


def tetrahedron(mass, moments):
    """Corners (4, 3) of four particles from their centre of mass, and no counterweights (0, 3) [m].

    Arguments: mass [kg], of the four; moments S about the centre of mass (3, 3) [kg m²].
    """
    values, turn = (array[..., ::-1] for array in np.linalg.eigh(moments))  # the longest side first
    turn = turn * (1, 1, np.linalg.det(turn))  # right-handed, so that no world has its mirror image
    return CORNERS * np.sqrt(values / mass) @ turn.T, np.zeros((0, 3))


def fit_pose(points, masses, positions):
    """Pose that brings points of a body nearest to where its particles are, by mass.

    Arguments: points (..., n, 3) in the body's frame, of masses (..., n), whose centre of mass is the origin; positions
    (..., n, 3) [m].

    Returns: position (..., 3) and rotation matrix (..., 3, 3).

    Source: Kabsch, A solution for the best rotation to relate two sets of vectors (1976).
    """
    weights = masses / masses.sum(axis=-1, keepdims=True)
    centre = (weights[..., None] * positions).sum(axis=-2)
    arms = weights[..., None] * (positions - centre[..., None, :])
    covariance = np.swapaxes(arms, -1, -2) @ points
    left, _, right = np.linalg.svd(covariance)
    sign = np.ones(covariance.shape[:-1])
    sign[..., 2] = np.linalg.det(left @ right)
    return centre, left * sign[..., None, :] @ right


def fit_velocity(masses, inertia, arms, turn, velocities):
    """Velocity and angular velocity that give a body the momentum of its particles.

    Arguments: masses (..., n); inertia (..., 3, 3) in the body's frame; arms (..., n, 3) from the centre of mass; turn
    (..., 3, 3), the body's rotation; velocities (..., n, 3) [m/s].

    Returns: velocity and angular velocity, (..., 3) each.
    """
    momenta = masses[..., None] * velocities
    velocity = momenta.sum(axis=-2) / masses.sum(axis=-1)[..., None]
    spin = np.cross(arms, momenta).sum(axis=-2)
    world = turn @ inertia @ np.swapaxes(turn, -1, -2)
    return velocity, np.linalg.solve(world, spin[..., None])[..., 0]
