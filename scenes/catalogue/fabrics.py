"""Discs of five fabrics drape side by side, as in the test by Cusick: each is held where its plate of 18 cm is."""

from dataclasses import replace

import numpy as np

import pbd
from pbd import build
from pbd.core.validate import whole
from scenes.catalogue.components.drape_disc import SUPPORT, disc, waves
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, RED, SAND, STEEL, STONE, WOOD, Camera, ClothVisual, Instances, StaticVisual
from scenes.visuals.shapes import shape_surface

HEIGHT, APART = 0.2, 0.36  # of the discs above the ground, and between their middles [m]
PLATE, STEM = 0.006, 0.012  # thickness of a plate; radius of its stem [m]
NAMES = {"silk": RED, "cotton": CHALK, "wool": STEEL, "denim": BLUE, "leather": WOOD}


@register(small={"rings": 5}, slow=True, picture=2.0)
def fabrics(rings: int = 12, damping: float = 0.02, seed: int = 0):
    """Silk, cotton, wool, denim and leather drape over round supports; the numbers are those of real fabrics."""
    whole("rings", rings, least=5)
    flat, particles, visuals, heights, places = disc(rings), pbd.Particles(wind=None), [], [], []
    held = np.flatnonzero(np.hypot(*flat.vertices.T[:2]) < SUPPORT + 1e-6)
    for k, (name, colour) in enumerate(NAMES.items()):
        place = np.array([APART * (k - (len(NAMES) - 1) / 2), 0, HEIGHT])
        fabric = replace(pbd.FABRICS[name], damping=damping)
        mesh = build.Mesh(flat.vertices + place, flat.triangles)
        sheet = build.cloth_from_mesh(particles, mesh, fabric=fabric, warp=(1, 0, 0), drag=None, pins=held)
        heights.append(waves(flat.vertices, seed))
        places.append(place)
        visuals.append(ClothVisual(sheet.triangles, colour, SAND))
    start = particles.positions() + np.outer(np.concatenate(heights), (0, 0, 1))
    return Scene(
        particles.with_positions(start),
        duration=3.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 1, "iterations": 3, "solve": "iterative"}},
        visuals=[*visuals, StaticVisual(stands(np.array(places)))],
        camera=Camera((0.0, -1.9, 0.8), (0, 0, 0.12), field_of_view=31),
    )


def stands(places):
    """A plate on a stem at each place. Args: places: of the middles of discs (n, 3) [m]."""
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(places), 1))
    made = (pbd.Cylinder(SUPPORT - 0.012, PLATE), -PLATE), (pbd.Cylinder(STEM, HEIGHT - PLATE), -(HEIGHT + PLATE) / 2)
    return [Instances(shape_surface(each, STONE), places + (0, 0, above), upright) for each, above in made]
