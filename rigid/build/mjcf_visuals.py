"""What is drawn of the bodies of a compiled MuJoCo model.

MuJoCo shows geoms of the groups 0 to 2. Robots have their visual geoms there, which collide with nothing, and those for
contacts in group 3. A body without geoms to show is drawn by its shapes.

Source: MuJoCo documentation, XML reference, `group` of a geom; Visualization.
"""

from pathlib import Path

import numpy as np

from pbd.build import Mesh
from pbd.core.messages import clipped
from pbd.core.shapes import Box, Capsule, Cylinder, Sphere
from rigid.build.mjcf_shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, SPHERE, mesh_of
from rigid.rotation import multiply, rotate

LAST_GROUP = 2  # that is shown
GREY = (0.5, 0.5, 0.5, 1.0)  # of geoms that give no colour


def geom_visuals(compiled):
    """Visuals of all geoms that are shown: {body: list of arguments of Model.add_visual, in the body's frame}."""
    m, found, meshes = compiled, {}, {}
    for geom in np.flatnonzero(m.geom_group <= LAST_GROUP):
        shape, (*colour, alpha) = visual_shape(m, geom, meshes), rgba_of(m, geom)
        if shape is not None and alpha > 0:
            found.setdefault(int(m.geom_bodyid[geom]), []).append({
                "shape": shape, "position": m.geom_pos[geom].copy(), "rotation": m.geom_quat[geom].copy(),
                "colour": None if (*colour, alpha) == GREY else colour,
            })  # fmt: skip
    return found


def add_visuals(reader):
    """Add the visuals of all bodies to the Model. Args: reader: a rigid.build.mjcf.Reader."""
    for body, visuals in reader.visuals.items():
        place, turn = reader.data.xpos[body], reader.data.xquat[body]
        for given in visuals:
            position, rotation = place + rotate(turn, given["position"]), multiply(turn, given["rotation"])
            reader.model.add_visual(reader.index_of(body), **{**given, "position": position, "rotation": rotation})


def rgba_of(compiled, geom):
    """Colour of a geom (4,): its own, unless that is the default and it has a material."""
    own, material = tuple(compiled.geom_rgba[geom].tolist()), compiled.geom_matid[geom]
    return tuple(compiled.mat_rgba[material].tolist()) if own == GREY and material >= 0 else own


def visual_shape(compiled, geom, meshes):
    """A geom as a shape or Mesh in its own frame; None for a type that is not drawn. Args: meshes: {index: Mesh}."""
    kind, size = compiled.geom_type[geom], compiled.geom_size[geom].copy()
    if kind == SPHERE:
        return Sphere(size[0])
    if kind == CAPSULE:
        return Capsule(size[0], 2 * size[1])
    if kind == CYLINDER:
        return Cylinder(size[0], 2 * size[1])
    if kind == BOX:
        return Box(2 * size)
    if kind == ELLIPSOID:
        import trimesh  # slow, and rarely needed

        ball = trimesh.creation.icosphere(subdivisions=3)
        return Mesh(size * ball.vertices, ball.faces)
    if kind == MESH:
        mesh = int(compiled.geom_dataid[geom])
        if mesh not in meshes:
            meshes[mesh] = Mesh(*mesh_of(compiled, geom))
        return meshes[mesh]
    return None


def without_missing_meshes(path):
    """Compile an MJCF file without visual geoms whose mesh files are missing.

    Args: path: of a file that MuJoCo's parser rejects.

    Returns: an mjModel, and words for the warning; None if that is not the reason, or not the only one, or if a missing
    mesh would collide or give its body mass.
    """
    import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path))
        folder = Path(path).parent / (spec.meshdir or "")
        meshes = [mesh for mesh in spec.meshes if mesh.file and not (folder / mesh.file).is_file()]
        names = {mesh.name or Path(mesh.file).stem for mesh in meshes}
        geoms = [geom for geom in spec.geoms if geom.meshname in names]
        if not geoms or any(geom.contype or geom.conaffinity or has_mass(spec, geom) for geom in geoms):
            return None
        bodies = sorted({geom.parent.name or "world" for geom in geoms})
        for part in (*geoms, *meshes):
            spec.delete(part)
        return spec.compile(), missing_visuals(len(meshes), bodies)
    except ValueError:
        return None


def has_mass(spec, geom):
    """Whether the mass of a geom counts for its body. Args: an MjSpec; one of its geoms."""
    body, (lowest, highest) = geom.parent, spec.compiler.inertiagrouprange
    if body.name == "world" or (body.explicitinertial and spec.compiler.inertiafromgeom != 1):  # 1: always
        return False
    return lowest <= geom.group <= highest and (geom.density if np.isnan(geom.mass) else geom.mass) > 0


def missing_visuals(count, bodies):
    """Words for visual meshes that are missing. Args: how many; bodies: that have them."""
    return f"visual meshes that cannot be read ({count}), of {clipped(', '.join(bodies), 100)}: their shapes are drawn"
