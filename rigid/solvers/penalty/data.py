"""The arrays of the penalty solver, and how its kernel comes to them."""

from typing import Any, NamedTuple

import taichi as ti

from rigid.collision.data import Points, Scratch, Shapes
from rigid.constraints.joints.table import Joints
from rigid.constraints.rows import OWN, Rows
from rigid.kernels.motion import Motion


class Features(NamedTuple):
    """What a solver's kernel is compiled for."""

    joints: bool
    contacts: Any  # a rigid.collision.data.PairTypes, or None
    gyroscopic: str  # "implicit", "midpoint" or "explicit": rigid/kernels/motion.py
    scaling: str  # "effective_mass" or "mass"
    block: bool  # rows of a joint scaled together
    one_world: bool  # which then runs on one thread
    spread: int  # turns between two worlds in a parallel loop, see pbd.core.runtime.LOOP_STRIDE


class Gains(NamedTuple):
    """α* and β* of shifts [1/s², 1/s], and those of turns."""

    stiffness: Any
    damping: Any
    angular_stiffness: Any
    angular_damping: Any


class Kept(NamedTuple):
    """How far each contact's friction was stretched in the last step, found again by its shapes and feature."""

    stretches: Any  # (W, capacity, 3): in the world [m]
    keys: Any  # (W, capacity, 3) i32: both shapes, and the feature
    count: Any  # (W,) i32


class Data(NamedTuple):
    """What every function of the kernel can read."""

    features: Features  # known when the kernel is compiled
    motion: Motion
    joints: Joints
    rows: Rows
    shapes: Shapes
    points: Points
    scratch: Scratch
    kept: Kept
    forces: Any  # (W, bodies + 1, 6): force and torque of all rows on each body [N, N m]
    reach: Any  # (bodies, W): zeros, as only what overlaps is pushed
    crowds: Any  # (W, bodies + 1) i32: points of contact of each body
    surroundings: Any  # (4, W): gravity [m/s²]; what joints leave of the bound on stability: rigid/solvers/penalty/contacts.py
    report: Any  # (W, REPORTS): what the host wants to know, rigid/solvers/report.py
    h: Any  # length of a substep [s]
    gains: Gains
    first_row: Any  # of contacts
    first_group: Any
    threshold: float = 0.0  # of rebound by target velocities, which has no part in this


# Columns of a row that are the penalty solver's: its stiffness and damping before they are scaled; its row of the
# matrices α and β of its group's -α G - β dG/dt, six at most; how far a drive or friction is stretched, its G; dG/dt,
# less what it aims at; the force or torque of this step [N or N m].
GAIN, ALPHA, BETA, STRETCH, SPEED, EFFORT = (OWN + k for k in (0, 2, 8, 14, 15, 16))
COLUMNS = EFFORT + 1

ROOM = 3  # row of `surroundings`


def kernel(body, features):
    """The kernel of a Taichi function (data, steps). Arguments of the kernel: the arrays below, in order, then the
    scalars."""
    flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))

    @ti.kernel
    def run(
        masses: cube, poses: cube, velocities: cube, answers: cube,
        joint_integers: table, joint_numbers: cube, coordinates: cube, drives: table, drive_numbers: cube,
        row_numbers: cube, groups: cube,
        shape_integers: table, shape_numbers: cube, vertices: cube, planes: cube, lists: flat,
        point_integers: cube, point_numbers: cube, point_count: flat,
        placed: cube, bins: table, pairs: cube, clips: cube, marks: table,
        stretches: cube, keys: cube, kept_count: flat, forces: cube, reach: table, crowds: table, surroundings: table,
        report: table, h: float, stiffness: float, damping: float, angular_stiffness: float, angular_damping: float,
        first_row: int, first_group: int, steps: int,
    ):  # fmt: skip
        data = ti.static(
            Data(
                features,
                Motion(masses, poses, velocities, answers),
                Joints(joint_integers, joint_numbers, coordinates, drives, drive_numbers),
                Rows(row_numbers, groups),
                Shapes(shape_integers, shape_numbers, vertices, planes, lists),
                Points(point_integers, point_numbers, point_count),
                Scratch(placed, bins, pairs, clips, marks),
                Kept(stretches, keys, kept_count),
                forces, reach, crowds, surroundings, report, h,
                Gains(stiffness, damping, angular_stiffness, angular_damping), first_row, first_group,
            )
        )  # fmt: skip
        body(data, steps, 0)

    return run
