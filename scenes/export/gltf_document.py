"""A glTF document in memory: meshes, nodes and one animation, with all arrays in one buffer (pygltflib)."""

import math

import numpy as np
import pygltflib as gltf

from pbd.core.rotation import rotation_between
from scenes.render.mesh import vertex_normals
from scenes.render.renderer import SUN_DIRECTION
from scenes.render.shade import SUN_LIGHT
from scenes.visuals.colours import linear_light
from scenes.visuals.framing import ASPECT

ROUGHNESS = 0.6  # of all surfaces
LIGHTS = "KHR_lights_punctual"  # extension for lights
COLUMNS = {1: gltf.SCALAR, 3: gltf.VEC3, 4: gltf.VEC4}


class Document:
    """A document with one scene. Args: times: of the frames (frames,) [s]; extras: plain values about all of it."""

    def __init__(self, times, extras):
        self.json = gltf.GLTF2(asset=gltf.Asset(version="2.0", generator="verletlab", extras=extras), scene=0)
        self.json.scenes = [gltf.Scene(nodes=[0])]
        self.animation = gltf.Animation(name="run")
        self.chunks, self.size = [], 0
        self.times, self.time_accessor, self.materials, self.meshes = times, None, {}, {}

    def to_bytes(self):
        """The contents of a .glb file."""
        if self.animation.channels:
            self.json.animations = [self.animation]
        self.json.buffers = [gltf.Buffer(byteLength=self.size)]
        self.json.set_binary_blob(b"".join(self.chunks))
        return b"".join(self.json.save_to_bytes())

    # Nodes ------------------------------------------------------------------------------------------------------------

    def add_node(self, name, parent=None, mesh=None, pose=None, scale=None, **more):
        """Add a node.

        Args: name; parent: index of a node, None for the root; mesh: index; pose: (7,); scale: (3,); more: of a Node.

        Returns: its index.
        """
        node = gltf.Node(name=name, mesh=mesh, scale=None if scale is None else numbers(scale), **more)
        self.json.nodes.append(node)
        index = len(self.json.nodes) - 1
        if parent is not None:
            self.json.nodes[parent].children.append(index)
        if mesh is not None and not self.json.meshes[mesh].name:
            self.json.meshes[mesh].name = name
        if pose is not None:
            self.move(index, [pose])
        return index

    def move(self, node, track):
        """Give a node positions (frames, 3), or poses (frames, 7). Args: node: its index; track."""
        track = np.asarray(track, float)
        self.json.nodes[node].translation = numbers(track[0, :3])
        self.animate(node, "translation", track[:, :3])
        if track.shape[1] == 7:
            # glTF writes (x, y, z, w), and takes no number above 1, not even by round-off.
            rotations = continuous(track[:, [4, 5, 6, 3]]).clip(-1, 1)
            self.json.nodes[node].rotation = numbers(rotations[0])
            self.animate(node, "rotation", rotations)

    def show(self, node, shown):
        """Hide a node at frames: its scale is then zero. Args: node: index; shown: a list of bool."""
        if not all(shown):
            scale = self.json.nodes[node].scale or [1.0, 1.0, 1.0]
            self.animate(node, "scale", np.multiply.outer(shown, scale), gltf.ANIM_STEP)

    def deform(self, node, numbers_of_shapes, count):
        """Give the mesh of a node a shape at each frame.

        Args: node: index; numbers_of_shapes: of morph targets, -1 for the mesh itself; count: of the morph targets.
        """
        if count:
            weights = np.equal.outer(numbers_of_shapes, np.arange(count))
            self.animate(node, "weights", weights.reshape(-1, 1))

    def animate(self, node, path, values, interpolation=gltf.ANIM_LINEAR):
        """Animate a property of a node, if it changes. Args: node: index; path: the property; values: (n, columns)."""
        if len(self.times) < 2 or (values == values[0]).all():
            return
        if self.time_accessor is None:
            self.time_accessor = self.add_array(self.times[:, None], bounds=True)
        sampler = gltf.AnimationSampler(
            input=self.time_accessor, output=self.add_array(values), interpolation=interpolation
        )
        self.animation.samplers.append(sampler)
        target = gltf.AnimationChannelTarget(node=node, path=path)
        self.animation.channels.append(gltf.AnimationChannel(sampler=len(self.animation.samplers) - 1, target=target))

    def add_camera(self, parent, poses, field_of_view):
        """Add the camera. Args: parent: index of a node; poses: (frames, 7); field_of_view: vertical [degrees]."""
        lens = gltf.Perspective(yfov=math.radians(field_of_view), aspectRatio=ASPECT, znear=0.01)
        self.json.cameras = [gltf.Camera(type="perspective", perspective=lens)]
        self.move(self.add_node("Camera", parent, camera=0), poses)

    def add_sun(self, parent):
        """Add the sun of pictures. Args: parent: index of a node."""
        # Three.js and others: a white surface that faces the light reflects its colour if the illuminance is π.
        sun = {"type": "directional", "color": numbers(SUN_LIGHT), "intensity": math.pi}
        self.json.extensionsUsed = [LIGHTS]
        self.json.extensions = {LIGHTS: {"lights": [sun]}}
        rotation = rotation_between((0, 0, 1), SUN_DIRECTION)  # light goes along -z
        self.add_node("Sun", parent, pose=(0, 0, 0, *rotation), extensions={LIGHTS: {"light": 0}})

    # Meshes -----------------------------------------------------------------------------------------------------------

    def add_mesh(self, surface, colour=None):
        """Add a surface that keeps its form. Args: surface; colour: in place of its own. Returns: index of the mesh."""
        colour = tuple(surface.colour if colour is None else colour)
        key = id(surface), colour
        if key not in self.meshes:
            self.meshes[key] = surface, *self.add_shapes(surface, [surface.vertices], [surface.triangles], colour)
        return self.meshes[key][1]

    def add_shapes(self, surface, shapes, groups, colour=None):
        """Add meshes with morph targets. They share their vertices.

        Args: surface; shapes: its vertices in each form (n, 3); groups: triangles (m, 3) of each mesh; colour.

        Returns: a list of the indices of the meshes. Their form is the first of `shapes`; others are morph targets.
        """
        forms = [np.asarray(vertices, np.float32) for vertices in shapes]
        # Without normals, glTF's triangles are drawn flat.
        normals = [unit_normals(vertices, surface.triangles) for vertices in forms] if surface.smooth else []
        attributes, targets = self.add_vertices(forms[0], *normals[:1]), []
        for number, form in enumerate(forms[1:], 1):
            differences = [form - forms[0], *(each - normals[0] for each in normals[number : number + 1])]
            targets.append(self.add_vertices(*differences))
        material = self.material(surface.colour if colour is None else colour, not surface.solid)
        for triangles in groups:
            indices = self.add_array(triangles.reshape(-1, 1), gltf.ELEMENT_ARRAY_BUFFER)
            primitive = gltf.Primitive(attributes=attributes, indices=indices, material=material, targets=targets)
            self.json.meshes.append(gltf.Mesh(primitives=[primitive], weights=[0.0] * len(targets)))
        return list(range(len(self.json.meshes) - len(groups), len(self.json.meshes)))

    def add_vertices(self, positions, normals=None):
        """Add positions (n, 3), and normals (n, 3) or None. Returns: Attributes of pygltflib."""
        found = gltf.Attributes(POSITION=self.add_array(positions, gltf.ARRAY_BUFFER, bounds=True))
        if normals is not None:
            found.NORMAL = self.add_array(normals, gltf.ARRAY_BUFFER)
        return found

    def material(self, colour, both_sides):
        """Index of the material of a colour, made once. Args: colour: sRGB; both_sides: whether both are drawn."""
        key = tuple(colour), both_sides
        if key not in self.materials:
            surface = gltf.PbrMetallicRoughness(
                baseColorFactor=[*numbers(linear_light(colour)), 1.0], metallicFactor=0.0, roughnessFactor=ROUGHNESS
            )
            self.materials[key] = len(self.json.materials)
            material = gltf.Material(pbrMetallicRoughness=surface, doubleSided=both_sides, alphaMode=None)
            self.json.materials.append(material)
        return self.materials[key]

    def add_array(self, array, target=None, bounds=False):
        """Add an array to the buffer.

        Args: array: (n, columns), numbers or indices; target: what it is for, see pygltflib; bounds: whether to note
            the least and the greatest value of each column, which the specification wants for positions and times.

        Returns: index of the accessor.
        """
        whole = array.dtype.kind in "iu"
        array = np.ascontiguousarray(array, np.uint32 if whole else np.float32)
        self.json.bufferViews.append(
            gltf.BufferView(buffer=0, byteOffset=self.size, byteLength=array.nbytes, target=target)
        )
        self.chunks.append(array.tobytes())
        self.size += array.nbytes
        accessor = gltf.Accessor(
            bufferView=len(self.json.bufferViews) - 1, componentType=gltf.UNSIGNED_INT if whole else gltf.FLOAT,
            count=len(array), type=COLUMNS[array.shape[1]],
        )  # fmt: skip
        if bounds:
            accessor.min, accessor.max = numbers(array.min(axis=0)), numbers(array.max(axis=0))
        self.json.accessors.append(accessor)
        return len(self.json.accessors) - 1


def numbers(array):
    """A list of floats, as JSON keeps them."""
    return [float(each) for each in array]


def unit_normals(vertices, triangles):
    """Normals of vertices (n, 3), also of those that no triangle has. Args: vertices (n, 3); triangles (m, 3)."""
    normals = vertex_normals(vertices, triangles)
    normals[~normals.any(axis=1)] = (0, 0, 1)
    return normals


def continuous(rotations):
    """Quaternions (n, 4) whose signs do not jump, so that the way between two is the shorter one."""
    turned = np.einsum("ij,ij->i", rotations[1:], rotations[:-1]) < 0
    signs = np.cumprod(np.append(1, np.where(turned, -1, 1)))
    return rotations * signs[:, None]
