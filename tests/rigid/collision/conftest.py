"""Contact points of models, found by one kernel for all tests of this folder."""

from types import SimpleNamespace

import numpy as np
import pytest
import taichi as ti

from pbd.core.launch import Launch
from rigid.collision.data import PAIR, POINT, Shapes, array
from rigid.collision.narrow_phase import find_points, shape_distance
from rigid.collision.overlaps import finding_kernel
from rigid.collision.setup import collision_arrays

flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))


@ti.kernel
def measure(
    integers: table, numbers: cube, vertices: cube, planes: cube, lists: flat, poses: cube, places: table, found: table,
    shape: int,
):  # fmt: skip
    for i in range(places.shape[0]):
        x = ti.Vector([places[i, 0], places[i, 1], places[i, 2]])
        shapes = ti.static(Shapes(integers, numbers, vertices, planes, lists))
        distance, normal = shape_distance(shapes, shape, poses, x, 0)
        found[i, 0] = distance
        for k in ti.static(range(3)):
            found[i, 1 + k] = normal[k]


class Finder:
    """Contact points of models again and again, in other poses."""

    def __init__(self, models, worlds=None, capacity=None, finding=find_points):
        self.models = models if isinstance(models, list) else [models]
        self.worlds = worlds or len(self.models)
        self.arrays = collision_arrays(self.models, self.worlds, capacity)
        count = max(len(self.models[0].bodies), 1)
        self.poses = array(np.zeros((self.worlds, count, 7)))
        self.reach = array(np.zeros((count, self.worlds)))
        arrays = [each for group in self.arrays for each in group]
        self.launch = Launch(finding_kernel(finding), *arrays, self.poses, self.reach)

    def poses_at_start(self):
        states = [model.initial_state() for model in self.models]
        poses = np.stack([np.concatenate([s.position, s.rotation], axis=1) for s in states])
        return np.broadcast_to(poses, (self.worlds, *poses.shape[1:])).copy()

    def __call__(self, poses=None, reach=0.0):
        """What is found in each world: a list, or in one world itself, of arrays by name."""
        poses = self.poses_at_start() if poses is None else poses
        if poses.size:
            self.poses.from_numpy(np.ascontiguousarray(poses.reshape(self.worlds, *poses.shape[-2:])))
            self.reach.from_numpy(np.broadcast_to(np.asarray(reach, float), self.reach.shape).copy())
        self.launch()
        integers, numbers, count = (each.to_numpy() for each in self.arrays[1])
        found = []
        for world in range(self.worlds):
            kept = slice(0, min(count[world], numbers.shape[1]))
            i, n = integers[world, kept], numbers[world, kept]
            found.append(
                SimpleNamespace(
                    count=count[world],
                    shapes=i[:, :2],
                    bodies=i[:, 2:4],
                    feature=i[:, PAIR.feature],
                    point=n[:, :3],
                    normal=n[:, 3:6],
                    gap=n[:, POINT.gap],
                    friction=n[:, POINT.friction],
                    restitution=n[:, POINT.restitution],
                )
            )
        return found if self.worlds > 1 else found[0]


@pytest.fixture(scope="session")
def finder():
    return Finder


@pytest.fixture(scope="session")
def distances():
    """Signed distances and normals of a model's shape from points of the world."""

    def of(model, shape, places):
        made = Finder(model)
        made.poses.from_numpy(made.poses_at_start())
        found = np.zeros((len(places), 4))
        measure(*made.arrays[0], made.poses, np.ascontiguousarray(places), found, shape)
        return found[:, 0], found[:, 1:]

    return of
