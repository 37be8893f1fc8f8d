"""The box, the sticks, the tetrahedra and the cloth of Jakobsen's paper, by the numbers of its retelling, [2] of
docs/solvers/sources.md: a box from 0 to 1000, sticks of length 100, no rebound, 1.99 in place of 2, four iterations.

The source names no unit. Gravity is 9810 units/s², so a unit is a millimetre of a fall in real time.
"""

import numpy as np

import pbd
from pbd.build import hexagonal_cloth
from pbd.core.validate import whole
from scenes.catalogue.tetrahedron import EDGES, FACES
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    CHALK,
    GOLD,
    GREEN,
    RED,
    STONE,
    BoxEdgesVisual,
    Camera,
    ClothVisual,
    ParticleVisual,
    StaticVisual,
    StickVisual,
    Surface,
)

SIZE, LENGTH = 1000.0, 100.0  # of the box and of all sticks


@register(picture=0.4)
def jakobsen_box(grains: int = 40, sticks: int = 12, tetrahedra: int = 5, columns: int = 6, seed: int = 3):
    """Jakobsen's own numbers: a box from 0 to 1000, sticks of length 100, no rebound, a hexagonal cloth."""
    whole("grains", grains, least=0), whole("sticks", sticks, least=0), whole("tetrahedra", tetrahedra, least=0)
    rng = np.random.default_rng(whole("seed", seed, least=0))
    particles = pbd.Particles(gravity=(0, 0, -9810.0))
    particles.add_box((0, 0, 0), (SIZE, SIZE, SIZE))
    # A cloth of sticks of length 100, which hangs from one particle on an edge of the box.
    width, height = (columns - 0.5) * LENGTH, (columns - 1) * LENGTH * np.sqrt(3) / 2
    right, down = np.array([0.9, 0, -np.sqrt(0.19)]), np.array([-np.sqrt(0.19), 0, -0.9])
    sheet = hexagonal_cloth(
        particles, (0.5 * SIZE, 0.97 * SIZE, SIZE), width * right, height * down, columns, columns,
        density=1e-5, bending=None, drag=None, pins=("left_top",),
    )  # fmt: skip
    loose = particles.add_particles(
        rng.uniform(0.1 * SIZE, 0.9 * SIZE, (grains, 3)), 0.1, rng.normal(0, 2.0 * SIZE, (grains, 3))
    )
    first = rng.uniform(0.2 * SIZE, 0.8 * SIZE, (sticks, 3))
    along = rng.normal(size=(sticks, 3))
    along *= LENGTH / np.linalg.norm(along, axis=1, keepdims=True)
    ends = particles.add_particles(np.concatenate([first, first + along]), 0.1, rng.normal(0, SIZE, (2 * sticks, 3)))
    pairs = np.stack([ends[:sticks], ends[sticks:]], axis=1)
    particles.add_sticks(pairs)
    visuals = []
    for _ in range(tetrahedra):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        arms = LENGTH / np.sqrt(8) * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) @ turn.T
        corners = particles.add_particles(rng.uniform(0.2 * SIZE, 0.8 * SIZE, 3) + arms, 0.1)
        particles.add_sticks(corners[EDGES], LENGTH)
        visuals += [ClothVisual(corners[FACES], GREEN, None, smooth=False), StickVisual(corners[EDGES], 5.0, GREEN)]
    # 2 lowered to 1.99 is a damping of 0.01 per step. The source has one time step for each frame.
    return Scene(
        particles,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 60, "iterations": 4, "solve": "iterative", "damping": 0.01}},
        visuals=[
            ClothVisual(sheet.triangles, GOLD, RED), StickVisual(sheet.sticks, 4.0, CHALK),
            ParticleVisual(loose, 12.0, GOLD), StickVisual(pairs, 8.0, BLUE), *visuals,
            BoxEdgesVisual(np.zeros(3), np.full(3, SIZE), 8.0), StaticVisual([floor()]),
        ],
        camera=Camera((1.27 * SIZE, -1.8 * SIZE, 1.35 * SIZE), (0.5 * SIZE, 0.5 * SIZE, 0.44 * SIZE)),
    )


def floor():
    """Every other square of the box's floor, with edges of LENGTH. Squares of the ground have an edge of one unit."""
    count = round(SIZE / LENGTH)
    squares = np.array([(x, y, 0) for x in range(count) for y in range(count) if (x + y) % 2])
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    vertices = LENGTH * (squares[:, None] + corners).reshape(-1, 3) + (0, 0, 1.0)
    first = 4 * np.arange(len(squares))[:, None, None]
    return Surface(vertices, (first + [(0, 1, 2), (0, 2, 3)]).reshape(-1, 3), STONE)
