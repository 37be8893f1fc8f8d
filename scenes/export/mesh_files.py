"""Everything that a scene draws, as triangle meshes in .obj and .ply files (trimesh): a moment, or one file a frame."""

import numpy as np

from pbd.core.files import replacing
from pbd.core.rotation import rotate
from scenes.export.pieces import Names, Placed, name_of, pieces_of
from scenes.render.film import remember
from scenes.render.video import number_name
from scenes.visuals import Spheres

DIGITS = 9  # decimals of a coordinate in metres; text has no single precision of its own


class MomentWriter:
    """Writes the last frame. Args: path: where to write; source: a Run or Replay."""

    def __init__(self, path, source):
        self.path, self.scene, self.last = path, source.scene, None

    @property
    def frames(self):
        """Number of frames that the file will have."""
        return int(self.last is not None)

    def add(self, frame):
        """Replace the frame."""
        remember(self.scene, frame)
        self.last = frame

    def finish(self):
        """Write the file. Raises: ValueError if the frame cannot be drawn."""
        write_meshes(self.scene, self.last, self.path)


class SequenceWriter:
    """Writes a file for each frame, numbered from 1. Args: path: see `is_sequence`; source: a Run or Replay.

    Attributes: frames: how many files there are.
    """

    def __init__(self, path, source):
        self.path, self.scene, self.frames = path, source.scene, 0
        path.parent.mkdir(exist_ok=True)

    def add(self, frame):
        """Write a file."""
        with replacing(self.path.with_name(number_name(self.path.name, self.frames + 1))) as partial:
            write_meshes(self.scene, frame, partial)
        self.frames += 1

    def finish(self):
        """Nothing is left to do: each file is complete."""


def write_meshes(scene, frame, path):
    """Write a frame. Args: a Scene; a Frame; path: of an .obj file, with an object for each part, or a .ply file.

    Raises: ValueError if there is nothing to write, or the frame cannot be drawn.
    """
    import trimesh  # slow to import

    names, made = Names(), {}
    for key, part in pieces_of(scene, frame).items():
        in_body = isinstance(part, Placed) and part.body >= 0
        name = names.unique(scene.model.bodies[part.body].name or "body" if in_body else name_of(scene, key, part))
        vertices, triangles, colours = triangles_of(part, frame)
        made[name] = trimesh.Trimesh(vertices, triangles, vertex_colors=np.rint(255 * colours), process=False)
    if not made:
        raise ValueError(f"scene {scene.name} draws nothing: expected surfaces")
    if path.suffix.lower() == ".ply":
        data = trimesh.util.concatenate(list(made.values())).export(file_type="ply")
    else:
        data = trimesh.Scene(made).export(file_type="obj", digits=DIGITS, header="verletlab").encode()
    path.write_bytes(data)


def triangles_of(part, frame):
    """Triangles of a part in the world. Args: a part, see `pieces_of`; a Frame.

    Returns: vertices (n, 3) [m]; triangles (m, 3); colours of the vertices (n, 3) sRGB.
    """
    if isinstance(part, Spheres):
        unit, count = part.surface, len(part.positions)
        vertices = part.positions[:, None] + part.scales[:, None] * unit.vertices
        triangles = unit.triangles + len(unit.vertices) * np.arange(count)[:, None, None]
        colours = np.broadcast_to(unit.colour if part.colours is None else part.colours, (count, 3))
        return vertices.reshape(-1, 3), triangles.reshape(-1, 3), np.repeat(colours, len(unit.vertices), axis=0)
    if not isinstance(part, Placed):
        return part.vertices, part.triangles, np.tile(part.colour, (len(part.vertices), 1))
    vertices = part.vertices()
    if part.body >= 0:
        pose = frame.body_poses[part.body]
        vertices = pose[:3] + rotate(pose[3:], vertices)
    return vertices, part.surface.triangles, np.tile(part.colour, (len(vertices), 1))
