"""Joint forces: what bodies gain in a substep by the joints that coordinates keep closed.

The step finds the speeds from momenta, M(q) u = Jᵀ (M_b V' + Σ Jᵀλ). V' are the velocities that bodies would have if
they were free, and λ the impulses of all rows. So the joints of its tree give a body M_b (V - V') - Σ Jᵀλ, at the poses
of the substep's start. This is exact for the discrete step, and for both ways to treat velocity products.
"""

from functools import cache

import numpy as np
import taichi as ti

from pbd.core.kernels import count_last_turns, make_kernel
from rigid.constraints.joints.rows import write_joint_rows
from rigid.constraints.rows import GROUP, ROW, Group
from rigid.kernels.motion import POSE, PSEUDO
from rigid.rotation import rotate, rotate_back
from rigid.solvers.articulated.data import Data
from rigid.solvers.articulated.links import START
from rigid.solvers.report import REPORT


@ti.func
def store_starts(s: ti.template(), world):
    """Store poses, and the velocities V' of free bodies.

    The step calls it in the last substep of a launch alone: it takes 2 % of the time of a chain.
    """
    starts, bodies = ti.static(s.trees.starts, s.bodies)
    for body in range(bodies.pose.shape[1] - 1):
        for k in ti.static(range(POSE.total)):
            starts[world, body, START.position + k] = bodies.pose[world, body, k]
        for k in ti.static(range(PSEUDO)):
            starts[world, body, START.linear + k] = bodies.velocity[world, body, k]


@cache
def rows_kernel():
    """Make the kernel that writes the rows of joints at the current poses."""

    @ti.func
    def write_rows(s: ti.template()):
        for world in range(s.report.shape[0]):
            write_joint_rows(s, world)
            count_last_turns(s.report, REPORT.last_turns, world)

    return make_kernel(write_rows, Data, features=None, formulation=None, find_points=None)


def momentum_change(models, rotation, velocity, angular_velocity):
    """Momentum [N s] and angular momentum [N m s] of changes of velocity, (worlds, bodies, 3) each.

    Args: models: one for all worlds, or one for each; rotation (worlds, bodies, 4); velocity, angular_velocity (worlds,
    bodies, 3): the changes [m/s, rad/s].
    """
    masses, inertias = np.stack([m.masses for m in models]), np.stack([m.inertias for m in models])
    local = (inertias @ rotate_back(rotation, angular_velocity)[..., None])[..., 0]
    return masses[..., None] * velocity, rotate(rotation, local)


def forces_of_rows(kinds, groups, rows, efforts, bodies):
    """Sum forces and torques of rows on each body.

    Args: kinds (worlds, groups); groups (worlds, groups, GROUP); rows (worlds, rows, columns); efforts (worlds, rows):
    along each row [N or N m], for a gear that of its first row; bodies: how many, with the ground.

    Returns: forces [N], and torques about the centres of mass [N m], (worlds, bodies, 3) each.
    """
    forces, torques = (np.zeros((len(rows), bodies, 3)) for _ in range(2))
    for k in range(groups[..., GROUP.count].max(initial=0)):
        world, group = np.nonzero(groups[..., GROUP.count] > k)
        of = groups[world, group]
        is_gear = kinds[world, group] == Group.GEAR
        effort = efforts[world, of[:, GROUP.first] + np.where(is_gear, 0, k)][:, None]
        row = rows[world, of[:, GROUP.first] + k]
        first = GROUP.body_i + (GROUP.body_k - GROUP.body_i) * (is_gear & (k == 1))
        each = np.arange(len(of))
        for side, (sign, angular) in enumerate(((1.0, "angular_i"), (-1.0, "angular_j"))):
            body = of[each, first + side]
            np.add.at(forces, (world, body), sign * effort * row[:, ROW["linear"]])
            np.add.at(torques, (world, body), effort * row[:, ROW[angular]])
    return forces, torques
