"""Particles with position-based constraints, moved by Verlet integration.

    import taichi as ti
    ti.init(arch=ti.cpu, default_fp=ti.f64)

    import pbd
    particles = pbd.Particles()
    pin = particles.add_particle((0, 0, 1), mass=float("inf"))
    bob = particles.add_particle((1, 0, 1), mass=1.0)
    particles.add_stick(pin, bob)
    system = pbd.ParticleSystem(particles, dt=1 / 60)
    system.step(100)

`Particles` is the description, `ParticleSystem` the solver; pbd/step.py is the algorithm.
"""

import os

os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "False")  # no banner

import pbd.core.kernels  # noqa: F401 - first, as it makes `@ti.func` quick
from pbd import build
from pbd.constraints import ConstraintType, scalar_constraint
from pbd.core.kernels import KERNELS
from pbd.core.kernels.plain.functions import plain
from pbd.core.results import Diverged, Energy, Event, Statistics
from pbd.core.shapes import Box, Capsule, ConvexHull, Cylinder, MeshCollider, Plane, Sphere
from pbd.description.deforming_mesh import DeformingMesh
from pbd.materials import FABRICS, SOLIDS, Fabric, Solid
from pbd.particles import Particles
from pbd.state import State
from pbd.system import ParticleSystem

__all__ = [
    "FABRICS",
    "KERNELS",
    "SOLIDS",
    "Box",
    "Capsule",
    "ConstraintType",
    "ConvexHull",
    "Cylinder",
    "DeformingMesh",
    "Diverged",
    "Energy",
    "Event",
    "Fabric",
    "MeshCollider",
    "ParticleSystem",
    "Particles",
    "Plane",
    "Solid",
    "Sphere",
    "State",
    "Statistics",
    "build",
    "plain",
    "scalar_constraint",
]


def __dir__():
    return __all__
