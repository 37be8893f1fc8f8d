"""Robots from files at another place; bodies that only the user moves; lines in messages; meshes beside the file."""

import re
import warnings

import numpy as np
import pytest
import trimesh
from marks import cases

import rigid
from rigid.build import load_mjcf, load_urdf
from rigid.rotation import multiply, rotate

pytest.importorskip("mujoco")

PLACE = np.array([0.4, -1.5, 0.9])
TURN = np.array([0.5, 0.1, -0.7, 0.5]) / np.linalg.norm([0.5, 0.1, -0.7, 0.5])

LINK = """<link name="{0}"><inertial><mass value="1.5"/><origin xyz="0.1 0 0.2"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0.002" iyz="0"/></inertial>
  <collision><origin xyz="0.1 0 0.2" rpy="0.2 0.1 0"/>
  <geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>"""
ROBOT = f"""<robot name="r">{LINK.format("hip")}{LINK.format("leg")}{LINK.format("foot")}
<joint name="knee" type="revolute"><parent link="hip"/><child link="leg"/><origin xyz="0 0.1 -0.4" rpy="0.1 0 0.3"/>
  <axis xyz="0 1 0"/><limit lower="0.2" upper="1.5" effort="30" velocity="2"/></joint>
<joint name="slide" type="prismatic"><parent link="leg"/><child link="foot"/><origin xyz="0 0 -0.4"/><axis xyz="0 0 1"/>
  <limit lower="-0.1" upper="0.3" effort="0" velocity="0"/></joint></robot>"""
ARMS = """<mujoco><compiler angle="radian"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <geom name="post" type="box" size=".1 .2 .3" pos="3 1 0" euler="0 .2 0"/>
  <body name="free" pos="0 0 2"><freejoint/><geom size=".1"/>
    <body name="arm" pos=".3 0 0"><joint name="bend" axis="0 1 .2" range="-1 2" limited="true"/><geom size=".1"/></body>
  </body>
  <body name="fixed" pos="1 1 1" euler=".3 0 .1"><joint name="turn" axis="0 0 1"/>
    <geom type="box" size=".1 .2 .1"/></body>
  <body name="hung" pos="1 -1 1"><freejoint/><geom size=".1"/></body>
  <body name="welded" pos="-1 -1 1" euler="0 .4 0"><freejoint/><geom size=".1"/></body>
  <body name="target" mocap="true" pos="2 0 1" euler=".5 0 0"><geom type="box" size=".3 .2 .1"/></body>
  <body name="held" pos="2 0 1.5"><freejoint/><geom size=".1"/></body>
</worldbody>
<equality><connect body1="hung" anchor="0 0 .3"/><weld body1="welded"/><weld body1="target" body2="held"/></equality>
<keyframe><key name="go" qpos="0 0 3 1 0 0 0 .5 .2 1 -1 1 1 0 0 0 -1 -1 1 .9 .1 0 .2 2 0 1.5 1 0 0 0"
  qvel="1 2 3 .1 .2 .3 .4 .5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" mpos="2 0 1" mquat="1 0 0 0"/></keyframe></mujoco>"""


def loaded(load, path, **options):
    """A model, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(path, **options)


def written(tmp_path, text, name="robot.xml"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize(
    ("load", "text", "options"),
    [
        (load_urdf, ROBOT, {}),
        (load_urdf, ROBOT, {"floating": False}),
        (load_urdf, ROBOT.replace('"hip"', '"world"'), {}),
        (load_mjcf, ARMS, {}),
        (load_mjcf, ARMS, {"keyframe": "go"}),
    ],
)
def test_a_placed_robot_is_the_robot_moved(tmp_path, load, text, options):
    """x' = p + R x for points, R v for directions, velocities and spins; joint positions, limits and masses stay."""
    path = written(tmp_path, text)
    here = loaded(load, path, **options)
    there = loaded(load, path, position=PLACE, rotation=TURN, **options)
    assert len(there.bodies) == len(here.bodies) > 0
    for one, other in zip(here.bodies, there.bodies):
        assert other.position == pytest.approx(PLACE + rotate(TURN, one.position), abs=1e-12)
        assert abs(other.rotation @ multiply(TURN, one.rotation)) == pytest.approx(1, abs=1e-12)
        assert other.velocity == pytest.approx(rotate(TURN, one.velocity), abs=1e-12)
        assert other.angular_velocity == pytest.approx(rotate(TURN, one.angular_velocity), abs=1e-12)
        assert (other.mass, one.name) == (one.mass, other.name)
        assert other.inertia == pytest.approx(one.inertia, abs=1e-15)
    assert [type(each) for each in there.joints] == [type(each) for each in here.joints]
    for one, other in zip(here.joints, there.joints):
        if hasattr(one, "point"):
            assert other.point == pytest.approx(PLACE + rotate(TURN, np.array(one.point)), abs=1e-9)
        if hasattr(one, "axis"):
            assert other.axis == pytest.approx(rotate(TURN, np.array(one.axis)), abs=1e-12)
        assert other.coordinate_limits() == one.coordinate_limits()
        assert (other.name, other.parent, other.child) == (one.name, one.parent, one.child)
    assert there.gravity == pytest.approx(here.gravity)


@pytest.mark.parametrize("load", [load_urdf, load_mjcf])
@pytest.mark.parametrize(
    ("option", "says"),
    [({"position": (0, 0, np.nan)}, "position"), ({"position": 3}, "position"), ({"rotation": (0, 0, 0, 0)}, "rota")],
)
def test_wrong_places_are_refused_before_the_file_is_read(load, option, says):
    with pytest.raises((ValueError, TypeError), match=says):
        load("nowhere.xml", **option)


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(rigid.SOLVERS, slow=["articulated", "penalty", "verlet"]))
def test_a_mocap_body_stands_still_and_carries(tmp_path, solver):
    """In MuJoCo only the user moves it. A ball on it stays, and one beside it falls by g t²/2."""
    text = """<mujoco><worldbody>
      <body name="table" mocap="true" pos="0 0 1"><geom type="box" size=".5 .5 .1"/></body>
      <body name="on" pos="0 0 1.3"><freejoint/><geom type="box" size=".2 .2 .2"/></body>
      <body name="beside" pos="2 0 5"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    with pytest.warns(UserWarning, match=r"mocap body table, a kinematic body that stands still") as said:
        model = load_mjcf(written(tmp_path, text))
    assert "left out: mocap" not in str(said[0].message)
    moved = rigid.solver(solver, model, dt=1 / 500)
    moved.step(200)
    height = dict(zip([body.name for body in model.bodies], moved.state().position[:, 2]))
    assert height["table"] == pytest.approx(1.0, abs=1e-12)
    assert height["on"] == pytest.approx(1.3, abs=2e-3)
    assert height["beside"] == pytest.approx(5 - 0.5 * 9.81 * 0.4**2, abs=9.81 * 0.4 / 500)


@pytest.mark.parametrize("above", ["", "\n\n", "<?xml version='1.0' encoding='utf-8'?>\n<!-- a\n comment -->\n"])
@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('<mass value="1.5"/>', '<mass value="heavy"/>'),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0"/>'),
        ('<box size="0.1 0.2 0.3"/>', '<box size="0.1 0.2"/>'),
        ('<child link="foot"/>', '<child link="nowhere"/>'),
    ],
)
def test_errors_name_the_line_of_the_file_as_written(tmp_path, above, good, bad):
    """Visual elements are left out before MuJoCo reads the file, and yet lines are those of the file."""
    visual = "<visual>\n <geometry>\n <sphere\n radius='1'/></geometry>\n</visual>\n<!--\n\n-->"
    text = above + ROBOT.replace("<inertial>", f"{visual}<inertial>\n").replace("><", ">\n<")
    first, last = text.rsplit(good, 1)
    line = first.count("\n") + 1
    with pytest.raises(ValueError, match=r"line") as caught:
        load_urdf(written(tmp_path, first + bad + last))
    named = int(re.search(r"line (\d+)", str(caught.value))[1])
    assert line - 3 <= named <= line  # of the element, or of the joint or link that contains it
    assert named != text.count("\n") + 1


def test_errors_of_xml_name_the_line_of_the_file(tmp_path):
    with pytest.raises(ValueError, match=r"it is not XML: mismatched tag: line 4, column"):
        load_urdf(written(tmp_path, "\n\n<robot>\n<link></robot>"))


@pytest.mark.parametrize("folder", ["", "urdf", "a/b"])
@pytest.mark.parametrize("address", ["package://meshes/hand.stl", "package://meshes/deep/hand.obj"])
def test_meshes_beside_the_file_or_above_it_are_found(tmp_path, folder, address):
    mesh = tmp_path / address.removeprefix("package://")
    mesh.parent.mkdir(parents=True)
    trimesh.creation.box((1, 2, 3)).export(mesh)
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    text = ROBOT.replace('<box size="0.1 0.2 0.3"/>', f'<mesh filename="{address}"/>', 1)
    model = loaded(load_urdf, written(tmp_path / folder, text))
    hulls = [piece.shape for piece in model.shapes if isinstance(piece.shape, rigid.ConvexHull)]
    assert trimesh.convex.convex_hull(hulls[0].vertices).volume == pytest.approx(6, rel=1e-6)
