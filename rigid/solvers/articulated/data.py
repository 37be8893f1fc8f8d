"""The arrays of the articulated solver, and how its kernel comes to them."""

from typing import Any, NamedTuple

import taichi as ti

from rigid.collision.data import Points, Scratch, Shapes
from rigid.constraints.joints.table import Joints
from rigid.constraints.rows import Rows
from rigid.kernels.motion import Motion
from rigid.solvers.articulated import reduced
from rigid.solvers.articulated.links import Trees
from rigid.solvers.sequential.data import Kept


class Features(NamedTuple):
    """What a solver's kernel is compiled for."""

    joints: bool  # whether anything but the trees acts on bodies: loops, limits, friction, motors, springs
    contacts: Any  # a rigid.collision.data.PairTypes, or None
    gyroscopic: str  # "implicit", "midpoint" or "explicit": rigid/kernels/motion.py
    products: str  # "projected" or "explicit": rigid/solvers/articulated/products.py
    block: bool  # rows of a joint solved together
    split: bool  # errors of position mended by pseudo-speeds, in a second stage of the step
    warm: bool  # begin with the last step's impulses
    one_world: bool  # which then runs on one thread
    spread: int  # turns between two worlds in a parallel loop, see pbd.core.runtime.LOOP_STRIDE

    @property
    def rows(self):
        """Whether there are any."""
        return self.joints or self.contacts is not None

    @property
    def stages(self):
        """How many a step has."""
        return 2 if self.split and self.rows else 1


class Data(NamedTuple):
    """What every function of the kernel can read."""

    features: Features  # known when the kernel is compiled
    space: Any  # what impulses do: rigid/solvers/articulated/reduced.py
    motion: Motion
    trees: Trees
    joints: Joints
    rows: Rows
    jacobians: Any  # (W, R, 2 S): J of each row over the speeds of its two trees, S being the most that one has
    answers: Any  # (W, R, 2 S): M⁻¹Jᵀ likewise
    shapes: Shapes
    points: Points
    scratch: Scratch
    kept: Kept
    reach: Any  # (bodies, W): how far beyond its surface a body looks [m]
    surroundings: Any  # (3, W): gravity [m/s²]
    report: Any  # (W, REPORTS): what the host wants to know, rigid/solvers/report.py
    h: Any  # length of a substep [s]
    tolerance: Any  # sweeps end when every impulse's change is below it [N s]
    error_reduction: Any  # part of an error of position that a step mends
    threshold: Any  # slower contacts do not rebound [m/s]
    first_row: Any  # of contacts
    first_group: Any


def kernel(body, features):
    """The kernel of a Taichi function (data, steps, sweeps). Arguments of the kernel: the arrays below, in order, then
    the scalars."""
    flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))

    @ti.kernel
    def run(
        masses: cube, poses: cube, velocities: cube, inverse_inertias: cube,
        links: table, link_of: flat, link_numbers: cube, tree_coordinates: table, speeds: cube, axes: cube, sums: cube,
        joint_integers: table, joint_numbers: cube, coordinates: cube, drives: table, drive_numbers: cube,
        row_numbers: cube, groups: cube, jacobians: cube, answers: cube,
        shape_integers: table, shape_numbers: cube, vertices: cube, planes: cube, lists: flat,
        point_integers: cube, point_numbers: cube, point_count: flat,
        placed: cube, bins: table, pairs: cube, clips: cube, marks: table,
        impulses: cube, keys: cube, heads: table, turns: flat, reach: table, surroundings: table,
        report: table, h: float, tolerance: float, error_reduction: float, threshold: float,
        first_row: int, first_group: int, steps: int, sweeps: int,
    ):  # fmt: skip
        data = ti.static(
            Data(
                features, reduced,
                Motion(masses, poses, velocities, inverse_inertias),
                Trees(links, link_of, link_numbers, tree_coordinates, speeds, axes, sums),
                Joints(joint_integers, joint_numbers, coordinates, drives, drive_numbers),
                Rows(row_numbers, groups), jacobians, answers,
                Shapes(shape_integers, shape_numbers, vertices, planes, lists),
                Points(point_integers, point_numbers, point_count),
                Scratch(placed, bins, pairs, clips, marks),
                Kept(impulses, keys, heads, turns),
                reach, surroundings, report, h, tolerance, error_reduction, threshold, first_row, first_group,
            )
        )  # fmt: skip
        body(data, steps, sweeps)

    return run
