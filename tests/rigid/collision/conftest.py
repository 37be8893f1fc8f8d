"""Contact points of models, found by one kernel for all tests of this folder."""

from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import Host, Launch, allocate, make_kernel
from rigid.collision.data import POINT, Shapes
from rigid.collision.narrow_phase import find_points, shape_distance
from rigid.collision.overlaps import Bodies, finding_kernel
from rigid.collision.upload import collision_arrays


class Measurement(NamedTuple):
    """What the kernel of `distances` reads and writes."""

    shapes: Shapes
    bodies: Bodies
    places: Host(2)
    found: Host(2)


@ti.func
def measure(s: ti.template(), shape):
    for i in range(s.places.shape[0]):
        x = ti.Vector([s.places[i, 0], s.places[i, 1], s.places[i, 2]])
        distance, normal = shape_distance(s.shapes, shape, s.bodies.poses, x, 0)
        s.found[i, 0] = distance
        for k in ti.static(range(3)):
            s.found[i, 1 + k] = normal[k]


@cache
def measuring_kernel():
    return make_kernel(measure, Measurement)


class Finder:
    """Contact points of models, for any number of poses."""

    def __init__(self, models, worlds=None, capacity=None, finding=find_points):
        self.models = models if isinstance(models, list) else [models]
        self.worlds = worlds or len(self.models)
        self.arrays = collision_arrays(self.models, self.worlds, capacity)
        self.bodies = allocate(Bodies, worlds=self.worlds, bodies=len(self.models[0].bodies))
        self.launch = Launch(finding_kernel(finding), *self.arrays, self.bodies)

    def poses_at_start(self):
        states = [model.initial_state() for model in self.models]
        poses = np.stack([np.concatenate([s.position, s.rotation], axis=1) for s in states])
        return np.broadcast_to(poses, (self.worlds, *poses.shape[1:])).copy()

    def __call__(self, poses=None, margin=0.0):
        """Arrays by name, for one world; a list of such, for several."""
        poses = self.poses_at_start() if poses is None else poses
        if poses.size:
            self.bodies.poses.from_numpy(np.ascontiguousarray(poses.reshape(self.worlds, *poses.shape[-2:])))
            margins = self.bodies.margins
            margins.from_numpy(np.broadcast_to(np.asarray(margin, float), margins.shape).copy())
        self.launch()
        integers, features, numbers, count = (each.to_numpy() for each in self.arrays[1])
        found = []
        for world in range(self.worlds):
            kept = slice(0, min(count[world], numbers.shape[1]))
            i, n = integers[world, kept], numbers[world, kept]
            found.append(
                SimpleNamespace(
                    count=count[world],
                    shapes=i[:, :2],
                    bodies=i[:, 2:4],
                    feature=features[world, kept],
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
    """Signed distances of world points from a shape of a model, and the normals there."""

    def of(model, shape, places):
        made = Finder(model)
        made.bodies.poses.from_numpy(made.poses_at_start())
        found = np.zeros((len(places), 4))
        Launch(measuring_kernel(), made.arrays[0], made.bodies)(np.ascontiguousarray(places), found, shape)
        return found[:, 0], found[:, 1:]

    return of
