"""A fabric laboratory: tensile, bias, cantilever and drape tests of fabrics, beside their numbers and published ranges.

Specimens are at rest when they are measured, without air. Forces, lengths and the shadow are measured, as in a
laboratory, and not read from elements.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.signal import find_peaks

import pbd
from benchmarks.cloth_quality import intersections
from benchmarks.timing import row
from pbd import build
from pbd.core.topology import edges_of
from pbd.core.validate import one_of
from scenes.catalogue.components.drape_disc import DISC, SUPPORT, disc, waves

STEP, GRAVITY = 1 / 60, 9.81  # [s], [m/s²]
STRAIN = 0.01  # of tensile tests, by which a fabric is as stiff as its number says
CHORD, CHORD_GAMMA = math.radians(41.5), 8.0  # of ASTM D1388: the angle of the chord, w L³/B there
RINGS, COARSE = 20, 15  # of triangles in a disc, of which three fifths are on the support
STARTS = 3  # drapes of a fabric, as it has several; their mean counts
ANGLES = 2 * np.pi * np.arange(1440) / 1440  # at which the shadow is measured
FOLD = 0.003  # least prominence of a fold in the shadow's outline [m]

# Published drape coefficients [%]: of usual fabrics of these kinds; of leather by Memon and others (2021), see
# pbd/materials/fabrics.py. One measured cotton has 68.4 %.
PUBLISHED = {"silk": (20, 40), "cotton": (60, 76), "wool": (40, 70), "denim": (70, 90), "leather": (47.35, 69.9)}


class Drape(NamedTuple):
    """A disc at rest. Attributes: coefficient [%]; folds; outline: of the shadow [m]; positions; triangles."""

    coefficient: float
    folds: int
    outline: np.ndarray
    positions: np.ndarray
    triangles: np.ndarray


def laboratory(fabrics=None, picture=None):
    """Lines of CSV, as they are measured. Args: fabrics: names, None for all of pbd.FABRICS; picture: a .png or .svg
    file for the drapes, or None.

    Raises: ValueError for an unknown fabric or another kind of file.
    """
    names = [one_of("fabric", name, tuple(pbd.FABRICS)) for name in fabrics or pbd.FABRICS]
    if picture is not None:
        one_of("file type of the picture", Path(picture).suffix, (".png", ".svg"))
    return measured(names, picture)


def measured(names, picture):
    """Yield the lines of `laboratory`."""
    drapes = {}
    for name in names:
        yield from strips(name, pbd.FABRICS[name])
        found = [drape(pbd.FABRICS[name], RINGS, seed) for seed in range(STARTS)]
        drapes[name] = found[0]
        yield from drape_rows(name, found)
    if picture is not None:
        yield f"# fabric: drapes are drawn in {plot_drapes(picture, drapes)}"


def strips(name, fabric):
    """Yield lines of tensile, bias and cantilever tests. Args: name; fabric: a pbd.Fabric."""
    for what, angle in (("warp", 0.0), ("weft", math.pi / 2), ("bias", math.pi / 4)):
        yield row("fabric", f"{name} {what}", tensile(fabric, angle), "N/m")
        yield row("fabric", f"{name} {what} given", stiffness_at(fabric, angle), "N/m")
    for what, angle in (("warp", 0.0), ("weft", math.pi / 2)):
        yield row("fabric", f"{name} bending {what}", 1e6 * cantilever(fabric, angle), "µN m")
        yield row("fabric", f"{name} bending {what} given", 1e6 * float(fabric.rigidity(angle)), "µN m")


def drape_rows(name, found):
    """Yield lines of a fabric's drapes. Args: name; found: a Drape for each start, the first of seed 0."""
    coefficients = [each.coefficient for each in found]
    yield row("fabric", f"{name} drape", np.mean(coefficients), "%")
    yield row("fabric", f"{name} drape of starts most less least", np.ptp(coefficients), "%")
    change = drape(pbd.FABRICS[name], COARSE).coefficient - coefficients[0]
    yield row("fabric", f"{name} drape at {COARSE} rings less that at {RINGS}", change, "%")
    for bound, value in zip(("least", "most"), PUBLISHED.get(name, ())):
        yield row("fabric", f"{name} drape published {bound}", value, "%")
    yield row("fabric", f"{name} folds", np.mean([each.folds for each in found]), "folds")
    crossed = sum(len(intersections(each.positions, each.triangles)) for each in found)
    yield row("fabric", f"{name} intersections", crossed, "pairs of triangles")


def stiffness_at(fabric, angle):
    """Stiffness of a strip with free sides at an angle to the warp [N/m].

    1/k = c⁴/k_warp + s⁴/k_weft + (1/k_shear - 2 ν/√(k_warp k_weft)) s² c². Source: Lekhnitskii, Anisotropic Plates
    (1968).
    """
    c, s = math.cos(angle) ** 2, math.sin(angle) ** 2
    across = 1 / fabric.shear - 2 * fabric.poisson / math.sqrt(fabric.warp * fabric.weft)
    return 1 / (c * c / fabric.warp + s * s / fabric.weft + across * s * c)


def grid(length, width, rows, columns, start=0.0):
    """A Mesh of a strip along x, whose particle (i, j) has the index i (columns + 1) + j. Args: start: its least x."""
    i, j = np.indices((rows + 1, columns + 1))
    vertices = np.stack([start + i * length / rows, (j / columns - 0.5) * width, 0.0 * i], axis=-1).reshape(-1, 3)
    number = np.arange(i.size).reshape(i.shape)
    a, b, c, d = (each.ravel() for each in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    rising = ((i + j)[:-1, :-1] % 2 == 0).ravel()[:, None]
    one = np.where(rising, np.stack([a, b, c], 1), np.stack([a, b, d], 1))
    two = np.where(rising, np.stack([a, c, d], 1), np.stack([b, c, d], 1))
    return build.Mesh(vertices, np.concatenate([one, two]))


def specimen(mesh, fabric, angle, pins, gravity, damping, **options):
    """A ParticleSystem of a specimen. Args: angle: of the x axis to the warp; damping [s]: brings it to rest."""
    particles = pbd.Particles(gravity=(0, 0, -gravity), wind=None)
    warp = (math.cos(angle), math.sin(angle), 0.0)
    fabric = replace(fabric, damping=damping)
    build.cloth_from_mesh(particles, mesh, fabric=fabric, warp=warp, drag=None, pins=pins)
    return pbd.ParticleSystem(particles, dt=STEP, iterations=3, **options)


def tensile(fabric, angle=0.0, strain=STRAIN, rows=12, columns=4):
    """Stiffness of a strip of 20 cm by 5 cm that is pulled along x [N/m].

    Args: angle: of x to the warp [rad]; strain: that a strip with the stiffness of `stiffness_at` has.

    Tractions pull evenly at both ends, so that ends are free to contract and to shear: clamps would stiffen the bias.
    """
    length, width = 0.2, 0.05
    system = specimen(grid(length, width, rows, columns), fabric, angle, (), 0.0, 0.05)
    tension = strain * stiffness_at(fabric, angle)
    share = np.full(columns + 1, width / columns)
    share[[0, -1]] /= 2
    forces = np.zeros((system.count, 3))
    forces[-columns - 1 :, 0], forces[: columns + 1, 0] = tension * share, -tension * share
    system.set_forces(forces)
    system.step(90)
    lines = system.positions()[:, 0].reshape(rows + 1, columns + 1).mean(axis=1)
    first, last = rows // 4, rows - rows // 4  # the ends of an extensometer
    return tension / ((lines[last] - lines[first]) / (length * (last - first) / rows) - 1)


def cantilever(fabric, angle=0.0, rows=20):
    """Flexural rigidity from the overhang whose chord is 41.5° below the level [N m].

    Two overhangs are measured, and that of 41.5° interpolated between. Their strip is narrower than that of the
    standard, because the clamp keeps a wide one from bending across. Source: ASTM D1388.
    """
    weight = GRAVITY * fabric.density
    usual = (CHORD_GAMMA * float(fabric.rigidity(angle)) / weight) ** (1 / 3)
    overhangs = np.array([0.97, 1.03]) * usual
    angles = [chord(fabric, angle, overhang, rows) for overhang in overhangs]
    return weight * np.interp(CHORD, angles, overhangs) ** 3 / CHORD_GAMMA


def chord(fabric, angle, overhang, rows):
    """Angle of the chord of an overhanging strip below the level [rad]. Args: overhang [m]; others: of cantilever."""
    cell, columns = overhang / rows, 2
    mesh = grid(overhang + cell, overhang / 20, rows + 1, columns, -cell)
    system = specimen(mesh, fabric, angle, range(2 * columns + 2), GRAVITY, 0.05)
    system.step(240)
    x, _, z = system.positions()[-columns - 1 :].mean(axis=0)
    return math.atan2(-z, x)


def drape(fabric, rings, seed=0, steps=120):
    """Drape a disc of 30 cm that is held between two plates of 18 cm. Args: fabric; rings; seed; steps: until it rests.

    Source: Cusick, The measurement of fabric drape (1968); BS 5058.
    """
    mesh = disc(rings)
    held = np.flatnonzero(np.hypot(*mesh.vertices.T[:2]) < SUPPORT + 1e-6)
    system = specimen(mesh, fabric, 0.0, held, GRAVITY, 0.03)
    system.set_positions(mesh.vertices + np.outer(waves(mesh.vertices, seed), (0, 0, 1)))
    system.step(steps)
    positions = system.positions()
    outline = shadow(positions, edges_of(mesh.triangles))
    area = (outline**2).sum() * np.pi / len(outline)
    coefficient = (area - np.pi * SUPPORT**2) / (np.pi * (DISC**2 - SUPPORT**2))
    return Drape(100 * coefficient, folds_of(outline), outline, positions, mesh.triangles)


def shadow(positions, edges):
    """Distance of the shadow's outline from the centre at each of ANGLES (n,) [m]. Args: positions (n, 3); edges."""
    a, b = positions[edges[:, 0], :2], positions[edges[:, 1], :2]
    outline = np.zeros(len(ANGLES))
    for k, angle in enumerate(ANGLES):
        along, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
        p, q = a @ across, b @ across
        cut = (p > 0) != (q > 0)
        part = p[cut] / (p[cut] - q[cut])
        outline[k] = ((1 - part) * (a[cut] @ along) + part * (b[cut] @ along)).max()
    return outline


def folds_of(outline):
    """Number of folds, the peaks of a shadow's outline. Args: outline: [m]."""
    peaks, _ = find_peaks(np.tile(outline, 3), prominence=FOLD)
    return int(((peaks >= len(outline)) & (peaks < 2 * len(outline))).sum())


def plot_drapes(path, drapes):
    """Draw the shadows of drapes. Args: path: a .png or .svg file; drapes: {name: Drape}. Returns: the path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from scenes.comparison.report.figure import GRID, INK, save, styled

    columns = min(5, len(drapes))
    rows = -(-len(drapes) // columns)
    with styled():
        figure = Figure((2.1 * columns, 2.5 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False, subplot_kw={"aspect": "equal"}).ravel()
        for axis in axes:
            axis.axis("off")
        for axis, (name, found) in zip(axes, drapes.items()):
            directions = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
            for radius, colour in ((DISC, GRID), (found.outline, "#8fa9c4"), (SUPPORT, "#56779b")):
                axis.fill(*(radius * directions), color=colour, linewidth=0)
            published = "published {:.0f} to {:.0f} %".format(*PUBLISHED[name]) if name in PUBLISHED else ""
            axis.set_title(f"{name}: {found.coefficient:.0f} %, {found.folds} folds\n{published}", color=INK)
    return save(figure, Path(path))
