"""Depths of overlaps, computed from the poses of any solver's state by the narrow phase."""

from functools import cache
from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.arrays import Real, allocate, count, read, write
from pbd.core.kernels import Launch, make_kernel
from rigid.collision.data import POINT, Points, Scratch, Shapes
from rigid.collision.narrow_phase import point_finder
from rigid.collision.setup import collision_arrays, pair_types


class Bodies(NamedTuple):
    """Poses and contact margins of bodies."""

    poses: Real(count.worlds, count.bodies, 7)  # position [m] and rotation (w, x, y, z)
    margins: Real(count.bodies, count.worlds)  # [m]


class Data(NamedTuple):
    """What the kernel reads and writes."""

    shapes: Shapes
    points: Points
    scratch: Scratch
    bodies: Bodies


@cache
def finding_kernel(find_points):
    """A kernel that finds the contact points of all worlds. Args: find_points: see rigid/collision/narrow_phase.py."""

    @ti.func
    def find(s: ti.template()):
        for world in range(s.points.count.shape[0]):
            find_points(s.shapes, s.points, s.scratch, s.bodies.poses, s.bodies.margins, world)

    return make_kernel(find, Data)


class Overlaps:
    """Where bodies of a model overlap. Args: model: a rigid.Model of which some bodies may touch."""

    def __init__(self, model):
        arrays = collision_arrays([model])
        self.points = arrays[1]
        self._bodies = allocate(Bodies, worlds=1, bodies=len(model.bodies))
        self._find = Launch(finding_kernel(point_finder(pair_types([model]))), *arrays, self._bodies)

    def depth(self, state):
        """Depth of the deepest overlap [m]; zero if nothing overlaps. Args: state: a rigid.State of one world."""
        write(self._bodies.poses, np.concatenate([state.position, state.rotation], axis=-1)[None])
        self._find()
        found = min(int(read(self.points.count)[0]), self.points.numbers.shape[1])
        return max(0.0, -float(read(self.points.numbers)[0, :found, POINT.gap].min(initial=0.0)))


def may_overlap(model):
    """Whether any of a model's bodies may touch another body, or the ground. Args: model: a rigid.Model."""
    return pair_types([model]).any_pair
