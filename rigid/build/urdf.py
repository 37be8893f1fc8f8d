"""Models from URDF files. MuJoCo's own parser compiles the file; rigid/build/mjcf.py reads the compiled model.

    URDF                               Model
    link                               body; behind a fixed joint it is part of its parent
    revolute, continuous, prismatic    hinge, slider, with damping and friction of <dynamics>
    limit: effort, velocity            motor that holds the starting pose: max_effort, max_speed
    mimic                              gear
    collision                          shapes; meshes by their convex hull, or by convex parts
    visual, material                   what is drawn; textures are not
    transmission, gazebo and others    nothing, which a warning says

Source: ROS, URDF XML specification; MuJoCo documentation, Modeling, URDF extensions.
"""

import math
import re
from collections import Counter
from xml.etree import ElementTree
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from pbd.build.mesh import READERS, read_mesh
from pbd.core.extras import load_extra
from pbd.core.messages import clipped, listed, shown
from pbd.core.validate import boolean, file_path
from rigid.build.mjcf import LINK, add_compiled, check_options, parser_warnings
from rigid.build.mjcf_joints import FREE, HINGE, SLIDE
from rigid.build.mjcf_placing import checked_pose
from rigid.build.packages import find_file
from rigid.build.urdf_visuals import mesh_directory, visuals_of
from rigid.motor import Motor

READ = {  # elements of a robot, its links and its joints that are read, or that say only how it looks
    "robot": ("link", "joint", "material", "mujoco"),
    "link": ("inertial", "visual", "collision"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
}
LINE = "line of the file"  # an attribute that no file has
WORLD = "world"  # a root link of this name is the ground
LIGHTEST, LENGTH = 1e-3, 0.1  # of a moving link without mass: part of the whole mass, length of a rod [m]
LEAST = 1e-15  # mjMINVAL: mass and inertia of a moving body are larger


def load_urdf(
    path, model=None, *, name=None, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0), packages=None,
    floating=True, link_mass=LINK, decompose=False, visuals=True
):  # fmt: skip
    """Add the links and joints of a URDF file to a model.

    A joint with an effort limit gets a motor that holds the starting pose. `solver.set_motor(joint, position=)` moves
    it, at the velocity limit at most.

    Args:
        path: of the file.
        model: a rigid.Model; None for a new one with a gravity of 9.81 m/s².
        name: prefix of all names, followed by "/", to load a file more than once; None for none.
        position, rotation: of the file's origin, the frame of its root link, in the world (3,) [m], (w, x, y, z).
        packages: {name: directory} for addresses package://name/... of meshes; other packages are sought in
            ROS_PACKAGE_PATH, in AMENT_PREFIX_PATH, in the directories above the file, and beside it and them.
        floating: whether the root link is free; otherwise it is fixed to the ground, as is a link called "world".
        link_mass, decompose, visuals: see load_mjcf.

    Returns: the model. Joint positions are zero at those of the file, or at the nearest end of a joint's limits.

    Warns: UserWarning, once, with everything that is left out or approximated, and with the links whose mass is part of
    another.

    Raises: FileNotFoundError for a missing file, and for missing meshes and packages, with their names; ValueError for
    a file that is not a URDF, for packages that refer to one another in a cycle, and for what MuJoCo's parser rejects,
    with its message; ModuleNotFoundError if MuJoCo is not installed, or CoACD for decompose=True.

    Limitations: planar and floating joints become chains and free bodies. Textures are left out without a warning. A
    link whose visual meshes are missing or cannot be read is drawn by its collision shapes.
    """
    check_options(model, name=name, link_mass=link_mass, decompose=decompose, visuals=visuals)
    pose = checked_pose(position, rotation)
    packages = {} if packages is None else packages
    if not isinstance(packages, dict) or not all(isinstance(key, str) for key in packages):
        raise TypeError(f"packages are {shown(packages)}: expected a dict, {{name: directory}}")
    for key, directory in packages.items():
        if not isinstance(directory, str):  # an address such as package://other is no path
            file_path(f"packages[{key!r}]", directory, "a directory")
    load_extra("mujoco", "mjcf")
    path, floating = file_path("path", path, "a URDF file"), boolean("floating", floating)
    if not path.is_file():
        raise FileNotFoundError(f"no file {clipped(path)}: expected a URDF file")
    robot = parsed(path)
    drawn, missing = visuals_of(robot, path, packages) if visuals else ({}, [])
    assets = take_meshes(robot, path, packages)
    with parser_warnings() as ignored:
        spec = specification(robot, assets, floating, path)
        compiled, said = compiled_urdf(spec, path)
    part_from_base(compiled)
    keyframe = 0 if compiled.nkey else None
    notes = {"left out": [*without_counterpart(robot), *missing], "approximated": said, "MuJoCo's parser": ignored}
    return add_compiled(compiled, path, model, pose=pose, name=name, merge=False, link_mass=link_mass,
                        keyframe=keyframe, decompose=decompose, motors=motors_of(robot, compiled), notes=notes,
                        visuals={compiled.body(link).id: each for link, each in drawn.items()})  # fmt: skip


def parsed(path):
    """The root element of a URDF file. Raises: ValueError if it is none."""
    expected = f"{clipped(path, 50)}: expected a URDF file"
    try:
        robot = numbered_tree(path.read_bytes())
    except (ValueError, LookupError) as error:
        raise ValueError(f"{expected}, but it is not XML: {clipped(error)}") from None
    if any("xacro" in element.tag for element in robot.iter()):
        raise ValueError(f"{expected}, found macros of xacro: convert the file first, `xacro FILE > robot.urdf`")
    for element in robot.iter():  # namespaces say nothing
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if "}" in name]:
            del element.attrib[name]
    if robot.tag != "robot":
        hint = "; did you mean load_mjcf?" if robot.tag == "mujoco" else ""
        raise ValueError(f"{expected} with the root <robot>, found <{clipped(robot.tag, 40)}>{hint}")
    if robot.find("link") is None:
        raise ValueError(f"{expected} with links, found none")
    return robot


def numbered_tree(content):
    """The root element of an XML file. Its elements have the attribute LINE.

    Args: content: bytes. Raises: ValueError that says which line is wrong; LookupError for an unknown encoding.
    """
    text = content.lstrip()
    above = content[: len(content) - len(text)].count(b"\n")
    parser, builder = expat.ParserCreate(namespace_separator="}"), ElementTree.TreeBuilder()

    def start(tag, attributes):
        builder.start(tag, {**attributes, LINE: str(above + parser.CurrentLineNumber)})

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        reason = f"{expat.ErrorString(error.code)}: line {above + error.lineno}, column {error.offset}"
        raise ValueError(reason) from None
    return builder.close()


def text_of(element, lines=None):
    """XML of an element, in which each begins in its line of the file. Args: lines: texts of the lines so far."""
    lines = [""] if lines is None else lines
    attributes = dict(element.attrib)
    lines += [""] * (int(attributes.pop(LINE)) - len(lines))
    lines[-1] += f"<{element.tag}" + "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items()) + ">"
    for child in element:
        text_of(child, lines)
    lines[-1] += f"</{element.tag}>"
    return "\n".join(lines)


def take_meshes(robot, path, packages):
    """Replace the files of collision meshes by names of assets, and remove what is only visual.

    Returns: {name: bytes of an STL file}. Raises: see load_urdf.
    """
    for parent in [robot, *robot.iter("link")]:
        for element in [*parent.findall("visual"), *parent.findall("material")]:
            parent.remove(element)
    directory, compiler = mesh_directory(robot, path), robot.find("mujoco/compiler")
    if compiler is not None:
        for name in ("meshdir", "strippath"):
            compiler.attrib.pop(name, None)
    assets, known, missing = {}, {}, []
    for link in robot.iter("link"):
        for mesh in link.iter("mesh"):
            address = mesh.get("filename", "")
            try:
                file = known.get(address) or find_file(address, directory, packages)
            except FileNotFoundError as error:
                missing.append(f"{error} (link {link.get('name')!r})")
                continue
            if address not in known:
                known[address] = file
                assets[asset_name(known, address)] = stl_of(file)
            mesh.set("filename", asset_name(known, address))
    if missing:
        found = listed(dict.fromkeys(missing), 1000)
        raise FileNotFoundError(f"{clipped(path, 50)}: meshes are missing: {found}")
    return assets


def asset_name(known, address):
    """Name of the asset for the mesh of an address: files of two packages may have one name."""
    return f"mesh{list(known).index(address)}.stl"


def stl_of(file):
    """A mesh as the bytes of a binary STL file, the only kind of STL that MuJoCo reads. Args: file: of any format that
    `load_mesh` or trimesh reads."""
    import trimesh  # slow, and only needed for meshes

    try:
        if file.suffix.lower() in READERS:
            vertices, triangles, _ = read_mesh(file)
            mesh = trimesh.Trimesh(vertices, triangles, process=False)
        else:
            mesh = trimesh.load(file, force="mesh")
        if not len(mesh.faces):
            raise ValueError("it has no triangles")
        return mesh.export(file_type="stl")
    except Exception as error:  # whatever the reader of a format raises
        raise ValueError(f"{clipped(file, 80)}: expected a mesh: {clipped(error)}") from error


def specification(robot, assets, floating, path):
    """MuJoCo's MjSpec of a robot, with a free root, and with a keyframe for mimic joints that have an offset."""
    import mujoco

    try:
        spec = mujoco.MjSpec.from_string(text_of(robot), assets=assets)
    except ValueError as error:
        raise ValueError(parser_says(path, error)) from error
    spec.compiler.fusestatic = False
    for link in robot.iter("link"):
        if link.find("inertial") is None:  # then a link has no mass, whatever the size of its geometry
            for geom in spec.body(link.get("name")).geoms:
                geom.density = 0.0
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    roots = [link.get("name") for link in robot.iter("link") if link.get("name") not in children]
    if floating and roots != [WORLD]:
        spec.worldbody.first_body().add_freejoint()
    return spec


def parser_says(path, error):
    """Words for an error of MuJoCo's parser."""
    return f"{clipped(path, 50)}: expected a URDF file, but MuJoCo's parser says: {clipped(error)}"


def compiled_urdf(spec, path):
    """MuJoCo's mjModel, and what is approximated: a list of strings.

    Inertias that no body can have are replaced by their mean. Moving links without mass get a light one, LIGHTEST of
    the whole, and links without inertia that of a rod of LENGTH. Mimic joints with an offset begin at it, in a
    keyframe.
    """
    changed = {f"moving links without mass, now {LIGHTEST:g} of the whole": [],
               f"moving links without inertia, now that of a rod of {LENGTH:g} m": [],
               "inertias that no body can have, by their mean": []}  # fmt: skip
    while True:
        try:
            compiled = spec.compile()
            break
        except ValueError as error:
            if not mended(spec, error, path, *changed.values()):
                raise ValueError(parser_says(path, error)) from error
    said = [f"{what} ({', '.join(links)})" for what, links in changed.items() if links]
    qpos = mimic_positions(compiled)
    if qpos is not None:
        spec.add_key(name="start", qpos=qpos)
        compiled = spec.compile()
    return compiled, said


def mended(spec, error, path, light, thin, turned):
    """Whether the mass or inertia of the link that an error of the compiler names is changed now.

    Args: light, thin, turned: lists for names of links that got a mass, an inertia, and the mean of theirs.

    Raises: ValueError for a free root without mass, which would be the only one.
    """
    words = str(error)
    found = re.search(r"Element name '(.*?)'", words)
    body = spec.body(found.group(1)) if found else None
    if body is None:
        return False
    bad, small = "positive eigenvalues" in words or "balanceinertia" in words, "larger than mjMINVAL" in words
    given = np.nan_to_num([*body.fullinertia, *body.inertia])
    mean = given[:3].mean()
    if bad and mean > LEAST:
        turned.append(body.name)
    elif small and body.mass <= LEAST:
        if body.joints and body.joints[0].type == FREE:
            raise ValueError(
                f"{clipped(path, 50)}: the root link {clipped(body.name, 40)!r} has no mass: expected an <inertial>, "
                "or floating=False for a robot that is fixed to the ground"
            )
        body.mass = LIGHTEST * (sum(each.mass for each in spec.bodies if each.mass > 0) or 1.0)
        light.append(body.name)
        if np.abs(given).max() > LEAST:
            return True
        mean = body.mass * LENGTH**2 / 12
    elif (bad or small) and body.name not in thin:
        mean = body.mass * LENGTH**2 / 12
        thin.append(body.name)
    else:
        return False
    body.fullinertia, body.inertia, body.explicitinertial = [math.nan] * 6, [mean] * 3, True
    return True


def mimic_positions(compiled):
    """Joint positions at which mimic joints have their offsets; None if all offsets are zero."""
    m = compiled
    if not m.neq or not m.eq_data[:, 0].any():
        return None
    qpos = m.qpos0.copy()
    for _ in range(m.neq):  # a mimic joint may follow another
        for k in range(m.neq):
            follower, leader = m.jnt_qposadr[m.eq_obj1id[k]], m.jnt_qposadr[m.eq_obj2id[k]]
            qpos[follower] = m.eq_data[k, 0] + m.eq_data[k, 1] * qpos[leader]
    return qpos


def part_from_base(compiled):
    """Let links not collide with a base that is fixed to the ground and carries them, but with all else.

    Links that joints connect never collide, but the base is a part of the ground, as a floor is. In MuJoCo two geoms
    collide if the contype of one shares a bit with the conaffinity of the other.
    """
    m = compiled
    on_base = m.body_weldid[m.body_parentid[m.body_weldid]] == 0
    for geom, body in enumerate(m.geom_bodyid):
        if m.body_weldid[body] == 0:
            m.geom_contype[geom], m.geom_conaffinity[geom] = 2, 1
        elif on_base[body]:
            m.geom_contype[geom], m.geom_conaffinity[geom] = 4, 1 | 4


def without_counterpart(robot):
    """Words for what a robot has and a Model has not, a list of strings."""
    others = Counter(part.tag for of in (robot, *robot.findall("link"), *robot.findall("joint")) for part in of
                     if part.tag not in READ[of.tag])  # fmt: skip
    fast = [joint.get("name", "") for joint in robot.findall("joint") if joint.find("mimic") is None
            and number_of(joint, "velocity") > 0 >= number_of(joint, "effort")]  # fmt: skip
    found = [f"{tag} ({count})" for tag, count in sorted(others.items())]
    return found + ([f"velocity limits of joints without effort limits ({', '.join(fast)})"] if fast else [])


def number_of(joint, key):
    """A number of the <limit> of a joint, zero if it has none."""
    limit = joint.find("limit")
    return 0.0 if limit is None else float(limit.get(key, 0.0))


def motors_of(robot, compiled):
    """{joint of the compiled model: Motor} of joints with effort limits that mimic no other."""
    found, names = {}, {compiled.joint(j).name: j for j in range(compiled.njnt)}
    for joint in robot.iter("joint"):
        j, effort, velocity = names.get(joint.get("name")), number_of(joint, "effort"), number_of(joint, "velocity")
        if j is None or joint.find("mimic") is not None or compiled.jnt_type[j] not in (SLIDE, HINGE):
            continue
        if effort > 0:
            found[j] = Motor(position=0.0, max_effort=effort, max_speed=velocity if velocity > 0 else math.inf)
    return found


