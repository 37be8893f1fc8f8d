"""How deep bodies are in one another, read from their poses: the narrow phase asked by itself, whatever solver runs."""

from functools import cache

import numpy as np
import taichi as ti

from pbd.core.launch import Launch, read, write
from rigid.collision.data import POINT, Points, Scratch, Shapes, array
from rigid.collision.narrow_phase import point_finder
from rigid.collision.setup import collision_arrays, pair_types

flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))


@cache
def finding_kernel(find_points):
    """A kernel that finds the points of all worlds. Arguments: find_points: of rigid.collision.narrow_phase."""

    @ti.kernel
    def find(
        integers: table, numbers: cube, vertices: cube, planes: cube, lists: flat,
        point_integers: cube, point_numbers: cube, count: flat,
        placed: cube, bins: table, pairs: cube, clips: cube, marks: table,
        poses: cube, margin: table,
    ):  # fmt: skip
        for world in range(count.shape[0]):
            find_points(
                ti.static(Shapes(integers, numbers, vertices, planes, lists)),
                ti.static(Points(point_integers, point_numbers, count)),
                ti.static(Scratch(placed, bins, pairs, clips, marks)),
                poses, margin, world,
            )  # fmt: skip

    return find


class Overlaps:
    """Where bodies of a model overlap. Arguments: a rigid.Model of which some bodies may touch."""

    def __init__(self, model):
        arrays = collision_arrays([model])
        self.points = arrays[1]
        self._poses = array(np.zeros((1, len(model.bodies), 7)))
        margin = array(np.zeros((len(model.bodies), 1)))
        kernel = finding_kernel(point_finder(pair_types([model])))
        self._find = Launch(kernel, *(each for group in arrays for each in group), self._poses, margin)

    def depth(self, state):
        """Of the deepest overlap, zero for none [m]. Arguments: a rigid.State of one world."""
        poses = np.concatenate([state.position, state.rotation], axis=-1)[None]
        write(self._poses, poses)
        self._find()
        count = min(int(read(self.points.count)[0]), self.points.numbers.shape[1])
        return max(0.0, -float(read(self.points.numbers)[0, :count, POINT.gap].min(initial=0.0)))


def may_overlap(model):
    """Whether any of a model's bodies may touch another, or the ground. Arguments: a rigid.Model."""
    return any(pair_types([model])[:5])
