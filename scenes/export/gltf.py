"""Scenes as binary glTF 2.0 (.glb), for web pages, game engines and others (pygltflib).

    Scene                   turns z up into glTF's y up; in metres
        Bodies, NAME        a node with the pose of each body of the model, animated; its shapes are meshes below it
        Cloth, Stick, ...   a mesh, with a morph target for each frame to which it has moved
        Cloth_back          a mesh a little behind the cloth, for the colour of its back
        Particle, ...       a node for each sphere
        Floor, Camera, Sun

There is one animation, "run", which interpolates linearly between the frames. "events" in the extras of the asset lists
as JSON what tore and broke.

Limitations: morph targets hold all frames at once, so surfaces that
deform have at most MOST_FRAMES frames. They may lose triangles, as torn cloth does, but get no new ones. Spheres keep
their radii.

Source: Khronos, glTF 2.0 specification, and its extension KHR_lights_punctual.
"""

import math

import numpy as np

from rigid.rotation import from_matrix
from scenes.export.gltf_document import Document
from scenes.export.pieces import Names, Placed, events_of, floor_of, name_of, pieces_of
from scenes.render.video import TooLong
from scenes.visuals import Spheres, Surface
from scenes.visuals.framing import CameraTrack

# three.js keeps morph targets in the layers of a texture. WebGL 2 has 256 of them on every device.
MOST_FRAMES = 240
LIMIT = 2**30  # largest size of all frames of surfaces that deform, which browsers hold in memory [bytes]
UPWARDS = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)  # turns z to y


class GltfWriter:
    """Collects frames of a scene, and writes them to a .glb file.

    Args: path: where to write; source: a Run or Replay.

    Attributes: frames: how many there are.
    """

    def __init__(self, path, source):
        self.path, self.scene, self.source = path, source.scene, source
        self.times, self.bodies, self.track = [], [], CameraTrack(source.scene)
        self.floor, self.parts, self.values, self.moving, self.left = None, {}, {}, set(), {}

    @property
    def frames(self):
        """Number of frames."""
        return len(self.times)

    def add(self, frame):
        """Append a frame. Raises: ValueError if glTF cannot keep it; TooLong if there will be too many."""
        drawn = pieces_of(self.scene, frame, backs=True)
        for key, part in drawn.items():
            self.check(key, part, frame.time)
        if not self.frames:
            self.floor = floor_of(self.scene, frame)
        for key, part in drawn.items():
            self.parts.setdefault(key, part)
            self.values.setdefault(key, {})[self.frames] = self.value_of(key, part)
            if isinstance(part, Surface):
                left = among(self.parts[key].triangles, part.triangles)
                self.left[key] = self.left.get(key, self.frames) + left  # torn triangles do not come back
        self.times.append(frame.time)
        self.bodies.append(np.array(frame.body_poses))
        self.track.add(frame)

    def check(self, key, part, time):
        """Check that a part fits into the file. Args: its key; the part; time [s]. Raises: ValueError, TooLong."""
        first = self.parts.get(key)
        if not isinstance(first, Surface):
            return
        if len(part.vertices) != len(first.vertices) or not among(part.triangles, first.triangles).all():
            raise ValueError(f"at {time:.6g} s triangles of a surface change, which glTF cannot keep: expected .usdc")
        if key not in self.moving and not np.array_equal(part.vertices, first.vertices):
            self.moving.add(key)
            count = self.source.count
            size = 24 * count * sum(len(self.parts[each].vertices) for each in self.moving)
            if count > MOST_FRAMES or size > LIMIT:
                raise TooLong(
                    f"{count} frames of surfaces that deform, {size / 1e6:.0f} MB: expected at most {MOST_FRAMES} "
                    f"frames, {LIMIT / 1e6:.0f} MB, in .glb; reduce --fps or the duration, or write .usdc"
                )

    def value_of(self, key, part):
        """What a part has at one instant: vertices (n, 3), centres (k, 3) or a pose (7,). Args: its key; the part."""
        if isinstance(part, Placed):
            return np.concatenate([part.position, part.rotation])
        value = np.asarray(part.positions if isinstance(part, Spheres) else part.vertices, np.float32)
        before = self.values.get(key, {}).get(self.frames - 1)
        return before if before is not None and np.array_equal(value, before) else value

    def finish(self):
        """Write the file."""
        document = Document(np.subtract(self.times, self.times[0]), {"events": events_of(self.source, self.times[-1])})
        names = Names("Scene", "Bodies", "Shape", "Floor", "Camera", "Sun")
        root, bodies = document.add_node("Scene", pose=(0, 0, 0, *UPWARDS)), []
        if self.scene.model is not None:
            group = document.add_node("Bodies", root)
            for body, poses in zip(self.scene.model.bodies, np.swapaxes(self.bodies, 0, 1)):
                bodies.append(document.add_node(names.unique(body.name or "body"), group))
                document.move(bodies[-1], poses)
        if self.floor is not None:
            document.add_node("Floor", root, document.add_mesh(self.floor))
        for key, part in self.parts.items():
            name, values = name_of(self.scene, key, part), self.values[key]
            if isinstance(part, Placed) and part.body >= 0:
                node = add_placed(document, name, bodies[part.body], part, filled(values, 1))
            elif isinstance(part, Surface):
                node = add_surface(document, names, name, root, part, filled(values, self.frames), self.left[key])
            else:
                add = add_placed if isinstance(part, Placed) else add_spheres
                node = add(document, names.unique(name), root, part, filled(values, self.frames))
            document.show(node, [number in values for number in range(self.frames)])
        cameras = self.track.cameras()
        document.add_camera(root, list(map(pose_of_camera, cameras)), cameras[0].field_of_view)
        document.add_sun(root)
        self.path.write_bytes(document.to_bytes())


def add_placed(document, name, parent, part, poses):
    """Add a node with a surface and a pose. Args: document; name; parent; part: a Placed; poses: a list of (7,)."""
    node = document.add_node(name, parent, document.add_mesh(part.surface, part.colour), scale=part.scale)
    document.move(node, poses)
    return node


def add_spheres(document, name, parent, part, centres):
    """Add a node for each sphere. Args: document; name; parent; part: Spheres; centres: a list of (k, 3) [m]."""
    group = document.add_node(name, parent)
    for number, (radius, track) in enumerate(zip(part.radii, np.swapaxes(centres, 0, 1))):
        mesh = document.add_mesh(part.surface, None if part.colours is None else part.colours[number])
        document.move(document.add_node(f"{name}_{number}", group, mesh, scale=np.full(3, radius)), track)
    return group


def add_surface(document, names, name, parent, part, vertices, left):
    """Add a surface that deforms and tears.

    Triangles that are torn at one frame make a mesh of their own, which is hidden from then on. All meshes have the
    same vertices.

    Args: document; names; name; parent; part: a Surface; vertices: a list of (n, 3) [m]; left: the number of the frame
        from which on each triangle is torn (m,).

    Returns: index of a node above all of them.
    """
    shapes, number_of = [], {}  # a surface at rest has the same array at many frames
    for each in vertices:
        if id(each) not in number_of:
            number_of[id(each)] = len(shapes) - 1
            shapes.append(each)
    ends = np.unique(left)[::-1] if len(left) else np.zeros(0, int)
    group = document.add_node(names.unique(name), parent) if len(ends) > 1 else parent
    node = group
    for end, mesh in zip(ends, document.add_shapes(part, shapes, [part.triangles[left == end] for end in ends])):
        node = document.add_node(names.unique(name if len(ends) == 1 else f"{name}_until_{end}"), group, mesh)
        document.deform(node, [number_of[id(each)] for each in vertices], len(shapes) - 1)
        if end < ends[0]:
            document.show(node, np.arange(len(vertices)) < end)
    return node if len(ends) == 1 else group


def among(triangles, others):
    """Mask (m,) of the triangles (m, 3) that are among others (k, 3)."""
    if triangles is others or np.array_equal(triangles, others):
        return np.ones(len(triangles), bool)
    rows = [np.ascontiguousarray(each, np.int32).view("i4,i4,i4").ravel() for each in (triangles, others)]
    return np.isin(*rows)


def filled(values, count):
    """A list of values for all frames, from {frame: value}: those without one have the one before, or the first."""
    found, last = [], values[min(values)]
    for number in range(count):
        last = values.get(number, last)
        found.append(last)
    return found


def pose_of_camera(camera):
    """Pose (7,) of a Camera whose node looks along -z, with y upwards."""
    right, down, forward = camera.axes
    return np.concatenate([camera.position, from_matrix(np.stack([right, -down, -forward], axis=1))])
