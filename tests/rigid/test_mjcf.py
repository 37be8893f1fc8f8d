"""MJCF files: the Model agrees with MuJoCo's compiled model, and a warning lists what is left out."""

import math
import sys
import warnings

import numpy as np
import pytest

import rigid
from rigid import rotation
from rigid.build import load_mjcf

mujoco = pytest.importorskip("mujoco")

LIMBS = """
<mujoco>
  <option gravity="0 0 -3.7"/>
  <compiler angle="degree"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" friction=".8"/>
    <body name="post"><geom type="box" size=".1 .2 .3" pos="1 2 3" euler="0 0 30"/></body>
    <body name="trunk" pos="0 0 1.5" euler="10 20 30">
      <freejoint/>
      <geom type="capsule" fromto="0 0 -.2 0 0 .2" size=".1" mass="8"/>
      <body name="cap" pos="0 0 .35">
        <geom type="sphere" size=".1" mass="3" friction=".3"/>
        <geom type="box" size=".05 .06 .07" pos=".1 0 .1" mass="1"/>
      </body>
      <body name="arm" pos="0 .2 .1" euler="0 15 0">
        <joint name="elbow" pos="0 0 .05" axis="1 2 0" range="-20 90" damping=".3" stiffness="4" springref="30"
               frictionloss=".2"/>
        <geom type="cylinder" size=".04 .2" pos="0 .2 0" mass="2"/>
        <body name="rod" pos="0 .4 0">
          <joint name="rail" type="slide" axis="0 1 0" range="-.1 .3" damping="2"/>
          <geom type="ellipsoid" size=".05 .1 .03" mass="1"/>
        </body>
      </body>
      <body name="leg" pos="0 -.1 -.3">
        <joint name="x" axis="1 0 0" range="-30 10" damping="1"/>
        <joint name="z" axis="0 0 1" range="-60 40" damping="1"/>
        <joint name="y" axis="0 1 0" range="-120 20" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="4"/>
        <body name="foot" pos="0 0 -.45">
          <joint name="pitch" axis="0 1 0" range="-40 50"/>
          <joint name="roll" axis="1 0 .5"/>
          <geom type="box" size=".1 .04 .02" pos=".05 0 0" mass="1"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="2 0 1">
      <joint name="socket" type="ball" pos="0 0 .5" range="0 50" damping=".1"/>
      <geom type="mesh" mesh="pyramid" mass="1.5"/>
    </body>
  </worldbody>
  <asset><mesh name="pyramid" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .4"/></asset>
  <contact><exclude body1="leg" body2="arm"/></contact>
</mujoco>
"""


def written(tmp_path, text):
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(tmp_path, text, **options):
    """The Model, MuJoCo's model and data, and the warnings."""
    path = written(tmp_path, text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_mjcf(path, **options)
    messages = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    compiled = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    return model, compiled, data, messages


def body_of(text):
    return f"<mujoco><worldbody>{text}</worldbody></mujoco>"


GEOM = '<geom size=".1" mass="1"/>'


def test_bodies_have_the_mass_centre_and_inertia_of_mujoco(tmp_path):
    """In the world, each body with the bodies welded to it: parallel-axis theorem to MuJoCo's round-off."""
    model, compiled, data, _ = loaded(tmp_path, LIMBS)
    assert [body.name for body in model.bodies] == ["trunk", "arm", "rod", "leg", "foot", "ball"]
    assert model.masses == pytest.approx([12, 2, 1, 4, 1, 1.5], rel=1e-12)
    assert np.array_equal(model.gravity, (0, 0, -3.7))
    for body in model.bodies:
        ids = [compiled.body(name).id for name in ((body.name, "cap") if body.name == "trunk" else (body.name,))]
        masses, centres = compiled.body_mass[ids], data.xipos[ids]
        centre = masses @ centres / masses.sum()
        inertia = np.zeros((3, 3))
        for k, m, c in zip(ids, masses, centres):
            R, d = data.ximat[k].reshape(3, 3), c - centre
            inertia += R @ np.diag(compiled.body_inertia[k]) @ R.T + m * (d @ d * np.eye(3) - np.outer(d, d))
        assert np.abs(body.position - centre).max() < 1e-12
        R = rotation.to_matrix(body.rotation)
        assert np.abs(R @ body.inertia @ R.T - inertia).max() < 1e-12
        assert np.abs(R - data.xmat[ids[0]].reshape(3, 3)).max() < 1e-12


def test_joints_move_bodies_to_the_poses_of_mujoco(tmp_path):
    """Each hinge, slider and universal moved alone: the child's pose by the definition of the joint agrees with
    MuJoCo's kinematics for the same positions."""
    model, compiled, *_ = loaded(tmp_path, LIMBS)
    cases = {"elbow": (0.4,), "rail": (0.13,), "pitch+roll": (0.5, -0.7)}
    for name, values in cases.items():
        joint = model.joint(name)
        moved = mujoco.MjData(compiled)
        for part, value in zip(name.split("+"), values):
            moved.qpos[compiled.jnt_qposadr[compiled.joint(part).id]] = value
        mujoco.mj_kinematics(compiled, moved)
        parent, child = model.bodies[joint.parent], model.bodies[joint.child]
        point, axes = parent.world_point(joint.parent_anchor), parent.world_direction(joint.parent_axes)
        shift, turn = np.zeros(3), rotation.IDENTITY
        if joint.kind == "slider":
            shift = values[0] * axes[0]
        else:
            turn = rotation.from_axis_angle(axes[0], values[0])
        if joint.kind == "universal":
            turn = rotation.multiply(turn, rotation.from_axis_angle(axes[1], values[1]))
        k = compiled.body(child.name).id
        assert np.abs(point + rotation.rotate(turn, child.position - point) + shift - moved.xipos[k]).max() < 1e-12
        R = rotation.to_matrix(rotation.multiply(turn, child.rotation))
        assert np.abs(R - moved.xmat[k].reshape(3, 3)).max() < 1e-12


def test_limits_springs_and_friction(tmp_path):
    model, *_ = loaded(tmp_path, LIMBS)
    elbow, rail, hip, ankle, socket = (model.joint(name) for name in ("elbow", "rail", "x+z+y", "pitch+roll", "socket"))
    assert [joint.kind for joint in (elbow, rail, hip, ankle, socket)] == [
        "hinge", "slider", "ball", "universal", "ball"]  # fmt: skip
    assert elbow.limits == pytest.approx((-math.radians(20), math.radians(90)))
    assert (elbow.friction, elbow.spring.stiffness, elbow.spring.damping) == (0.2, 4.0, 0.3)
    assert elbow.spring.rest == pytest.approx(math.radians(30))
    assert rail.limits == pytest.approx((-0.1, 0.3))
    assert rail.spring == rigid.Spring(0.0, 2.0)
    assert ankle.parent_limits == pytest.approx((-math.radians(40), math.radians(50)))
    assert ankle.child_limits == (-math.inf, math.inf)
    assert socket.swing_limit == pytest.approx(math.radians(50))
    assert socket.twist_limits == pytest.approx((-math.radians(50), math.radians(50)))
    # The leg is along z, the twist axis. The middle of the range is -10° for x and -50° for y, with half width 70°.
    assert hip.twist_limits == pytest.approx((-math.radians(60), math.radians(40)))
    assert hip.swing_limit == pytest.approx(math.radians(70))
    trunk = model.body("trunk")
    turn = rotation.multiply(rotation.from_axis_angle((1, 0, 0), math.radians(-10)),
                             rotation.from_axis_angle((0, 1, 0), math.radians(-50)))  # fmt: skip
    frame = rotation.to_matrix(trunk.rotation)
    expected = frame @ rotation.rotate(turn, (0, 0, 1))
    assert np.abs(trunk.world_direction(hip.parent_axes)[0] - expected).max() < 1e-12
    assert model.bodies[0].name == "trunk"
    assert all(joint.child != 0 for joint in model.joints)  # free


def test_shapes_have_the_poses_of_geoms(tmp_path):
    model, compiled, data, _ = loaded(tmp_path, LIMBS)
    assert len(model.shapes) == compiled.ngeom
    kinds = {"Plane": 1, "Box": 3, "Capsule": 2, "Sphere": 1, "Cylinder": 1, "ConvexHull": 2}
    assert {kind: sum(type(s.shape).__name__ == kind for s in model.shapes) for kind in kinds} == kinds
    for geom, piece in enumerate(model.shapes):
        body = model.body(piece.body)
        if type(piece.shape).__name__ != "ConvexHull":
            assert np.abs(body.world_point(piece.position) - data.geom_xpos[geom]).max() < 1e-12
        assert piece.friction == compiled.geom_friction[geom, 0]
    box = next(s for s in model.shapes if s.body == rigid.GROUND and type(s.shape).__name__ == "Box")
    assert box.shape.size == pytest.approx((0.2, 0.4, 0.6))
    R = rotation.to_matrix(box.rotation)
    assert np.abs(R - rotation.to_matrix(rotation.from_axis_angle((0, 0, 1), math.radians(30)))).max() < 1e-12
    ball = next(s for s in model.shapes if s.body == model.bodies.index(model.body("ball")))
    corners = model.body("ball").world_point(ball.position + rotation.rotate(ball.rotation, ball.shape.vertices))
    given = np.array([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.4)]) + (2, 0, 1)
    assert np.abs(corners[:, None] - given).max(axis=2).min(axis=1).max() < 1e-6  # MuJoCo stores meshes in 32 bits


def test_contact_filters_are_those_of_mujoco(tmp_path):
    """Every pair of geoms against mj_collision. All are at one place, so every allowed pair collides."""
    random = np.random.default_rng(2)
    bodies = "".join(
        f'<body><freejoint/><geom size=".1" contype="{random.integers(0, 4)}" conaffinity="{random.integers(0, 4)}"/>'
        f'<body><joint/><geom size=".1" contype="{random.integers(1, 4)}" conaffinity="1"/></body></body>'
        for _ in range(8)
    )
    model, compiled, data, _ = loaded(tmp_path, body_of(bodies))
    mujoco.mj_forward(compiled, data)
    found = {tuple(sorted(map(int, data.contact[k].geom))) for k in range(data.ncon)}
    kept = [g for g in range(compiled.ngeom) if compiled.geom_contype[g] or compiled.geom_conaffinity[g]]
    assert len(kept) == len(model.shapes)
    ours = {(kept[a], kept[b]) for b in range(len(kept)) for a in range(b) if model.may_touch(a, b)}
    assert ours == found
    assert 10 < len(ours) < len(kept) * (len(kept) - 1) / 2 - 10


def test_parents_collide_with_children_if_their_filter_is_off(tmp_path):
    """Against mj_collision. The hand has two joints, and so a light body before it."""
    joints = '<joint name="x"/><joint name="y" axis="0 1 1"/>'
    arm = f'<worldbody><body name="arm"><joint/>{GEOM}<body name="hand">{joints}{GEOM}</body></body></worldbody>'
    text = f'<mujoco><option><flag filterparent="disable"/></option>{arm}</mujoco>'
    for one, expected in ((text, True), (text.replace('filterparent="disable"', ""), False)):
        model, compiled, data, _ = loaded(tmp_path, one)
        mujoco.mj_forward(compiled, data)
        assert [model.may_touch(0, 1), bool(data.ncon)] == [expected, expected]


def test_rolling_and_spinning_friction_are_taken_on_request(tmp_path):
    """MuJoCo's condim: 1 without friction, 3 with sliding, 4 with spinning, 6 with rolling friction [m]."""
    geom = '<body pos="{0} 0 0"><freejoint/><geom name="g{0}" size=".1" condim="{0}" friction=".7 .02 .003"/></body>'
    geoms = "".join(geom.format(condim) for condim in (3, 4, 6))
    model, *_, messages = loaded(tmp_path, body_of(geoms))
    assert "left out: rolling and spinning friction (g4, g6)" in messages[0]
    assert [(s.rolling_friction, s.spinning_friction) for s in model.shapes] == [(0, 0)] * 3
    model, *_, messages = loaded(tmp_path, body_of(geoms), rolling=True)
    assert messages == []
    assert [(s.friction, s.rolling_friction, s.spinning_friction) for s in model.shapes] == [
        (0.7, 0, 0), (0.7, 0, 0.02), (0.7, 0.003, 0.02)]  # fmt: skip


def test_geoms_of_condim_1_are_slippery_if_all_are(tmp_path):
    """In MuJoCo a contact has the larger condim of its geoms."""
    ball = '<body><freejoint/><geom size=".1" condim="1"/></body>'
    model, *_, messages = loaded(tmp_path, body_of(2 * ball))
    assert ([piece.friction for piece in model.shapes], messages) == ([0, 0], [])
    model, *_, messages = loaded(tmp_path, body_of(2 * ball + '<geom type="plane" size="1 1 1"/>'))
    assert [piece.friction for piece in model.shapes] == [1, 1, 1]
    assert "approximated: geoms with condim 1, which have friction at each other" in messages[0]


def test_an_added_ground_collides_with_default_geoms(tmp_path):
    text = f'<body><freejoint/>{GEOM}</body><body pos="1 0 0"><freejoint/><geom size=".1" contype="2" conaffinity="4"/>'
    model, *_ = loaded(tmp_path, body_of(f"{text}</body>"))
    ground = model.add_ground()
    assert [model.may_touch(ground, k) for k in (0, 1)] == [True, False]


def test_excluded_contacts(tmp_path):
    model, *_ = loaded(tmp_path, LIMBS)
    name = {body.name: k for k, body in enumerate(model.bodies)}
    pairs = [("trunk", "arm"), ("arm", "rod"), ("trunk", "leg"), ("leg", "foot"), ("arm", "leg")]
    assert model.exclusions == {tuple(sorted((name[a], name[b]))) for a, b in pairs}


CLASSES = """
<mujoco>
  <compiler angle="degree"/>
  <default>
    <joint damping="2" armature=".1" frictionloss=".3"/><geom friction=".6"/>
    <default class="limb">
      <joint stiffness="5" springref="20" range="-30 40"/><geom density="500"/>
      <motor forcerange="-3 3" ctrlrange="-9 9"/>
      <default class="end"><joint damping="7"/><geom contype="2" friction=".1"/></default>
    </default>
  </default>
  <worldbody>
    <body name="arm" childclass="limb"><joint name="a"/><geom type="box" size=".1 .1 .2"/>
      <body name="hand" pos="0 0 .4"><joint name="b" class="end"/><geom class="end" type="box" size=".1 .1 .1"/></body>
    </body>
    <body name="free" pos="2 0 0"><joint name="c"/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <actuator><motor class="limb" joint="a" gear="2"/></actuator>
  <keyframe><key name="k" ctrl="5"/></keyframe>
</mujoco>
"""


def test_default_classes_reach_joints_geoms_and_actuators(tmp_path):
    model, *_, messages = loaded(tmp_path, CLASSES, keyframe="k")
    a, b, c = (model.joint(name) for name in "abc")
    springs = [(j.spring.stiffness, j.spring.damping, math.degrees(j.spring.rest)) for j in (a, b, c)]
    assert springs == [pytest.approx(each) for each in ((5, 2, 20), (5, 7, 20), (0, 2, 0))]
    assert np.degrees([a.limits, b.limits]) == pytest.approx(np.array([(-30, 40), (-30, 40)]))
    assert c.limits == (-math.inf, math.inf)
    for joint in (a, b, c):
        assert (joint.armature, joint.friction) == (0.1, 0.3)
    assert a.motor == rigid.Motor(torque=6.0)  # 2 · 5, of which the range keeps 2 · 3
    assert model.masses == pytest.approx([0.2 * 0.2 * 0.4 * 500, 0.2**3 * 500, 0.2**3 * 1000])
    assert [piece.friction for piece in model.shapes] == [0.6, 0.1, 0.6]
    assert model.shapes[1].group != model.shapes[0].group
    assert messages == []


def test_the_warning_says_where_the_mass_of_welded_bodies_went(tmp_path):
    text = (f'<body name="trunk"><freejoint/>{GEOM}<body name="cap" pos="0 0 1"><geom size=".1" mass="2"/>'
            '<body name="horn" pos="0 0 1"><geom size=".1" mass="0.5"/></body></body></body>'
            '<body name="post"><geom size=".1" mass="7"/></body>')  # fmt: skip
    model, *_, messages = loaded(tmp_path, body_of(text))
    assert messages[0].endswith("welded: post (7 kg) to the ground; cap (2 kg) to trunk; horn (0.5 kg) to trunk")
    assert model.masses == pytest.approx([3.5])


def test_a_joint_starts_at_the_nearest_end_of_its_range(tmp_path):
    text = f'<body><joint name="knee" axis="0 1 0" range="20 100" pos="0 0 1"/>{GEOM}</body>'
    model, *_, messages = loaded(tmp_path, body_of(text))
    assert model.joint("knee").limits == pytest.approx((0, math.radians(80)))
    # The ball is at the origin, 1 m below its hinge. A rotation by 20° about y moves it to -x.
    angle = math.radians(20)
    assert np.abs(model.bodies[0].position - (-math.sin(angle), 0, 1 - math.cos(angle))).max() < 1e-12
    assert "knee starts at 0.349066, the end of its range" in messages[0]


def test_other_joints_of_one_body_become_a_chain(tmp_path):
    text = (
        f'<body name="car" pos="0 0 1"><joint name="along" type="slide" axis="1 0 0"/><joint name="up" type="slide" '
        f'axis="0 0 1"/><joint name="pitch" axis="0 1 0"/>{GEOM}<body name="tail"><joint/>{GEOM}</body></body>'
    )
    model, *_, messages = loaded(tmp_path, body_of(text))
    assert [(j.kind, j.name, j.parent, j.child) for j in model.joints[:3]] == [
        ("slider", "along", rigid.GROUND, 0), ("slider", "up", 0, 1), ("hinge", "pitch", 1, 2)]  # fmt: skip
    assert model.masses == pytest.approx([1 / 50, 1 / 50, 48 / 50, 1])
    assert [body.name for body in model.bodies] == ["along link", "up link", "car", "tail"]
    assert model.joints[3].parent == 2
    assert "light bodies between joints, with 0.02 of the mass each (2 of car)" in messages[0]


def test_the_warning_lists_what_is_left_out(tmp_path):
    text = """<mujoco><option density="1.2"/><worldbody>
      <body name="a"><joint name="j" armature="1"/><geom size=".1"/><site name="s"/></body>
      <body name="b" pos="1 0 0"><freejoint/><geom size=".1"/></body></worldbody>
      <actuator><motor joint="j"/><intvelocity joint="j" kp="1" actrange="-1 1"/></actuator>
      <sensor><jointpos joint="j"/></sensor>
      <tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>
      <equality><connect body1="a" body2="b" anchor="0 0 0" active="false"/></equality></mujoco>"""
    model, *_, messages = loaded(tmp_path, text)
    assert len(messages) == 1
    assert "model.xml: left out: " in messages[0]
    for words in ("actuators (actuator 1)", "tendons (tendon 0)", "sensors (1)", "equality constraints (1)",
                  "drag of the medium"):  # fmt: skip
        assert words in messages[0]
    assert "approximated" not in messages[0]
    assert "armature" not in messages[0]
    assert model.joint("j").armature == 1.0


def test_the_warning_names_newer_features_of_mujoco(tmp_path):
    text = """<mujoco><worldbody>
      <body name="a"><joint name="j" stiffness="3 1 2" damping="1 2 3"/><geom name="g" size=".1" margin=".01"/></body>
      <body pos="1 0 0"><joint name="k" solreflimit=".1 1" range="-1 1"/><geom size=".1" solref="-1000 -1"/></body>
      </worldbody><actuator><motor name="late" joint="j" delay=".02" nsample="3"/></actuator></mujoco>"""
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this MuJoCo knows no such features")
    *_, messages = loaded(tmp_path, text)
    assert messages[0].endswith(
        "left out: actuators (late); nonlinear stiffness (j); nonlinear damping (j); contact margins (g); "
        "softness (solref, solimp) of contacts, limits")  # fmt: skip


def test_a_complete_import_raises_no_warning(tmp_path):
    *_, messages = loaded(tmp_path, body_of(f'<body><joint name="a"/>{GEOM}</body>'))
    assert messages == []


def test_the_warning_lists_approximations(tmp_path):
    *_, messages = loaded(tmp_path, LIMBS)
    assert len(messages) == 1
    for words in ("x, z, y as one ball joint, limits replaced by a cone of 70° and twist limits",
                  "socket: limit of the",
                  "ellipsoids replaced by convex hulls", "cap (4 kg) to trunk"):  # fmt: skip
        assert words in messages[0]
    assert "pitch, roll" not in messages[0]


def test_a_file_can_be_loaded_twice_with_two_prefixes(tmp_path):
    path = written(tmp_path, body_of(f'<body name="box"><joint name="pin"/>{GEOM}</body><body>{GEOM}</body>'))
    model = rigid.Model(gravity=(0, 0, -1))
    assert load_mjcf(path, model, name="one") is model
    load_mjcf(path, model, name="two")
    assert [body.name for body in model.bodies] == ["one/box", "two/box"]
    assert [joint.name for joint in model.joints] == ["one/pin", "two/pin"]
    assert model.gravity[2] == -1
    load_mjcf(path, model)
    with pytest.raises(ValueError, match="'box' is taken"):
        load_mjcf(path, model)


@pytest.mark.parametrize("text", ["no xml", "<mujoco><nothing/></mujoco>", "<html/>",
                                  body_of("<body><joint/></body>"), ""])  # fmt: skip
def test_files_that_are_not_mjcf_are_refused_in_one_line(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=r"model\.xml: expected an MJCF file, but MuJoCo's parser says: ") as caught:
        load_mjcf(path)
    assert "\n" not in str(caught.value)


def test_a_urdf_file_is_refused_with_a_hint(tmp_path):
    path = written(tmp_path, '<?xml version="1.0"?><robot name="r"><link name="l"/></robot>')
    with pytest.raises(ValueError, match="found a URDF file; did you mean load_urdf"):
        load_mjcf(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected an MJCF file"):
        load_mjcf(tmp_path / "there.xml")


def test_a_missing_mujoco_is_reported_with_its_installation(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"pip install 'verletlab\[mjcf\]'"):
        load_mjcf(tmp_path / "there.xml")
