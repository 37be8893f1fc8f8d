"""Kernels of a user read the Taichi array of positions without a copy."""

import numpy as np
import pytest
import taichi as ti
from marks import needs_lanes

import pbd
from pbd import build


def falling(count, **options):
    particles = pbd.Particles()
    particles.add_particles([(0.1 * k, 0, 1) for k in range(count)], mass=2.0)
    return pbd.ParticleSystem(particles, dt=0.01, **options)


def test_a_kernel_reads_the_positions_of_all_worlds():
    system = falling(5, worlds=3, lanes=1)

    @ti.kernel
    def height(position: ti.types.ndarray(ndim=2)) -> float:
        total = 0.0
        for _ in range(1):
            for i in range(position.shape[0]):
                for world in range(position.shape[1]):
                    total += position[i, world][2]
        return total

    for _ in range(2):
        system.step(10)
        array = system.position_array()
        assert height(array) == pytest.approx(system.positions()[..., 2].sum(), rel=1e-6)
    assert array.to_numpy()[..., 3] == pytest.approx(np.full((5, 3), 0.5))


@needs_lanes
def test_lanes_are_refused():
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (64, 64))
    system = pbd.ParticleSystem(particles)
    assert system.lanes > 1
    with pytest.raises(RuntimeError, match="expected lanes=1"):
        system.position_array()
