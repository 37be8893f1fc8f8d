"""Colours of stress or strain: triangles in bands, from blue for none to red for the largest."""

from dataclasses import dataclass

import numpy as np

from pbd.core.validate import one_of, positive
from scenes.visuals.geometry import Surface
from scenes.visuals.particles import ClothVisual

# Stops of the colours, sRGB from 0 to 1; the hues of "turbo" (Mikhailov, 2019), whose lightness has one maximum.
STOPS = np.array([(0.19, 0.28, 0.68), (0.16, 0.73, 0.92), (0.45, 0.88, 0.35), (0.95, 0.78, 0.22), (0.84, 0.22, 0.12)])
BANDS = 12


def band_colours():
    """The colour of each band (BANDS, 3)."""
    at = np.linspace(0, len(STOPS) - 1, BANDS)
    return np.stack([np.interp(at, np.arange(len(STOPS)), stops) for stops in STOPS.T], axis=1)


def sizes_of(element, of, positions):
    """One size for each triangle of a membrane or tetrahedron of a solid (n,).

    Of a membrane it is the largest of warp, weft and shear, of a solid von Mises' stress, or the norm of the strain.

    Args: element: of `Particles.membranes` or `solids`; of: "stress" or "strain"; positions (particles, 3) [m].
    """
    if hasattr(element, "triangles"):
        return np.abs(element.tensions(positions) if of == "stress" else element.strains(positions)).max(axis=1)
    if of == "strain":
        return np.linalg.norm(element.strains(positions), axis=(1, 2))
    stress = element.stresses(positions)
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    return np.sqrt(1.5) * np.linalg.norm(deviator, axis=(1, 2))


@dataclass
class StressVisual:
    """Membranes or solids in bands of colours, by their stress or strain; what is above the largest is red.

    Args:
        particles: the scene's pbd.Particles, whose membranes and solids give the sizes (see `sizes_of`).
        largest: where the last band begins: [N/m] of membranes, [Pa] of solids; or a strain.
        of: "stress" or "strain".
        skin: of a pbd.build.SoftBody, to draw it; None for the triangles of all membranes.

    Raises: ValueError for other words, a size that is not positive, or stress of a material that flows: it depends on
    what has flowed, and frames hold positions alone.
    """

    particles: object
    largest: float
    of: str = "stress"
    skin: object = None

    def __post_init__(self):
        one_of("of", self.of, ("stress", "strain"))
        positive("largest", self.largest)
        drawn = self.particles.solids if self.skin else self.particles.membranes
        self.elements = [(each, each.tetrahedra if self.skin else each.triangles) for each in drawn]
        materials = [each.solid if self.skin else each.fabric for each, _ in self.elements]
        if self.of == "stress" and any(each.yield_strain is not None for each in materials):
            raise ValueError('of is "stress", of a material that flows: expected of="strain", as frames hold no flow')
        if not self.elements:
            raise ValueError(f"no {'solids' if self.skin else 'membranes'} to draw: expected some, see pbd.Particles")
        self.colours = band_colours()

    def draw(self, frame):
        """Surfaces at one instant, one for each band. Args: a Frame."""
        sizes = self.sizes_at_particles(frame.positions)
        if self.skin:
            vertices, triangles = self.skin.vertices(frame.positions), self.skin.triangles
            sizes = self.skin.vertices(np.repeat(sizes[:, None], 3, axis=1))[:, 0]
        else:
            vertices, triangles = frame.positions, np.concatenate([members for _, members in self.elements])
        bands = np.clip(BANDS * sizes[triangles].mean(axis=1) / self.largest, 0, BANDS - 1).astype(int)
        surfaces = []
        for band in np.unique(bands):
            used, corners = np.unique(triangles[bands == band], return_inverse=True)
            surfaces.append(Surface(vertices[used], corners.reshape(-1, 3).astype(np.int32), self.colours[band]))
        return surfaces

    def sizes_at_particles(self, positions):
        """The mean size of the elements of each particle (particles,). Args: positions (particles, 3) [m]."""
        sums, counts = np.zeros(len(positions)), np.zeros(len(positions))
        for element, members in self.elements:
            sizes = np.nan_to_num(sizes_of(element, self.of, positions), nan=self.largest, posinf=self.largest)
            sums += np.bincount(members.ravel(), np.repeat(sizes, members.shape[1]), len(positions))
            counts += np.bincount(members.ravel(), minlength=len(positions))
        return sums / np.maximum(counts, 1)


def in_bands(visuals, particles, of, largest):
    """Visuals with membranes and solids in bands of colours, in place of those that draw them.

    Args: visuals: a list; particles: a pbd.Particles, or None; of, largest: see StressVisual.

    Raises: ValueError if there is no membrane or solid.
    """
    membranes = [] if particles is None else particles.membranes
    solids = [] if particles is None else particles.solids
    if not membranes and not solids:
        raise ValueError(f"no {of} to draw: expected cloth of a fabric, or a soft body of a material")
    woven, solid = (
        np.unique(np.concatenate([getattr(each, name).ravel() for each in elements])) if elements else []
        for elements, name in ((membranes, "triangles"), (solids, "tetrahedra"))
    )
    found = [StressVisual(particles, largest, of)] if membranes else []
    for each in visuals:
        if getattr(each, "skin", None) is not None and np.isin(each.skin.corners, solid).all():
            found.append(StressVisual(particles, largest, of, skin=each.skin))
        elif isinstance(each, ClothVisual):
            others = ~np.isin(each.triangles, woven).all(axis=1)
            if others.any():
                found.append(ClothVisual(each.triangles[others], each.colour, each.back_colour, each.smooth))
        elif not isinstance(each, StressVisual):
            found.append(each)
    return found
