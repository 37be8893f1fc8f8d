"""What scenes of rods share: chucks, the held ends of rods, drawn as short thick pieces that turn; motion in time."""

import numpy as np

from pbd.build import Rod
from scenes.visuals import STEEL, RodVisual

THICKNESS = 1.7  # radius of a chuck in radii of the rod


def chucks(particles, rod):
    """Visuals of the clamps of a rod. Args: a pbd.Particles; a pbd.build.Rod with clamps."""
    found = []
    for held in rod.clamps.values():
        piece = Rod(particles.rod_segments()[held, :2], np.array([held]), rod.radius[:1])
        found.append(RodVisual(particles, piece, STEEL, radius=THICKNESS * rod.radius[0]))
    return found


def smooth(part):
    """A smooth way from 0 to 1 as a part goes from 0 to 1."""
    part = min(max(part, 0.0), 1.0)
    return part * part * (3.0 - 2.0 * part)
