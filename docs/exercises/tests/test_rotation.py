"""The quaternion of a rotation vector, which turns a body with a constant angular velocity exactly."""

from exercise import use

use("pbd.core.quaternions", __file__)

import numpy as np
import taichi as ti
from scipy.spatial.transform import Rotation

ti.init(arch=ti.cpu, default_fp=ti.f64)

import rigid
from pbd.core.quaternions import exponential


@ti.kernel
def compute(v: ti.types.ndarray(), q: ti.types.ndarray()):
    for i in range(v.shape[0]):
        found = exponential(ti.Vector([v[i, 0], v[i, 1], v[i, 2]]))
        for k in ti.static(range(4)):
            q[i, k] = found[k]


def quaternions(v):
    q = np.zeros((len(v), 4))
    compute(np.ascontiguousarray(v), q)
    return q


def test_quaternion_of_a_rotation_vector():
    generator = np.random.default_rng(2)
    for size in (1e-9, 1e-4, 1e-2, 1.0, 3.0):
        v = size * generator.normal(size=(50, 3))
        found, expected = quaternions(v), Rotation.from_rotvec(v).as_quat()[:, [3, 0, 1, 2]]
        same = np.sign(np.sum(found * expected, axis=1))[:, None]  # q and -q are one rotation
        np.testing.assert_allclose(found, same * expected, atol=1e-12)


def test_sphere_turns_by_its_angular_velocity():
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_sphere(0.1, mass=1.0, angular_velocity=(0, 0, 1.0))
    solver = rigid.solver("impulse", model, dt=0.1, contacts=False)
    solver.step(10)
    np.testing.assert_allclose(solver.state().rotation[0], (np.cos(0.5), 0, 0, np.sin(0.5)), atol=1e-12)
