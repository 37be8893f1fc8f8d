"""What is drawn of the links of a URDF file: their <visual> elements, with the colours of materials and of mesh files.

Source: ROS, URDF XML specification, link.
"""

import numpy as np

from pbd.build import Mesh
from pbd.build.mesh import welded
from pbd.core.messages import clipped
from pbd.core.shapes import Box, Capsule, Cylinder, Sphere
from rigid.build.mjcf_visuals import missing_visuals
from rigid.build.packages import find_file
from rigid.rotation import from_axis_angle, multiply


def visuals_of(robot, path, packages):
    """Read the visuals of all links.

    Args: robot: the root element; path: of the file; packages: see load_urdf.

    Returns: {name of a link: list of arguments of Model.add_visual, in the link's frame}, without links that have none
    or whose meshes cannot be read; words for the warning, a list of strings.
    """
    with_colour = [each for each in robot.iter("material") if each.get("name") and each.find("color") is not None]
    materials = {each.get("name"): each for each in with_colour}
    directory, meshes, found, missing = mesh_directory(robot, path), {}, {}, {}
    for link in robot.iter("link"):
        try:
            visuals = link.findall("visual")
            drawn = [part for each in visuals for part in arguments_of(each, materials, directory, packages, meshes)]
        except Exception as error:  # whatever the reader of a format raises: the robot moves without pictures, too
            missing[link.get("name", "")] = f"{type(error).__name__}: {clipped(error, 80)}"
            continue
        if drawn:
            found[link.get("name")] = drawn
    return found, [f"{missing_visuals(len(missing), missing)} ({next(iter(missing.values()))})"] if missing else []


def mesh_directory(robot, path):
    """The directory of relative paths of meshes. Args: robot: the root element; path: of the file."""
    compiler = robot.find("mujoco/compiler")
    return path.parent if compiler is None else path.parent / compiler.get("meshdir", "")


def colour_of(material):
    """Colour of a <material> (3,), or None. Args: the element, or None."""
    colour = None if material is None else material.find("color")
    return None if colour is None else np.clip(numbers(colour, "rgba", 4)[:3], 0.0, 1.0)


def numbers(element, key, count, default=None):
    """Numbers of an attribute (count,). Raises: ValueError for other text."""
    values = np.array([float(word) for word in element.get(key, default or "").split()])
    if len(values) != count:
        raise ValueError(f"{key} is {clipped(element.get(key), 40)!r}: expected {count} numbers")
    return values


def arguments_of(visual, materials, directory, packages, meshes):
    """Parts of a <visual>: a list of arguments of Model.add_visual.

    Args: visual; materials: {name: element} of those with a colour; directory, packages: see find_file; meshes:
    {address and scale: parts} of files that were read.
    """
    origin, material, geometry = (visual.find(name) for name in ("origin", "material", "geometry"))
    position, rotation = np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0))
    if origin is not None:
        position = numbers(origin, "xyz", 3, "0 0 0")
        for axis, angle in zip(np.eye(3), numbers(origin, "rpy", 3, "0 0 0")):  # about fixed axes
            rotation = multiply(from_axis_angle(axis, angle), rotation)
    given = colour_of(material)
    if given is None and material is not None:
        given = colour_of(materials.get(material.get("name")))
    return [
        {"shape": shape, "position": position, "rotation": rotation, "colour": colour if given is None else given}
        for element in ([] if geometry is None else geometry)
        for shape, colour in shapes_of(element, directory, packages, meshes)
    ]  # fmt: skip


def shapes_of(element, directory, packages, meshes):
    """Shapes or meshes of an element of a <geometry>, each with the colour in its file or None."""
    if element.tag == "box":
        return [(Box(numbers(element, "size", 3)), None)]
    if element.tag == "sphere":
        return [(Sphere(float(element.get("radius"))), None)]
    if element.tag in ("cylinder", "capsule"):
        kind = Cylinder if element.tag == "cylinder" else Capsule
        return [(kind(float(element.get("radius")), float(element.get("length"))), None)]
    if element.tag != "mesh":
        return []
    address, scale = element.get("filename", ""), numbers(element, "scale", 3, "1 1 1")
    key = address, tuple(scale)
    if key not in meshes:
        meshes[key] = coloured_meshes(find_file(address, directory, packages), scale)
    return meshes[key]


def coloured_meshes(file, scale):
    """Meshes of a file, one for each colour: list of (Mesh, colour or None). Args: file; scale: factors (3,)."""
    import trimesh  # slow, and only needed for meshes

    found = {}
    for part in trimesh.load_scene(file).dump():
        if isinstance(part, trimesh.Trimesh) and len(part.faces):
            found.setdefault(colour_in_file(part), []).append(part)
    if not found:
        raise ValueError(f"{clipped(file, 80)}: expected a mesh, it has no triangles")
    joined = {colour: trimesh.util.concatenate(parts) for colour, parts in found.items()}
    return [(welded(Mesh(each.vertices * scale, each.faces)), colour) for colour, each in joined.items()]


def colour_in_file(part):
    """Colour that a file gives a trimesh.Trimesh (3,), or None. Textures and colours of vertices are none."""
    material = getattr(part.visual, "material", None) if part.visual.defined else None
    if material is None or getattr(material, "image", None) is not None:
        return None
    return tuple(np.asarray(material.main_color[:3], float) / 255)
