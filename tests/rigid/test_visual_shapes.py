"""Visuals of models and of robot files: poses, colours and meshes. No solver reads them."""

import numpy as np
import pytest
import trimesh
from marks import slow
from robots import loaded

import rigid
import scenes
from rigid.build import load_mjcf, load_urdf
from rigid.rotation import from_axis_angle, multiply, rotate
from scenes.export.pieces import pieces_of
from scenes.simulate.recording import Frame
from scenes.visuals import PALETTE, BodyVisual
from scenes.visuals.framing import instance_points

TURN = from_axis_angle((1, 2, 3), 0.7)
INERTIAL = """<inertial><origin xyz="0.1 0 0"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>"""
URDF = f"""<robot name="arm">
  <material name="paint"><color rgba="0.1 0.6 0.2 1"/></material>
  <link name="world"/>
  <link name="boom">{INERTIAL}
    <visual><origin xyz="0.3 0 0.1" rpy="0.4 -0.3 1.2"/><geometry><mesh filename="wedge.obj" scale="2 1 1"/></geometry>
      <material name="paint"/></visual>
    <visual><geometry><sphere radius="0.05"/></geometry>
      <material name="other"><color rgba="0.9 0.1 0.1 1"/></material></visual>
    <collision><origin xyz="0.3 0 0"/><geometry><box size="0.6 0.1 0.1"/></geometry></collision>
  </link>
  <link name="tip">{INERTIAL}
    <visual><geometry><box size="0.1 0.2 0.3"/></geometry></visual>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <link name="bare">{INERTIAL}
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="lift" type="revolute"><parent link="world"/><child link="boom"/><origin xyz="0 0 1" rpy="0 0 0.5"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="40" velocity="1"/></joint>
  <joint name="weld" type="fixed"><parent link="boom"/><child link="tip"/><origin xyz="0.6 0 0" rpy="0.2 0 0"/></joint>
  <joint name="wrist" type="continuous"><parent link="tip"/><child link="bare"/><origin xyz="0.3 0 0"/>
    <axis xyz="1 0 0"/></joint>
</robot>"""
WEDGE = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)], float)


@pytest.fixture
def wedge(tmp_path):
    """Writes a tetrahedron to wedge.obj. Returns: the folder."""
    trimesh.Trimesh(WEDGE, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]).export(tmp_path / "wedge.obj")
    return tmp_path


def load(folder, text, loader=load_urdf, name="robot.urdf"):
    """The Model of a file, and what its warning says."""
    pytest.importorskip("mujoco")
    (folder / name).write_text(text, encoding="utf-8")
    return loaded(folder / name, loader)


def start_of(model):
    """The Frame of a model at time zero."""
    state, nothing = model.initial_state(), np.zeros((0, 3))
    return Frame(0.0, nothing, nothing, np.zeros((0, 7)), np.hstack([state.position, state.rotation]), None)


def drawn_of(model, **options):
    """Points (n, 3) and colours of all that is drawn at time zero: a list of (points, colour)."""
    found = []
    for each in BodyVisual(model, **options).draw(start_of(model)):
        points = instance_points(each).reshape(len(each.positions), -1, 3)
        found += list(zip(points, each.colours))
    return found


def box_of(points):
    """Corners of the box around points (2, 3)."""
    return np.array([points.min(axis=0), points.max(axis=0)])


def test_a_visual_moves_with_its_body_and_has_neither_mass_nor_contacts():
    model = rigid.Model()
    body = model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(1, 0, 1), rotation=TURN, visible=False)
    before = model.bodies[body].mass, model.bodies[body].inertia.copy()
    local, colour = (0.1, 0.2, 0.3), (0.2, 0.4, 0.6)
    model.add_visual(body, (WEDGE, [(0, 1, 2)]), position=local, rotation=TURN, local=True, colour=colour)
    model.add_visual("box 0", rigid.Sphere(0.1, centre=(2, 0, 1)))
    assert model.bodies[body].mass == before[0]
    assert np.array_equal(model.bodies[body].inertia, before[1])
    assert len(model.shapes) == 1
    (mesh, found), (sphere, own) = drawn_of(model)
    expected = (1, 0, 1) + rotate(TURN, local + rotate(TURN, WEDGE[:3]))
    assert box_of(mesh) == pytest.approx(box_of(expected), abs=1e-12)
    assert sphere.mean(axis=0) == pytest.approx((2, 0, 1), abs=1e-6)
    assert found == pytest.approx(colour)
    assert own == pytest.approx(PALETTE[0])
    assert [each[1] for each in drawn_of(model, colours=(1, 0, 0))] == pytest.approx(np.array([(1, 0, 0)] * 2))


def test_visuals_stay_in_place_when_mass_moves_the_frame():
    model = rigid.Model()
    body = model.add_box((0.2, 0.2, 0.2), mass=1.0)
    model.add_visual(body, rigid.Sphere(0.1, centre=(0.5, 0, 0)))
    model.add_shape(body, rigid.Sphere(0.1, centre=(1, 0, 0)), mass=1.0)
    assert model.bodies[body].position == pytest.approx((0.5, 0, 0))
    assert model.visuals[0].position == pytest.approx((0, 0, 0))


def test_a_bad_visual_changes_nothing():
    model = rigid.Model()
    body = model.add_sphere(0.1, mass=1.0)
    for options in ({"colour": (2, 0, 0)}, {"colour": "red"}, {"position": (np.nan, 0, 0)}, {"local": 1}):
        with pytest.raises((ValueError, TypeError)):
            model.add_visual(body, rigid.Sphere(0.1), **options)
    with pytest.raises(TypeError, match="mesh"):
        model.add_visual(body, 3)
    assert model.visuals == []


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["impulse", slow("articulated")])
def test_no_solver_reads_visuals(solver):
    states = []
    for drawn in (False, True):
        model = rigid.Model()
        model.add_ground()
        options = {"position": (0, 0, 0.3), "velocity": (1, 0, 0), "visible": not drawn}
        body = model.add_box((0.2, 0.2, 0.2), density=500.0, **options)
        if drawn:
            model.add_visual(body, rigid.Sphere(5.0))
        system = rigid.solver(solver, model, dt=0.01)
        system.step(60)
        states.append(system.state().position)
    assert np.array_equal(*states)


def test_urdf_visuals_have_the_poses_and_colours_of_the_file(wedge):
    model, said = load(wedge, URDF)
    assert said.count("\n") == 0
    assert "visual meshes" not in said
    drawn = drawn_of(model)
    # Roll, pitch and yaw are about fixed axes, in this order; then the joint's origin.
    turn = np.array((1.0, 0, 0, 0))
    for axis, angle in zip(np.eye(3), (0.4, -0.3, 1.2)):
        turn = multiply(from_axis_angle(axis, angle), turn)
    joint = from_axis_angle((0, 0, 1), 0.5)
    expected = (0, 0, 1) + rotate(joint, (0.3, 0, 0.1) + rotate(turn, WEDGE * (2, 1, 1)))
    boxes = {tuple(np.round(colour, 6)): box_of(points) for points, colour in drawn}
    assert boxes[0.1, 0.6, 0.2] == pytest.approx(box_of(expected), abs=1e-9)
    assert boxes[0.9, 0.1, 0.1].mean(axis=0) == pytest.approx((0, 0, 1), abs=1e-9)
    # Of the link without visuals the collision shape is drawn, and of those with visuals it is not.
    assert [each.visible for each in model.shapes] == [False, False, True]
    assert len(drawn) == 4


@pytest.mark.parametrize("damage", ["missing", "empty", "address"])
def test_a_link_without_its_visual_mesh_is_drawn_by_its_shapes(wedge, damage):
    text = URDF
    if damage == "missing":
        (wedge / "wedge.obj").unlink()
    elif damage == "empty":
        (wedge / "wedge.obj").write_text("# nothing\n")
    else:
        text = URDF.replace("wedge.obj", "package://nowhere/wedge.obj")
    model, said = load(wedge, text)
    assert said.count("\n") == 0
    assert "visual meshes that cannot be read (1), of boom: their shapes are drawn" in said
    assert [each.visible for each in model.shapes] == [True, False, True]
    assert len(model.visuals) == 1


def test_a_material_without_a_name_colours_its_own_visual_alone(wedge):
    text = URDF.replace('<material name="other">', "<material>")
    text = text.replace('<box size="0.1 0.2 0.3"/></geometry>', '<box size="0.1 0.2 0.3"/></geometry><material/>')
    model, _ = load(wedge, text)
    given = [None if each.colour is None else tuple(each.colour) for each in model.visuals]
    assert given == [(0.1, 0.6, 0.2), (0.9, 0.1, 0.1), None]


def test_a_link_with_a_colour_that_cannot_be_read_is_drawn_by_its_shapes(wedge):
    model, said = load(wedge, URDF.replace("0.1 0.6 0.2 1", "0.1 green"))
    assert "of boom: their shapes are drawn (ValueError: could not convert string to float: 'green')" in said
    assert len(model.visuals) == 1


def test_colours_of_mesh_files_are_taken(tmp_path):
    (tmp_path / "two.mtl").write_text("newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 0 1\n")
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in (*WEDGE, *(WEDGE + 1)))
    faces = "usemtl a\nf 1 2 3\nf 1 2 4\nusemtl b\nf 5 6 7\nf 5 6 8\n"
    (tmp_path / "wedge.obj").write_text(f"mtllib two.mtl\n{vertices}{faces}")
    text = URDF.replace('<material name="paint"/>', "")
    model, _ = load(tmp_path, text)
    meshes = [each for each in model.visuals if hasattr(each.shape, "triangles")]
    assert sorted(tuple(each.colour) for each in meshes) == [(0, 0, 1), (1, 0, 0)]
    model, _ = load(tmp_path, URDF)  # the material of the file of the robot comes first
    meshes = [each for each in model.visuals if hasattr(each.shape, "triangles")]
    assert [tuple(each.colour) for each in meshes] == [(0.1, 0.6, 0.2)] * 2


MJCF = """<mujoco><compiler meshdir="."/>
  <asset><mesh name="wedge" file="wedge.obj"/><material name="paint" rgba="0.1 0.6 0.2 1"/></asset>
  <worldbody><body name="a" pos="0 0 1" euler="10 20 30"><freejoint/>
    <geom type="mesh" mesh="wedge" pos="0.3 0 0" euler="0 40 0" contype="0" conaffinity="0" group="2" material="paint"
      mass="0"/>
    <geom type="box" size="0.1 0.2 0.3" group="3"/></body>
  <body name="b" pos="2 0 1"><freejoint/>
    <geom type="capsule" size="0.1 0.3" rgba="0.9 0.1 0.1 1"/>
    <geom type="sphere" size="0.2" contype="0" conaffinity="0" group="4" mass="0"/>
    <geom type="sphere" size="0.3" contype="0" conaffinity="0" rgba="1 1 1 0" mass="0"/></body>
  <body name="c" pos="4 0 1"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
  <body name="d" pos="6 0 1"><freejoint/><geom type="sphere" size="0.1" group="3"/></body></worldbody>
</mujoco>"""


def test_mjcf_geoms_of_groups_0_to_2_are_drawn(wedge):
    mujoco = pytest.importorskip("mujoco")
    model, _ = load(wedge, MJCF, load_mjcf, "robot.xml")
    drawn = drawn_of(model)
    assert len(drawn) == 4  # mesh, capsule and ellipsoid; and the sphere of a body that has no other geom
    compiled = mujoco.MjModel.from_xml_path(str(wedge / "robot.xml"))
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    expected = data.geom_xpos[0] + compiled.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T
    boxes = {tuple(np.round(colour, 6)): box_of(points) for points, colour in drawn}
    assert boxes[0.1, 0.6, 0.2] == pytest.approx(box_of(expected), abs=1e-7)  # its vertices are in single precision
    assert boxes[0.9, 0.1, 0.1] == pytest.approx(np.array([(1.9, -0.1, 0.6), (2.1, 0.1, 1.4)]), abs=0.01)
    ellipsoid = np.array([(3.9, -0.2, 0.7), (4.1, 0.2, 1.3)])
    assert boxes[tuple(np.round(PALETTE[2], 6))] == pytest.approx(ellipsoid, abs=0.01)
    assert [each.visible for each in model.shapes] == [False, False, False, True]


def test_an_mjcf_file_without_its_visual_mesh_is_drawn_by_its_shapes(tmp_path):
    model, said = load(tmp_path, MJCF, load_mjcf, "robot.xml")
    assert "visual meshes that cannot be read (1), of a: their shapes are drawn" in said
    assert said.count("\n") == 0
    assert [each.visible for each in model.shapes] == [True, False, False, True]
    solid = MJCF.replace('contype="0" conaffinity="0" group="2"', "")
    heavy = MJCF.replace('material="paint"\n      mass="0"', 'material="paint"')
    for text in (solid, heavy):  # it is needed for contacts, or for the mass of its body
        with pytest.raises(ValueError, match=r"wedge\.obj"):
            load(tmp_path, text, load_mjcf, "robot.xml")
    inertial = '<freejoint/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>\n    <geom type="mesh"'
    model, _ = load(tmp_path, heavy.replace('<freejoint/>\n    <geom type="mesh"', inertial), load_mjcf, "robot.xml")
    assert model.bodies[0].mass == 2.0


@pytest.mark.parametrize(("loader", "text"), [(load_urdf, URDF), (load_mjcf, MJCF)])
def test_visuals_are_left_out_on_request(wedge, loader, text):
    pytest.importorskip("mujoco")
    (wedge / "robot").write_text(text, encoding="utf-8")
    model, _ = loaded(wedge / "robot", loader, visuals=False)
    assert model.visuals == []
    assert all(each.visible for each in model.shapes)
    with pytest.raises(TypeError, match="visuals"):
        loader(wedge / "robot", visuals="no")


def test_many_tendons_are_one_number(tmp_path):
    bodies = "".join(
        f'<body pos="{k} 0 0"><joint name="j{k}" axis="0 1 0"/><geom size="0.1"/></body>' for k in range(43)
    )
    tendons = "".join(f'<fixed name="t{k}"><joint joint="j{k}" coef="1"/></fixed>' for k in range(43))
    text = f"<mujoco><worldbody>{bodies}</worldbody><tendon>{tendons}</tendon></mujoco>"
    _, said = load(tmp_path, text, load_mjcf, "robot.xml")
    assert "tendons (43)" in said
    assert "t7" not in said


def test_files_keep_visuals_in_the_frames_of_their_bodies():
    model = rigid.Model()
    body = model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(1, 0, 1), rotation=TURN, visible=False)
    model.add_visual(body, (WEDGE, [(0, 1, 2)]), position=(0.1, 0.2, 0.3), local=True, colour=(0.2, 0.4, 0.6))
    scene = scenes.Scene(model=model)
    (part,) = pieces_of(scene, start_of(model)).values()
    assert part.body == body
    assert part.vertices() == pytest.approx((0.1, 0.2, 0.3) + WEDGE[:3], abs=1e-12)
    assert part.colour == pytest.approx((0.2, 0.4, 0.6))
