"""The arrays of the impulse solver, and how its kernel comes to them."""

from typing import Any, NamedTuple

import taichi as ti

from rigid.contact.tables import Broad, Points, Shapes
from rigid.joints.table import Joints
from rigid.motion import Motion
from rigid.rows import OWN, Rows


class Features(NamedTuple):
    """What a solver's kernel is compiled for."""

    joints: bool
    contacts: Any  # a rigid.contact.tables.Meetings, or None
    gyroscopic: str  # "implicit", "midpoint" or "explicit": rigid/motion.py
    block: bool  # rows of a joint solved together
    split: bool  # errors of position mended by pseudo-velocities, in a second stage of the step
    warm: bool  # begin with the last step's impulses
    sleeping: bool  # bodies that have come to rest are left alone
    one_world: bool  # which then runs on one thread
    spread: int  # turns between two worlds in a parallel loop, see pbd.arrays.SPREAD

    @property
    def stages(self):
        """How many a step has."""
        return 2 if self.split else 1


class Kept(NamedTuple):
    """Impulses of contacts from the last step, found again by their shapes and feature."""

    impulses: Any  # (W, capacity, 6): in the world [N s], and where it acted [m]
    keys: Any  # (W, capacity, 3) i32: the other shape, the feature, the next one of the same shape
    heads: Any  # (shapes, W) i32: the first one of each shape, -1 for none


class Data(NamedTuple):
    """What every function of the kernel can read."""

    features: Features  # known when the kernel is compiled
    motion: Motion
    joints: Joints
    rows: Rows
    shapes: Shapes
    points: Points
    broad: Broad
    kept: Kept
    reach: Any  # (bodies, W): how far beyond its surface a body looks [m]
    calm: Any  # (W, bodies + 1, 2): how long each body has rested [s], see rigid/impulse/sleep.py
    islands: Any  # (W, bodies + 1) i32: another body of its island, or itself
    surroundings: Any  # (3, W): gravity [m/s²]
    report: Any  # (W, REPORTS): what the host wants to know
    h: Any  # length of a substep [s]
    tolerance: Any  # sweeps end when every impulse's change is below it [N s]
    error_reduction: Any  # part of an error of position that a step mends
    threshold: Any  # slower contacts do not rebound [m/s]
    sleep_speed: Any  # slower bodies rest [m/s]
    first_row: Any  # of contacts
    first_group: Any


# Columns of a row that are the impulse solver's: M⁻¹Jᵀ of both bodies' angular parts; its row of the inverse of its
# group's matrix J M⁻¹ Jᵀ + γ (six at most; of a group that is clamped the first is of the row alone); γ of
# J V + b + γ λ = 0; b, and behind it b' of J V' + b' = 0; λ, and behind it λ' [N s]; what is left of the equation.
PUSH_I, PUSH_J, INVERSE, SOFTNESS, BIAS, IMPULSE, RESIDUAL = (OWN + k for k in (0, 3, 6, 12, 13, 15, 17))
COLUMNS = RESIDUAL + 1

# Columns of the report, one row for each world.
SWEEPS, INCREMENT, ERROR_LEFT, TOUCHING, DIVERGED_STEP, CROWDED = range(6)
REPORTS = 6


def kernel(body, features):
    """The kernel of a Taichi function (data, steps, sweeps). Arguments of the kernel: the arrays below, in order, then
    the scalars."""
    flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))

    @ti.kernel
    def run(
        masses: cube, poses: cube, velocities: cube, answers: cube,
        joint_integers: table, joint_numbers: cube, coordinates: cube, drives: table, drive_numbers: cube,
        row_numbers: cube, groups: cube,
        shape_integers: table, shape_numbers: cube, vertices: cube, planes: cube, lists: flat,
        point_integers: cube, point_numbers: cube, point_count: flat,
        placed: cube, bins: table, pairs: cube, clips: cube, marks: table,
        impulses: cube, keys: cube, heads: table, reach: table, calm: cube, islands: table, surroundings: table,
        report: table, h: float, tolerance: float, error_reduction: float, threshold: float, sleep_speed: float,
        first_row: int, first_group: int, steps: int, sweeps: int,
    ):  # fmt: skip
        data = ti.static(
            Data(
                features,
                Motion(masses, poses, velocities, answers),
                Joints(joint_integers, joint_numbers, coordinates, drives, drive_numbers),
                Rows(row_numbers, groups),
                Shapes(shape_integers, shape_numbers, vertices, planes, lists),
                Points(point_integers, point_numbers, point_count),
                Broad(placed, bins, pairs, clips, marks),
                Kept(impulses, keys, heads),
                reach, calm, islands, surroundings, report, h, tolerance, error_reduction, threshold, sleep_speed,
                first_row, first_group,
            )
        )  # fmt: skip
        body(data, steps, sweeps)

    return run
