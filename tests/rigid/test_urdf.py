"""URDF files: the Model agrees with MuJoCo's compiled model; packages are found; errors name what is missing."""

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from described import refusal
from public_urdf import REPLACED, agreement, public_robots
from robots import inertia_error, loaded, moved_poses, pose_error, random_positions

import rigid
from rigid.build import load_urdf

mujoco = pytest.importorskip("mujoco")


def link(name, mass=1.0, origin="0 0 0.1", rpy="0.1 0.2 0.3", shape='<box size="0.1 0.2 0.3"/>'):
    tensor = {"ixx": 0.02, "iyy": 0.03, "izz": 0.025, "ixy": 0.001, "ixz": 0.002, "iyz": -0.001}
    numbers = " ".join(f'{key}="{mass * value}"' for key, value in tensor.items())
    return f"""<link name="{name}">
      <inertial><origin xyz="{origin}" rpy="{rpy}"/><mass value="{mass}"/><inertia {numbers}/></inertial>
      <visual><geometry><sphere radius="0.1"/></geometry></visual>
      <collision><origin xyz="{origin}"/><geometry>{shape}</geometry></collision></link>"""


def joint(name, kind, parent, child, more="", axis="0 1 0", origin="0 0 0.4", rpy="0.3 0 -0.2"):
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>
      <origin xyz="{origin}" rpy="{rpy}"/>{more}</joint>"""


# A base with an arm of three joints, a flange that is fixed to it, and a gripper whose fingers mimic one another.
ARM = f"""<?xml version="1.0"?><robot name="arm">
  {link("base", 4.0)} {link("upper", 2.0)} {link("lower", 1.5, origin="0.1 0 0.2")} {link("slide", 0.7)}
  {link("flange", 0.3)} {link("left", 0.1)} {link("right", 0.1, rpy="0 0 1")}
  {joint("turn", "continuous", "base", "upper",
         '<limit effort="40" velocity="2"/><dynamics damping=".5" friction=".1"/>', "0 0 1")}
  {joint("bend", "revolute", "upper", "lower",
         '<limit lower="-1.5" upper="0.7" effort="30" velocity="1.5"/>', "0 1 .2")}
  {joint("reach", "prismatic", "lower", "slide", '<limit lower="0.1" upper="0.5" effort="0" velocity="0"/>', "1 0 0")}
  {joint("mount", "fixed", "slide", "flange")}
  {joint("grip", "prismatic", "flange", "left", '<limit lower="0" upper="0.05" effort="9" velocity="0"/>')}
  {joint("follow", "prismatic", "flange", "right", '<limit lower="-1" upper="1" effort="9" velocity="1"/>'
         '<mimic joint="grip" multiplier="-1" offset="0.02"/>')}
  <material name="grey"><color rgba="1 1 1 1"/></material><transmission name="t"/><gazebo/>
</robot>"""


def written(tmp_path, text, name="robot.urdf"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_masses_inertias_and_poses_are_those_of_mujoco(tmp_path):
    """To 1e-9 at random joint positions, with MuJoCo's own compilation of the file, fixed to the ground."""
    extension = '<mujoco><compiler fusestatic="false"/></mujoco>'
    simple = written(tmp_path, ARM.replace("<gazebo/>", extension), "mujoco.urdf")
    compiled = mujoco.MjModel.from_xml_path(str(simple))
    model, said = loaded(written(tmp_path, ARM), load_urdf, floating=False)
    assert {j.name: j.kind for j in model.joints} == {
        "turn": "hinge", "bend": "hinge", "reach": "slider", "grip": "slider", "follow": "slider"}  # fmt: skip
    assert "welded: base (4 kg) to the ground; flange (0.3 kg) to slide" in said
    assert "reach starts at 0.1, the end of its range" in said
    data, start = mujoco.MjData(compiled), compiled.qpos0.copy()
    for name, value in {"reach": 0.1, "follow": 0.02}.items():
        start[compiled.jnt_qposadr[compiled.joint(name).id]] = value
    data.qpos[:] = start
    mujoco.mj_kinematics(compiled, data)
    assert inertia_error(model, compiled, data) < 1e-9
    random = np.random.default_rng(8)
    for _ in range(10):
        data.qpos[:] = random_positions(compiled, random)
        mujoco.mj_kinematics(compiled, data)
        assert pose_error(model, compiled, data, moved_poses(model, compiled, data.qpos, start)) < 1e-9


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pinocchio") is None, reason="install pin, example-robot-data and pycollada")
def test_public_robots_agree_with_pinocchio():
    """Joint counts, and poses to 1e-9 at random positions. Masses and inertias, too, where the file's are used."""
    robots = list(public_robots())
    assert robots
    for path, packages in robots:
        model, said, joints, inertia, pose = agreement(path, packages)
        assert len(model.joints) == joints, path
        assert pose < 1e-9, path
        assert inertia < 1e-9 or REPLACED.search(said), path


def test_limits_dynamics_motors_and_gears(tmp_path):
    model, _ = loaded(written(tmp_path, ARM), load_urdf)
    turn, bend, reach, grip, follow = model.joints
    assert [body.name for body in model.bodies] == ["base", "upper", "lower", "slide", "left", "right"]  # base is free
    assert (turn.friction, turn.spring.damping) == (0.1, 0.5)
    assert turn.limits == (-np.inf, np.inf)
    assert bend.limits == pytest.approx((-1.5, 0.7))
    assert reach.limits == pytest.approx((0, 0.4))
    assert turn.motor == rigid.Motor(position=0.0, max_effort=40.0, max_speed=2.0)
    assert grip.motor == rigid.Motor(position=0.0, max_effort=9.0)
    assert reach.motor is None
    assert follow.motor is None
    assert [(gear.joint_a, gear.joint_b, gear.ratio) for gear in model.gears] == [(3, 4, -1.0)]
    assert model.gravity == pytest.approx((0, 0, -9.81))
    assert len(model.shapes) == 7


def test_a_root_called_world_is_the_ground_and_names_have_a_prefix(tmp_path):
    text = f"""<robot name="r"><link name="world"/>{link("arm")}{joint("fix", "revolute", "world", "arm",
               '<limit lower="-1" upper="1" effort="1" velocity="1"/>')}</robot>"""
    path = written(tmp_path, text)
    model = load_urdf(path, name="one")
    load_urdf(path, model, name="two")
    assert [body.name for body in model.bodies] == ["one/arm", "two/arm"]
    assert [joint.parent for joint in model.joints] == [rigid.GROUND] * 2


def test_a_light_root_floats_with_what_is_fixed_to_it(tmp_path):
    """`base_footprint` without mass, as many robots have it."""
    fixed = joint("fix", "fixed", "base_footprint", "base")
    text = f'<robot name="r"><link name="base_footprint"/>{link("base", 3.0)}{fixed}</robot>'
    model, said = loaded(written(tmp_path, text), load_urdf)
    assert model.masses == pytest.approx([3.0])
    assert model.joints == []
    assert "base (3 kg) to base_footprint" in said


MESHES = f"""<robot name="r">{link("base", shape='<mesh filename="package://bot/meshes/hand.stl" scale="2 2 2"/>')}
  {link("tool", shape='<mesh filename="package://other/hand.obj"/>')}{joint("fix", "fixed", "base", "tool")}
  {link("third", shape='<mesh filename="meshes/hand.stl"/>')}{joint("turn", "continuous", "base", "third")}</robot>"""


@pytest.fixture
def workspace(tmp_path):
    """Two packages, each with a mesh called hand, and a robot whose directory has a third."""
    import trimesh

    for k, (place, size) in enumerate({"src/bot/meshes/hand.stl": 0.1, "share/other/hand.obj": 0.2,
                                       "robots/meshes/hand.stl": 0.4}.items()):  # fmt: skip
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        trimesh.creation.box((size, size, size)).export(file, **({"file_type": "stl_ascii"} if k == 2 else {}))
    (tmp_path / "src/bot/package.xml").write_text("<package/>")
    written(tmp_path / "robots", MESHES)
    return tmp_path


def edges(model):
    """Lengths of the edges of cubes."""
    import trimesh

    return sorted(trimesh.convex.convex_hull(piece.shape.vertices).volume ** (1 / 3) for piece in model.shapes)


def test_packages_are_found(workspace, monkeypatch):
    path = workspace / "robots/robot.urdf"
    given = {"bot": workspace / "src/bot", "other": "package://shared/other", "shared": workspace / "share"}
    assert edges(loaded(path, load_urdf, packages=given)[0]) == pytest.approx([0.2, 0.2, 0.4], abs=1e-6)
    said = refusal(lambda: load_urdf(path), FileNotFoundError)
    for words in ("package 'bot': expected it in packages= (none), ROS_PACKAGE_PATH or AMENT_PREFIX_PATH (link 'base')",
                  "package 'other'"):  # fmt: skip
        assert words in said
    os.symlink(workspace, workspace / "src/loop")  # a directory that contains itself
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{workspace / 'nothing'}{os.pathsep}{workspace / 'src'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(workspace))
    assert edges(loaded(path, load_urdf)[0]) == pytest.approx([0.2, 0.2, 0.4], abs=1e-6)
    os.rename(path, workspace / "src/bot/robot.urdf")  # its own package needs no path, a mesh of its directory is gone
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    os.rename(workspace / "src/bot/meshes/hand.stl", workspace / "src/bot/meshes/foot.stl")
    said = refusal(lambda: load_urdf(workspace / "src/bot/robot.urdf"), FileNotFoundError)
    assert "package://bot/meshes/hand.stl (link 'base'), meshes/hand.stl (link 'third')" in said


def test_packages_are_sought_in_the_documented_order(workspace, monkeypatch):
    """The argument, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, and the directories above the file."""
    import trimesh

    sizes = {"argument": 1, "ros/bot": 2, "ament/share/bot": 3, "src/bot": 0.1}
    for place, size in sizes.items():
        file = workspace / place / "meshes/hand.stl"
        file.parent.mkdir(parents=True, exist_ok=True)
        trimesh.creation.box((size, size, size)).export(file)
    path, one = workspace / "src/bot/robot.urdf", link("base", shape='<mesh filename="package://bot/meshes/hand.stl"/>')
    written(path.parent, f"<robot name='r'>{one}</robot>")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(workspace / "ros"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(workspace / "ament"))
    found = [edges(load_urdf(path, packages={"bot": workspace / "argument"})), edges(load_urdf(path))]
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable)
        found.append(edges(load_urdf(path)))
    assert np.ravel(found) == pytest.approx(list(sizes.values()), rel=1e-6)


def test_cycles_of_packages_are_refused(workspace):
    packages = {"bot": "package://other", "other": "package://third/x", "third": "package://bot"}
    said = refusal(lambda: load_urdf(workspace / "robots/robot.urdf", packages=packages), ValueError)
    assert "packages refer to one another in a cycle, bot -> other -> third -> bot: expected directories" in said


@pytest.mark.parametrize(("text", "words"), [
    ("no xml", "expected a URDF file, but it is not XML"),
    ("", "expected a URDF file, but it is not XML"),
    ("<mujoco/>", "found <mujoco>; did you mean load_mjcf?"),
    ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="a"/></robot>', "found macros of xacro"),
    ("<robot name='r'/>", "expected a URDF file with links, found none"),
    (f"<robot name='r'>{link('a')}{joint('j', 'revolute', 'a', 'b')}</robot>", "MuJoCo's parser says"),
    (f"<robot name='r'>{link('a')}{link('b')}{joint('j', 'bent', 'a', 'b')}</robot>", "MuJoCo's parser says"),
    (f"<robot name='r'>{link('a')}{link('b')}{joint('j', 'fixed', 'a', 'b')}{joint('k', 'fixed', 'b', 'a')}</robot>",
     "MuJoCo's parser says"),
])  # fmt: skip
def test_files_that_are_not_urdf_are_refused_in_one_line(tmp_path, text, words):
    said = refusal(lambda: load_urdf(written(tmp_path, text)), ValueError)
    assert words in said
    assert "robot.urdf: expected a URDF file" in said


def test_other_bad_input(tmp_path, monkeypatch):
    assert "expected a URDF file" in refusal(lambda: load_urdf(tmp_path / "there.urdf"), FileNotFoundError)
    assert "expected a URDF file" in refusal(lambda: load_urdf(tmp_path), FileNotFoundError)
    path = written(tmp_path, MESHES.replace("package://bot/meshes/hand.stl", "hand.stl"))
    (tmp_path / "hand.stl").write_text("not a mesh")
    said = refusal(lambda: load_urdf(path, packages={"other": tmp_path}), (ValueError, FileNotFoundError))
    assert "hand" in said
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert "pip install 'verletlab[mjcf]'" in refusal(lambda: load_urdf(path), ModuleNotFoundError)


def test_inertias_that_no_body_can_have_are_replaced(tmp_path):
    text = link("a").replace("ixx=\"0.02\"", "ixx=\"9\"")
    model, said = loaded(written(tmp_path, f"<robot name='r'>{text}</robot>"), load_urdf)
    assert "approximated: inertias that no body can have, by their mean" in said
    assert np.linalg.eigvalsh(model.bodies[0].inertia) == pytest.approx([(9 + 0.03 + 0.025) / 3] * 3, rel=0.01)


@pytest.mark.slow
def test_a_robot_holds_its_pose_and_moves_at_its_velocity_limit(tmp_path):
    model, _ = loaded(written(tmp_path, ARM), load_urdf, floating=False)
    solver = rigid.solver("articulated", model, dt=0.002, contacts=False)
    solver.step(200)
    held = solver.joint_positions()
    assert abs(held["turn"]) < 1e-6
    assert abs(held["bend"]) < 1e-6
    solver.set_motor("bend", position=-1.2)
    solver.step(200)
    assert solver.joint_velocities()["bend"] == pytest.approx(-1.5, abs=1e-6)
    assert held["follow"] == pytest.approx(-held["grip"], abs=1e-6)


def test_moving_links_without_mass_get_a_light_one(tmp_path):
    """Many robots have such a link between two joints. A free root without mass is refused."""
    limits = '<limit lower="-1" upper="1" effort="0" velocity="1"/>'
    links = f'{link("base", 3.0)}<link name="knuckle"/>{link("hand", 1.0)}'
    joints = f'{joint("a", "revolute", "base", "knuckle", limits)}{joint("b", "revolute", "knuckle", "hand", limits)}'
    model, said = loaded(written(tmp_path, f"<robot name='r'>{links}{joints}</robot>"), load_urdf)
    assert "approximated: moving links without mass, now 0.001 of the whole (knuckle)" in said
    assert model.masses == pytest.approx([3, 0.004, 1])
    empty = f"<robot name='r'><link name='base'/>{link('arm')}{joint('a', 'revolute', 'base', 'arm', limits)}</robot>"
    path = written(tmp_path, empty)
    said = refusal(lambda: load_urdf(path), ValueError)
    assert "the root link 'base' has no mass: expected an <inertial>, or floating=False" in said
    assert [body.name for body in load_urdf(path, floating=False).bodies] == ["arm"]


def test_what_a_file_gives_of_a_mass_or_an_inertia_stays(tmp_path):
    """A link with a mass alone, one with an inertia alone that moves, and one that is welded: parallel-axis theorem."""
    given = {"base": (3.0, 0.1), "point": (2.0, 0.0), "disc": (0.0, 0.2), "tip": (0.0, 0.3)}
    links = "".join(
        f'<link name="{name}"><inertial><mass value="{m}"/><inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" '
        f'iyz="0"/></inertial></link>' for name, (m, i) in given.items())  # fmt: skip
    limits = '<limit lower="-1" upper="1" effort="0" velocity="0"/>'
    joints = "".join([joint("a", "revolute", "base", "point", limits), joint("b", "revolute", "base", "disc", limits),
                      joint("c", "fixed", "base", "tip")])  # fmt: skip
    model, said = loaded(written(tmp_path, f"<robot name='r'>{links}{joints}</robot>"), load_urdf)
    base, point, disc = (model.body(name) for name in ("base", "point", "disc"))
    assert [base.mass, point.mass, disc.mass] == pytest.approx([3, 2, 1e-3 * 5])
    assert np.diag(base.inertia) == pytest.approx([0.1 + 0.3] * 3)
    assert np.diag(point.inertia) == pytest.approx([2 * 0.1**2 / 12] * 3)  # a rod of 0.1 m
    assert np.diag(disc.inertia) == pytest.approx([0.2] * 3)
    assert "without mass, now 0.001 of the whole (disc); moving links without inertia, now that of a rod" in said


def test_links_without_inertial_have_no_mass(tmp_path):
    """Whatever their collision geometry, as the specification of URDF says."""
    shape = '<link name="shell"><collision><geometry><box size="1 1 1"/></geometry></collision></link>'
    text = f"<robot name='r'>{link('base', 3.0)}{shape}{joint('f', 'fixed', 'base', 'shell')}</robot>"
    model, said = loaded(written(tmp_path, text), load_urdf)
    assert (model.masses.tolist(), len(model.shapes), said) == ([3.0], 2, "")


def test_inertias_with_negative_moments_are_replaced(tmp_path):
    """As in public files of ANYmal, B1 and Romeo: all six numbers of a tensor are equal."""
    same = " ".join(f'{key}="1e-3"' for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    hatch = f'<link name="hatch"><inertial><mass value="2"/><inertia {same}/></inertial></link>'
    model, said = loaded(written(tmp_path, f'<robot name="r">{hatch}</robot>'), load_urdf)
    assert "approximated: inertias that no body can have, by their mean (hatch)" in said
    assert model.bodies[0].inertia == pytest.approx(1e-3 * np.eye(3))


def test_the_warning_lists_what_a_model_has_not(tmp_path, capfd):
    """Other elements, velocity limits without effort, and what MuJoCo's parser prints otherwise."""
    more = '<limit lower="0" upper="0" effort="0" velocity="2"/><safety_controller k_velocity="1"/><calibration/>'
    text = "".join([link("a"), link("b"), joint("j", "revolute", "a", "b", more), '<gazebo reference="a"/><gazebo/>',
                    link("c"), joint("k", "revolute", "b", "c", '<limit lower="-1" upper="1" effort="1" velocity="0"/>'
                                     '<mimic joint="nobody"/>')])  # fmt: skip
    _, said = loaded(written(tmp_path, f"<robot name='r'>{text}</robot>"), load_urdf)
    assert "left out: calibration (1); gazebo (2); safety_controller (1); velocity limits of joints without" in said
    assert "without effort limits (j)" in said
    assert "MuJoCo's parser: " in said
    assert "'j' has equal lower and upper limits" in said
    assert "<mimic> on joint 'k' ignored" in said
    assert "WARNING" not in "".join(capfd.readouterr())


def test_namespaces_and_blank_lines_are_accepted(tmp_path):
    text = f"""

    <?xml version="1.0"?><robot xmlns="http://drake.mit.edu" xmlns:xsi="http://www.w3.org" xsi:schemaLocation="a b"
      name="r">{link("base", 3.0)}</robot>"""
    assert load_urdf(written(tmp_path, text)).masses == pytest.approx([3.0])


def test_links_do_not_collide_with_the_base_that_carries_them(tmp_path):
    """They collide with a floor, with one another, and with other bodies; links further out collide with the base."""
    limits = '<limit lower="-1" upper="1" effort="0" velocity="1"/>'
    text = "".join([link(name) for name in ("base", "left", "right", "far")] + [
        joint("a", "revolute", "base", "left", limits), joint("b", "revolute", "base", "right", limits),
        joint("c", "revolute", "left", "far", limits)])  # fmt: skip
    model = load_urdf(written(tmp_path, f"<robot name='r'>{text}</robot>"), floating=False)
    left, right, far = (model.bodies.index(model.body(name)) for name in ("left", "right", "far"))
    shape = {piece.body: k for k, piece in enumerate(model.shapes)}
    floor = model.add_ground(-1)
    model.add_sphere(0.1, mass=1.0)
    base, ball = shape[rigid.GROUND], len(model.shapes) - 1
    touching = {(a, b): model.may_touch(shape[a], shape[b]) for a in (left, right, far) for b in shape}
    assert not touching[left, rigid.GROUND]
    assert not touching[right, rigid.GROUND]
    assert touching[far, rigid.GROUND]
    assert touching[left, right]
    assert touching[right, far]
    assert all(model.may_touch(shape[each], floor) for each in (left, right, far))
    assert all(model.may_touch(shape[each], ball) for each in (left, right, far))
    assert model.may_touch(base, ball)
