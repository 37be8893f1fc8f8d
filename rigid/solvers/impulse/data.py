"""The arrays of the impulse solver, and how its kernel comes to them."""

from typing import Any, NamedTuple

import taichi as ti

from rigid.collision.data import Points, Scratch, Shapes
from rigid.constraints.joints.table import Joints
from rigid.constraints.rows import Rows
from rigid.kernels.motion import Motion
from rigid.solvers.impulse import maximal
from rigid.solvers.sequential.data import Kept


class Features(NamedTuple):
    """What a solver's kernel is compiled for."""

    joints: bool
    contacts: Any  # a rigid.collision.data.PairTypes, or None
    gyroscopic: str  # "implicit", "midpoint" or "explicit": rigid/kernels/motion.py
    block: bool  # rows of a joint solved together
    split: bool  # errors of position mended by pseudo-velocities, in a second stage of the step
    warm: bool  # begin with the last step's impulses
    sleeping: bool  # bodies that have come to rest are left alone
    one_world: bool  # which then runs on one thread
    spread: int  # turns between two worlds in a parallel loop, see pbd.core.runtime.LOOP_STRIDE

    @property
    def stages(self):
        """How many a step has."""
        return 2 if self.split else 1


class Data(NamedTuple):
    """What every function of the kernel can read."""

    features: Features  # known when the kernel is compiled
    space: Any  # what impulses do: rigid/solvers/impulse/maximal.py
    motion: Motion
    joints: Joints
    rows: Rows
    shapes: Shapes
    points: Points
    scratch: Scratch
    kept: Kept
    reach: Any  # (bodies, W): how far beyond its surface a body looks [m]
    calm: Any  # (W, bodies + 1, 2): how long each body has rested [s], see rigid/solvers/impulse/sleep.py
    islands: Any  # (W, bodies + 1) i32: another body of its island, or itself
    surroundings: Any  # (3, W): gravity [m/s²]
    report: Any  # (W, REPORTS): what the host wants to know, rigid/solvers/report.py
    h: Any  # length of a substep [s]
    tolerance: Any  # sweeps end when every impulse's change is below it [N s]
    error_reduction: Any  # part of an error of position that a step mends
    threshold: Any  # slower contacts do not rebound [m/s]
    sleep_speed: Any  # slower bodies rest [m/s]
    first_row: Any  # of contacts
    first_group: Any


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
        impulses: cube, keys: cube, heads: table, turns: flat,
        reach: table, calm: cube, islands: table, surroundings: table,
        report: table, h: float, tolerance: float, error_reduction: float, threshold: float, sleep_speed: float,
        first_row: int, first_group: int, steps: int, sweeps: int,
    ):  # fmt: skip
        data = ti.static(
            Data(
                features, maximal,
                Motion(masses, poses, velocities, answers),
                Joints(joint_integers, joint_numbers, coordinates, drives, drive_numbers),
                Rows(row_numbers, groups),
                Shapes(shape_integers, shape_numbers, vertices, planes, lists),
                Points(point_integers, point_numbers, point_count),
                Scratch(placed, bins, pairs, clips, marks),
                Kept(impulses, keys, heads, turns),
                reach, calm, islands, surroundings, report, h, tolerance, error_reduction, threshold, sleep_speed,
                first_row, first_group,
            )
        )  # fmt: skip
        body(data, steps, sweeps)

    return run
