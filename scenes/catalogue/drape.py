"""A cloth falls over a ball; cloth and ball can be replaced by meshes from files."""

import numpy as np

import pbd
from pbd import build
from pbd.build.cloth import usual_thickness, usual_thickness_of
from pbd.core.messages import shown
from pbd.core.validate import one_of
from scenes.catalogue.components.mesh_files import Fit, OwnMesh, Reading, Unit, UpAxis, lengths
from scenes.catalogue.components.placing import Place
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import Camera, ClothVisual, ColliderVisual

DENSITY = 0.25  # of a cloth of sticks [kg/m²]
BENDING, SHEAR = 1e-4, 1e-2  # of one, without a fabric [N m], [m/N]
SIZE = 1.9  # side of the cloth [m]
THICKNESS = 0.016  # of a cloth with the size and the count of the scene [m]
THICKEST = 2.4  # of a cloth, in usual thicknesses, which are 5/6 of the distance of particles
FITTED = 0.65  # longest side of a fitted collider, in sides of the cloth


@register(small={"count": 20}, picture=3)
def drape(
    count: int = 100, size: float = SIZE, collider: str = "", cloth: str = "", units: Unit = "m", up: UpAxis = "",
    scale: float | None = None, fit: Fit = "auto", repair: bool = False, friction: float = 0.25,
    bending: float = BENDING, thickness: float | None = None, shear: float = SHEAR, fabric: str = "",
):  # fmt: skip
    """A cloth falls over a ball; --param collider=FILE and cloth=FILE take your own meshes, fabric=denim a fabric."""
    particles = pbd.Particles()
    made, ratio = material(fabric, bending, shear, cloth)
    solid, shirt = own_meshes(collider, cloth, Reading(units, up, scale, fit, repair), size)
    usual = usual_thickness_of(shirt.mesh) if shirt else usual_thickness(size / (max(count, 2) - 1))
    thickness = chosen_thickness(thickness, usual)
    shape, height, floor, subject = pbd.Sphere(0.5, centre=(0, 0, 0.55)), 1.05, 0.0, None
    height += max(0.05, thickness / 2 + 0.03)
    if solid:
        points = shirt.mesh.vertices if shirt else square(size, max(count, 2))
        place = Place(solid, points, gap=height - 1.05)
        shape = pbd.MeshCollider(solid.mesh, region=place.region, resolution=place.resolution)
        height, floor, subject = place.height, place.floor, place.subject
    particles.add_collider(pbd.Plane(point=(0, 0, floor)), friction=0.6)
    particles.add_collider(shape, friction=friction)
    if shirt:
        shirt.stand_at(height)
        sheet = build.cloth_from_mesh(
            particles, shirt.mesh, density=DENSITY, bending=bending, thickness=thickness, friction=0.3
        )
        count = round(np.sqrt(len(sheet.particles)))
    else:
        sheet = build.cloth(
            particles, (-0.5 * size, -0.5 * size, height), (size, 0, 0), (0, size, 0), (count, count),
            thickness=thickness, friction=0.3, **made,
        )  # fmt: skip
    # Threads stretch by 0.5 % on average if the substeps grow with the number of particles along a side. One iteration
    # per substep is better than half the substeps with two (Macklin et al., Small Steps in Physics Simulation, 2019).
    # A fabric, whose triangles cost more than sticks, has fewer, and stretches by 1 % (docs/guides/fabrics.md).
    # One thread runs it all, because sharing the phases of each substep among threads costs more than it gains.
    substeps = 4 * max(2, round((0.04 if fabric else 0.07) * count))
    return Scene(
        particles,
        duration=4.0,
        settings={
            "verlet": {
                "dt": 1 / 60, "substeps": substeps, "iterations": 1, "solve": "iterative", "damping": 0.01,
                "contact_interval": contact_interval(thickness, substeps), "clusters": 1, "elements": "iterative",
                "bending_interval": 1 if cloth else bending_interval(ratio, size / count, 1 / 60 / substeps),
            },
        },
        visuals=[ClothVisual(sheet.triangles), ColliderVisual(1, shape)],
        camera=None if collider or cloth else Camera((1.7, -3.0, 1.75), (0, 0, 0.48)),
        subject=subject,
        ground=floor,
        notes=[note for own in (shirt, solid) if own for note in own.notes],
        chosen={"thickness": thickness},
    )


def material(fabric, bending, shear, cloth):
    """What the cloth is made of: options of `build.cloth`, and B/ρ [m⁴/s²]. Args: see `drape`.

    Raises: ValueError for a fabric beside what is of sticks, or of a cloth from a file, where the warp is unknown.
    """
    if not fabric:
        return {"density": DENSITY, "shear_compliance": shear, "bending": bending}, bending / DENSITY
    if cloth or (bending, shear) != (BENDING, SHEAR):
        raise ValueError(f"fabric is {shown(fabric)}, with cloth, bending or shear: expected either")
    found = pbd.FABRICS[one_of("fabric", fabric, tuple(pbd.FABRICS))]
    return {"fabric": found}, max(found.rigidities()) / found.density


def chosen_thickness(given, usual):
    """The thickness of the cloth [m].

    Args: given: by the user, or None; usual: see usual_thickness [m].

    Raises: ValueError for a thickness with which a particle would have more neighbours in contact than it can keep.
    """
    if given is not None and 0 < THICKEST * usual < given:
        most = f"{THICKEST * usual:.3g} m at most, twice the distance of particles"
        raise ValueError(f"thickness is {given:g} m: expected {most}; {usual:.3g} m is usual")
    return usual if given is None else given


def own_meshes(collider, cloth, reading, size):
    """The OwnMesh of a collider on the floor and that of a cloth, each None without a file.

    A cloth that is far larger or smaller than the ball is fitted to `size`, and a collider with it. A collider that is
    then far larger or smaller than the cloth is fitted to it.

    Args: collider, cloth: names of files, or ""; reading: a Reading; size: side of the cloth without a file [m].
    """
    solid = OwnMesh("collider", collider, reading) if collider else None
    shirt = OwnMesh("cloth", cloth, reading, closed=False) if cloth else None
    if shirt:
        range_of = 10 if solid else 3  # the ball does not change its size
        factor = shirt.fit(size, size / range_of, size * range_of, "the ball 1 m")
        if solid:
            solid.mesh.vertices *= factor
    if solid:
        side = shirt.extent.max() if shirt else size
        beside = f"the cloth {lengths(shirt.extent if shirt else (size, size))}"
        solid.fit(FITTED * side, side / 5, 2 * side, beside)
        solid.stand_at(0.0)
    return solid, shirt


def square(size, count):
    """Points of a horizontal square around the origin (count², 3) [m]. Args: its side [m]; count along a side."""
    line = np.linspace(-size / 2, size / 2, count)
    return np.stack(np.meshgrid(line, line, [0.0]), axis=-1).reshape(-1, 3)


def contact_interval(thickness, substeps):
    """The shortest interval between searches for contacts in substeps, a divisor of the substeps of 1/60 s.

    Particles must not move by more than the thickness in it. They move by up to 3.8 m/s: 16 mm in the 1/240 s of the
    scene's own cloth. With half as many searches triangles pass through one another.

    Args: thickness: [m]; substeps: in a step.
    """
    searches = 4 * max(1.0, THICKNESS / thickness) if thickness else 4
    divisors = [n for n in range(1, substeps + 1) if substeps % n == 0]
    return max((n for n in divisors if n * searches <= substeps), default=1)


def bending_interval(ratio, spacing, substep):
    """Substeps from one projection of bending to the next: four or two if the shortest bends are slow enough, else one.

    They swing at about ω = 10 (B/ρ)^½ / d². An impulse every T gains energy from ω T = 2 on; measured at 100 x 100
    particles: seven substeps (2.3) crumple the cloth, four (1.3) leave strain and smoothness as they are.

    Args: ratio: B/ρ [m⁴/s²]; spacing: d of the particles [m]; substep: [s].
    """
    swing = 10 * np.sqrt(ratio) / spacing**2
    return next((n for n in (4, 2) if n * substep * swing < 1.4), 1)
