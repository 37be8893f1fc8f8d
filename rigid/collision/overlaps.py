"""Depths of overlaps, computed from the poses of any solver's state by the narrow phase."""

from functools import cache
from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import Launch, Real, allocate, count, make_kernel, read, write
from rigid.collision.data import POINT, Points, Scratch, Shapes
from rigid.collision.narrow_phase import point_finder
from rigid.collision.upload import collision_arrays, pair_types


class Bodies(NamedTuple):
    """Poses and contact margins of bodies."""

    poses: Real(count.worlds, count.bodies, 7)  # position [m] and rotation (w, x, y, z)
    margins: Real(count.bodies, count.worlds)  # [m]


class Data(NamedTuple):
    """Arrays of the kernel."""

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
    """Where bodies overlap. Args: models: of which some bodies may touch; several of one structure, each a world."""

    def __init__(self, *models):
        arrays = collision_arrays(models, len(models))
        self.points = arrays[1]
        self._bodies = allocate(Bodies, worlds=len(models), bodies=len(models[0].bodies))
        self._find = Launch(finding_kernel(point_finder(pair_types(models))), *arrays, self._bodies)

    def depth(self, state):
        """Depth of the deepest overlap [m]; zero if nothing overlaps. Args: state: a rigid.State of one world."""
        return float(self.depths(state.position[None], state.rotation[None])[0])

    def depths(self, position, rotation):
        """Depths of the deepest overlaps (worlds,) [m].

        Args: position: (worlds, bodies, 3) [m]; rotation: (worlds, bodies, 4).
        """
        write(self._bodies.poses, np.concatenate([position, rotation], axis=-1))
        self._find()
        numbers = read(self.points.numbers)
        found = np.minimum(read(self.points.count), numbers.shape[1])
        return np.array([max(0.0, -each[:n, POINT.gap].min(initial=0.0)) for each, n in zip(numbers, found)])


def may_overlap(model):
    """Whether any of a model's bodies may touch another body, or the ground. Args: model: a rigid.Model."""
    return pair_types([model]).any_pair
