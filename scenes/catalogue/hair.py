"""Hair on a head that shakes: hundreds of strands, each a rod as thick and as stiff as a hair."""

import numpy as np

import pbd
from pbd import build
from pbd.core.validate import finite_number, whole
from rigid.rotation import multiply, rotate
from scenes.catalogue.components.chucks import smooth
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import CHALK, SAND, Camera, ColliderVisual, StickVisual

HEAD, CENTRE = 0.1, np.array([0.0, 0.0, 0.42])  # radius of the head, and its middle [m]
HAIRLINE = -0.1  # height above the middle below which nothing grows, behind; in front it is higher [radii]
RADIUS, DENSITY, YOUNG = 4e-5, 1300.0, 4e9  # of a hair, as measured [m], [kg/m³], [Pa]
# Less than E π r² = 20 N and G of 1.5 GPa, with which a run in 32 bits diverges: by its weight hair is 0.02 % longer.
STRETCHING, SHEAR = 0.1, 1e7  # [N], [Pa]
DRAWN, FACETS = 8e-4, (5, 1)  # radius that is drawn [m]; facets around it and to the pole of an end
LAYERS = 0.012  # hair is so thick on the head: strands keep different distances from it [m]
SHAKES, SHAKING, ANGLE = 3, 2.4, 0.9  # to and fro; how long [s]; how far [rad]
SHADES = ((0.28, 0.16, 0.09), (0.36, 0.21, 0.11), (0.22, 0.12, 0.07))


@register(small={"strands": 12, "segments": 6}, picture=1.3)
def hair(strands: int = 800, segments: int = 14, length: float = 0.24, curl: float = 0.0):
    """A head shakes its hair, and stops."""
    whole("strands", strands)
    curl = finite_number("curl", curl)
    generator = np.random.default_rng(0)
    lengths, thickness = length * generator.uniform(0.8, 1.0, strands), LAYERS * generator.uniform(0.1, 1.0, strands)
    particles = pbd.Particles()
    grown = build.hair(
        particles, combed(scalp(strands), segments, lengths, thickness, generator), radius=RADIUS, density=DENSITY,
        young=YOUNG, shear=SHEAR, stretching=STRETCHING, natural=((curl, 0.0), 0.4 * curl), damping=0.02,
        thickness=thickness, motion=shaking,
    )  # fmt: skip
    colliders = [(pbd.Sphere(HEAD), SAND), (pbd.Sphere(0.018, centre=(0, -HEAD, -0.01)), SAND),
                 (pbd.Capsule(0.045, start=(0, 0.01, -0.08), end=(0, 0.01, -0.2)), SAND)]  # fmt: skip
    for shape, _ in colliders:
        particles.add_collider(shape, friction=0.2, motion=carried(shape))
    shoulders = pbd.Capsule(0.06, start=CENTRE + (-0.13, 0.02, -0.25), end=CENTRE + (0.13, 0.02, -0.25))
    particles.add_collider(shoulders, friction=0.3)
    pairs = particles.rod_segments()[grown.segments, :2]
    shades = [
        StickVisual(pairs[k :: len(SHADES)].reshape(-1, 2), DRAWN, shade, *FACETS) for k, shade in enumerate(SHADES)
    ]
    return Scene(
        particles,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 1, "iterations": 6, "solve": "iterative", "damping": 0.01}},
        visuals=[
            *shades, *(ColliderVisual(k, shape, colour) for k, (shape, colour) in enumerate(colliders)),
            ColliderVisual(len(colliders), shoulders, CHALK),
        ],
        camera=Camera((0.75, -1.1, 0.55), (0, 0, 0.34), field_of_view=24),
    )  # fmt: skip


def scalp(strands):
    """Directions from the middle of the head to the roots (strands, 3), evenly apart.

    Those of a spiral that winds down from the crown, as seeds of a sunflower do, without the face.
    """
    many = 3 * strands + 20
    height = 1 - (np.arange(many) + 0.5) / many * (1 - HAIRLINE)
    angle = np.pi * (3 - np.sqrt(5)) * np.arange(many)
    around = np.sqrt(1 - height**2)
    points = np.stack([around * np.cos(angle), around * np.sin(angle), height], axis=1)
    points = points[points[:, 2] > HAIRLINE + 0.75 * np.maximum(-points[:, 1] - 0.1, 0)]
    return points[np.linspace(0, len(points) - 1, strands).round().astype(int)]


def combed(roots, segments, lengths, thickness, generator):
    """Lines of strands that grow to the back and to the sides, and then hang (strands, segments + 1, 3) [m].

    Args: roots: directions to them (strands, 3); lengths, thickness: of each strand [m].
    """
    parted = np.where(roots[:, :1] < 0.02, -1.0, 1.0) * np.array([0.5, 0.0, 0.0])
    first = roots + parted + np.array([0.0, 0.5, 0.0]) + 0.15 * generator.normal(size=roots.shape)
    first /= np.linalg.norm(first, axis=1)[:, None]
    hanging = np.clip(np.linspace(0, 1.8, segments), 0, 1)[:, None, None]
    tangents = (1 - hanging) * first + hanging * np.array([0.0, 0.0, -1.0])
    steps = tangents / np.linalg.norm(tangents, axis=2)[..., None] * (lengths / segments)[:, None]
    lines = HEAD * roots[:, None] + np.concatenate([0 * steps[:1], np.cumsum(steps, axis=0)]).swapaxes(0, 1)
    away = np.linalg.norm(lines[:, 1:], axis=2)
    lines[:, 1:] *= np.maximum(1, (HEAD + 1.1 * thickness)[:, None] / away)[..., None]  # out of the head
    return CENTRE + lines


def shaking(time):
    """Position [m] and rotation of the head at a time [s]."""
    part = time / SHAKING
    angle = ANGLE * np.sin(2 * np.pi * SHAKES * part) * smooth(4 * part) * smooth(4 * (1 - part)) if part < 1 else 0.0
    return CENTRE, np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])


def carried(shape):
    """The motion of a shape that is part of the head. Args: shape: as it lies where the head's middle is the origin."""
    place, turned = shape.pose()

    def motion(time):
        position, rotation = shaking(time)
        return position + rotate(rotation, place), multiply(rotation, turned)

    return motion
