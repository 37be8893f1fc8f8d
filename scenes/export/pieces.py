"""Pieces of a scene at one instant, in the form in which files keep them: surfaces, rods, spheres, placed shapes.

Visuals draw it (scenes/visuals), as for pictures and pages. An Instances becomes a Placed for each instance, in the
frame of its body if it has one: files then keep the shape once, and the pose of the body for each frame.

No format gives the two sides of a triangle different colours, so cloth with two colours becomes two surfaces.
"""

import json
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pbd.core.rotation import IDENTITY, rotate
from rigid.rotation import conjugate, multiply, normalised, rotate_back
from scenes.render.mesh import vertex_normals
from scenes.visuals import Spheres, Surface
from scenes.visuals.colours import FLOOR
from scenes.visuals.framing import bounds_of

FLOOR_SIZE = 3.0  # edge length of the floor, in lengths of the scene
BACK = "back"  # last part of the key of a back side
GAP = 0.01  # from a surface to its back, in edges of triangles: so a program that draws both sides shows the nearer one


class Placed(NamedTuple):
    """A surface in a frame of its own.

    Args:
        surface: a Surface in its own frame.
        body: index of the body in whose frame the pose is; -1 for the world.
        position: (3,) [m].
        rotation: (4,) unit quaternion (w, x, y, z).
        scale: (3,) factors along the axes of the surface.
        colour: (3,) sRGB.
    """

    surface: Surface
    body: int
    position: np.ndarray
    rotation: np.ndarray
    scale: np.ndarray
    colour: np.ndarray

    def vertices(self):
        """Vertices of the surface in the frame of the pose (n, 3) [m]."""
        return self.position + rotate(self.rotation, self.scale * self.surface.vertices)


def pieces_of(scene, frame, backs=False):
    """Draw a scene as parts.

    Args: a Scene; a Frame; backs: whether a back of another colour is a part of its own, and both have one side.

    Returns: {key: a Surface, Rods, Spheres or Placed}. A part has the same key in all frames.

    Raises: ValueError if the scene cannot be drawn in single precision, because it diverges.
    """
    found = {}
    try:
        for k, visual in enumerate(scene.visuals):
            for n, drawn in enumerate(visual.draw(frame)):
                if isinstance(drawn, Surface | Spheres):
                    found[k, n] = drawn
                    if backs and has_back(drawn):
                        found |= {(k, n): replace(drawn, solid=True), (k, n, BACK): back_of(drawn)}
                    continue
                for instance in range(len(drawn.positions)):
                    body = visual.body_at(n, instance) if hasattr(visual, "body_at") else -1
                    found[k, n, instance] = placed(drawn, instance, body, frame)
    except ValueError as error:
        raise ValueError(f"at {frame.time:.6g} s the scene cannot be drawn: {error}") from error
    return found


def has_back(drawn):
    """Whether it is a Surface with another colour on its back."""
    if not isinstance(drawn, Surface) or drawn.solid or drawn.back_colour is None:
        return False
    return not np.array_equal(drawn.back_colour, drawn.colour) and len(drawn.triangles) > 0


def back_of(surface):
    """The back of a Surface as a Surface: its triangles the other way round, and the colour of the back."""
    vertices, triangles = surface.vertices, surface.triangles
    edge = np.linalg.norm(vertices[triangles[:, 1]] - vertices[triangles[:, 0]], axis=1).mean()
    vertices = vertices - GAP * edge * vertex_normals(vertices, triangles)
    return replace(surface, vertices=vertices, triangles=triangles[:, ::-1], colour=surface.back_colour, solid=True)


def placed(instances, number, body, frame):
    """Make the Placed of one of the Instances. Args: instances; its number; index of its body, or -1; a Frame."""
    surface, position = instances.surface, instances.positions[number]
    rotation = IDENTITY if instances.rotations is None else normalised(instances.rotations[number])
    scale = np.ones(3) if instances.scales is None else instances.scales[number]
    colour = surface.colour if instances.colours is None else instances.colours[number]
    if body >= 0:
        pose = frame.body_poses[body]
        position, rotation = rotate_back(pose[3:], position - pose[:3]), multiply(conjugate(pose[3:]), rotation)
    return Placed(surface, body, position, rotation, scale, colour)


def floor_of(scene, frame):
    """Make the floor: a square Surface under everything that a frame shows. Args: a Scene; a Frame.

    Returns: None if the scene has no floor.
    """
    if scene.ground is None:
        return None
    lower, upper = bounds_of(scene, frame)
    half = 0.5 * FLOOR_SIZE * (upper - lower).max()
    corners = half * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    middle = np.array([*(lower + upper)[:2] / 2, scene.ground])
    return Surface(middle + corners, np.array([(0, 1, 2), (0, 2, 3)]), FLOOR, smooth=False)


def events_of(source, time):
    """List what tore or broke up to a time, with times and places. Args: a Run or Replay; time [s]. Returns: JSON."""
    return json.dumps([each for each in source.events() if each["time"] <= time + 1e-9])


class Names:
    """Names for the parts of a file, each used once. Args: taken: names that are not free."""

    def __init__(self, *taken):
        self.taken = set(taken)

    def unique(self, wanted):
        """Make a name of letters, digits and underscores, with a number if it is taken. Args: wanted: a text."""
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII) or "_"
        name = f"_{name}" if name[0].isdigit() else name
        number, unique = 1, name
        while unique in self.taken:
            number += 1
            unique = f"{name}_{number}"
        self.taken.add(unique)
        return unique


def name_of(scene, key, part):
    """A name for a part, not yet unique: "Cloth" and "Cloth_back" for a ClothVisual, "Shape" in a body, "Ground".

    Args: a Scene; key, part: see `pieces_of`.
    """
    if isinstance(part, Placed) and part.body >= 0:
        return "Shape"
    visual = scene.visuals[key[0]]
    name = "Ground" if hasattr(visual, "body_at") else type(visual).__name__.removesuffix("Visual")
    return f"{name}_{BACK}" if key[-1] == BACK else name
