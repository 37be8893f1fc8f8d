"""Robots from MJCF files: masses, inertias, poses at random joint positions, and motion agree with MuJoCo."""

import importlib
import os
from pathlib import Path

import numpy as np
import pytest
from marks import slow
from robots import agreement, bodies_in_both, loaded, motion_error, public_models

import rigid
from rigid.build import save_mjcf
from rigid.build.mjcf import compiled_mjcf
from rigid.constraints.joints.positions import JointPositions

mujoco = pytest.importorskip("mujoco")

# A cart on two rails and a hinge, as planar walkers have, with a leg of three hinges at a point, a slider and a foot
# that is welded on: armature in each joint, springs, damping, springref, default classes.
WALKER = """
<mujoco model="walker">
  <compiler angle="degree"/>
  <option integrator="RK4" timestep="0.0005"/>
  <default>
    <joint armature="0.05" damping="0.1"/>
    <default class="leg"><joint armature="0.02" stiffness="3"/><geom type="capsule" size=".04" density="900"/></default>
  </default>
  <worldbody>
    <body name="torso" pos="0 0 1.2">
      <joint name="x" type="slide" axis="1 0 0" armature="0.3"/>
      <joint name="z" type="slide" axis="0 0 1" stiffness="400" armature="0"/>
      <joint name="pitch" axis="0 1 0" stiffness="20" springref="10"/>
      <geom type="capsule" fromto="0 0 -.1 0 0 .3" size=".08"/>
      <body name="thigh" pos="0 .05 -.15" childclass="leg">
        <joint name="hip_x" axis="1 0 0" range="-40 40"/>
        <joint name="hip_z" axis="0 0 1" range="-40 30"/>
        <joint name="hip_y" axis="0 1 0" range="-60 60" springref="-20"/>
        <geom fromto="0 0 0 .05 0 -.4"/>
        <body name="shin" pos="0 0 -.45" euler="0 0 20">
          <joint name="knee" type="slide" axis="0 .2 1" stiffness="300" range="-.2 .2"/>
          <geom fromto="0 0 0 0 0 -.35"/>
          <body name="foot" pos="0 0 -.4"><geom type="box" size=".1 .05 .02" pos=".05 0 0"/></body>
        </body>
      </body>
    </body>
    <body name="crate" pos="1 1 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
    <body name="lamp" pos="-1 0 2">
      <joint name="socket" type="ball" pos="0 0 .3" damping=".02" armature="0"/><geom size=".1"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def walker(tmp_path):
    path = tmp_path / "walker.xml"
    path.write_text(WALKER, encoding="utf-8")
    return path


def test_masses_inertias_and_poses_are_those_of_mujoco(walker):
    """To 1e-9 at random joint positions; the number of joints is that of MuJoCo without free ones."""
    model, _, inertia, pose = agreement(walker)
    assert max(inertia, pose) < 1e-9
    assert [joint.armature for joint in model.joints] == [0.3, 0.0, 0.05, 0.02, 0.02, 0.02, 0.02, 0.0]


def test_hinges_with_armature_are_merged_on_request(walker):
    model, said = loaded(walker, merge=True)
    assert "hip_x, hip_z, hip_y as one ball joint, without armature" in said
    assert model.joint("hip_x+hip_z+hip_y").kind == "ball"
    with pytest.raises(ValueError, match=r"link_mass is 0\.2: expected a number above 0, and at most 0\.1"):
        loaded(walker, link_mass=0.2)


def test_armature_is_written_and_read_again(walker, tmp_path):
    model, _ = loaded(walker)
    back, _ = loaded(save_mjcf(model, tmp_path / "again.xml"), merge=False)
    assert [(j.name, j.armature) for j in back.joints] == [(j.name, j.armature) for j in model.joints]


def test_passive_motion_converges_to_that_of_mujoco(walker):
    """MuJoCo's Runge-Kutta with armature, springs and dampers; order one."""
    errors = [motion_error(walker, "articulated", h, 0.3)[0] for h in (0.002, 0.001)]
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.2)


ARM = """
<mujoco><worldbody><body name="upper"><joint name="a" axis="0 1 0" armature=".2"/>
  <geom type="capsule" fromto="0 0 0 .4 .1 0" size=".04"/><body name="lower" pos=".4 .1 0">
  <joint name="b" axis="0 1 .3" armature=".1"/><geom type="capsule" fromto="0 0 0 .3 0 .1" size=".03"/>
  <body name="tool" pos=".3 0 .1"><joint name="c" type="slide" axis="1 0 .5" armature="2"/><geom size=".05"/></body>
</body></body></worldbody></mujoco>
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "order"), [("verlet", 2), slow("impulse", 1)])
def test_motion_with_armature_has_the_order_of_the_solver(tmp_path, name, order):
    """Against MuJoCo's Runge-Kutta. Rotors do not reduce the second order of "verlet"."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM, encoding="utf-8")
    errors = [motion_error(path, name, h, 0.3, iterations=200)[0] for h in (0.004, 0.002)]
    assert errors[1] < 10 * 0.002**order
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.1)


def test_armature_and_damping_of_actuators_count_for_their_joint(tmp_path):
    """Times gear², against MuJoCo's inertia matrix and passive force."""
    path = tmp_path / "geared.xml"
    path.write_text("""<mujoco><worldbody><body>
      <joint name="j" armature=".1" damping=".2"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
      <actuator><motor joint="j" gear="3" armature="2" damping="5"/></actuator></mujoco>""", "utf-8")  # fmt: skip
    try:
        compiled = compiled_mjcf(path)
    except ValueError:
        pytest.skip("this MuJoCo knows no armature of actuators")
    model, said = loaded(path)
    data = mujoco.MjData(compiled)
    data.qvel[0] = 1.0
    mujoco.mj_forward(compiled, data)
    found, body = model.joint("j"), model.bodies[0]
    about_axis = body.inertia[2, 2] + body.mass * 0.2**2  # the axis is z, 0.2 m from the centre
    assert found.armature + about_axis == pytest.approx(compiled.dof_M0[0])
    assert -found.spring.damping == pytest.approx(data.qfrc_passive[0])
    assert said == ""


def test_armature_of_free_and_ball_joints_is_named(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text('<mujoco><worldbody><body><joint name="socket" type="ball" armature="1"/><geom size=".1"/></body>'
                    "</worldbody></mujoco>", encoding="utf-8")  # fmt: skip
    assert "left out: armature of free and ball joints (socket)" in loaded(path)[1]


ACTUATED = """
<mujoco>
  <option integrator="RK4" timestep="0.0005"/>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" armature=".05"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
      <body name="forearm" pos=".4 0 0">
        <joint name="elbow" axis="0 1 0" range="-115 115" actuatorfrcrange="-30 30"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <body name="hand" pos=".3 0 0">
          <joint name="reach" type="slide" axis="1 0 0"/><joint name="wrist" axis="1 0 0"/>
          <geom type="box" size=".05 .04 .03"/>
        </body>
      </body>
    </body>
    <body name="peer" pos=".4 .3 1"><joint name="hang" axis="0 1 0" pos="-.4 0 0"/><geom size=".05"/></body>
  </worldbody>
  <actuator>
    <motor name="push" joint="shoulder" gear="3" ctrlrange="-1 1"/>
    <position name="hold" joint="elbow" kp="60" kv="4" forcerange="-20 20"/>
    <velocity name="slow" joint="reach" kv="30"/>
    <general name="own" joint="wrist" gainprm="2" biastype="affine" biasprm=".3 -5 -.4" gear="2"/>
    <position name="twice" joint="elbow" kp="6"/><intvelocity name="slowly" joint="hang" kp="3" actrange="-1 1"/>
  </actuator>
  <equality>
    <weld name="glue" body1="peer" body2="forearm" active="false"/>
    <connect name="pin" body1="arm" body2="peer" anchor="0 .3 0"/>
  </equality>
  <keyframe>
    <key name="home" qpos=".3 -.5 .1 .4 .3" qvel="1 -2 .5 3 1" ctrl="2 .4 .2 .1 0 0"/><key name="other"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def actuated(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ACTUATED, encoding="utf-8")
    return path


def test_actuators_become_motors(actuated):
    model, said = loaded(actuated)
    motors = {joint.name: joint.motor for joint in model.joints if joint.motor}
    assert motors == {
        "shoulder": rigid.Motor(torque=0.0),
        "elbow": rigid.Motor(position=0.0, stiffness=60.0, damping=4.0, max_effort=20.0),
        "reach": rigid.Motor(speed=0.0, damping=30.0),
        "wrist": rigid.Motor(position=0.3 * 2 / 20, stiffness=20.0, damping=1.6),
    }
    assert "left out: actuators (twice, slowly); equality constraints (1)" in said
    assert model.joint("pin").kind == "ball"


PAIRS = """
<mujoco>
  <worldbody><body name="arm">
    <joint name="j" axis="0 1 0" ref="10" actuatorfrcrange="{low} {high}"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
  </body></worldbody>
  <actuator>{actuators}</actuator>
  <keyframe><key name="k" qpos=".2" ctrl="{controls}"/></keyframe>
</mujoco>
"""
MOTOR, BRAKE = '<motor joint="j" gear="2"/>', '<velocity joint="j" kv="4"/>'
SERVO = '<position joint="j" kp="30" kv="2" gear="1.5"/>'
LIMITED = SERVO.replace("/>", ' forcerange="-5 5"/>')


@pytest.mark.parametrize(
    ("actuators", "controls", "total"),
    [((MOTOR, MOTOR), "1.5 -4", 1e3), ((MOTOR, SERVO), "3 .4", 1e3), ((SERVO, BRAKE), ".5 -2", 1e3),
     ((BRAKE, MOTOR, BRAKE), "1 2 3", 1e3), ((SERVO, SERVO, MOTOR), ".5 -.3 2", 6.0), ((MOTOR, LIMITED), "0 .9", 1e3)],
)  # fmt: skip
def test_actuators_of_one_joint_are_summed(actuators, controls, total, tmp_path):
    """The motor's effort against mj_forward's, at random positions and speeds of the joint."""
    path, random = tmp_path / "pair.xml", np.random.default_rng(1)
    text = PAIRS.format(actuators="".join(actuators), controls=controls, low=-total, high=total)
    path.write_text(text, encoding="utf-8")
    model, said = loaded(path, keyframe="k")
    assert "left out" not in said
    assert "actuator 0 and actuator 1" in said
    motor, compiled = model.joint("j").motor, compiled_mjcf(path)
    data = mujoco.MjData(compiled)
    mujoco.mj_resetDataKeyframe(compiled, data, 0)
    start, efforts = data.qpos[0], []
    for _ in range(20):
        data.qpos[0], data.qvel[0] = start + random.normal(), 3 * random.normal()
        mujoco.mj_forward(compiled, data)
        if motor.controls == "torque":
            effort = motor.torque
        else:
            error = 0.0 if motor.position is None else motor.stiffness * (motor.position - (data.qpos[0] - start))
            effort = error + motor.damping * ((motor.speed or 0.0) - data.qvel[0])
        efforts.append(np.clip(effort, -motor.max_effort, motor.max_effort))
        assert data.qfrc_actuator[0] == pytest.approx(efforts[-1], abs=1e-12)
    assert np.abs(efforts).max() > 0.5


@pytest.mark.parametrize(
    ("actuators", "kept"), [((SERVO, LIMITED), SERVO), ((LIMITED, MOTOR), LIMITED), ((LIMITED, LIMITED), LIMITED)]
)
def test_actuators_without_an_exact_sum_are_named(actuators, kept, tmp_path):
    """Servos of which one has a limit; and a force beside it, which moves the limits of the sum."""
    path = tmp_path / "pair.xml"
    motors = []
    for given, controls in ((actuators, ".2 1"), ((kept,), ".2")):
        text = PAIRS.format(actuators="".join(given), controls=controls, low=-1e3, high=1e3)
        path.write_text(text, encoding="utf-8")
        model, said = loaded(path, keyframe="k")
        motors.append(model.joint("j").motor)
        assert ("left out: actuators (actuator 1)" in said) == (len(given) > 1)
    assert motors[0] == motors[1]


def test_a_keyframe_gives_pose_velocities_and_targets(actuated):
    """Velocities of all bodies against mj_objectVelocity; targets count from the pose of the keyframe."""
    model, _ = loaded(actuated, keyframe="home", link_mass=1e-3)
    compiled = compiled_mjcf(actuated)
    data = mujoco.MjData(compiled)
    mujoco.mj_resetDataKeyframe(compiled, data, 0)
    mujoco.mj_forward(compiled, data)
    for index, k in bodies_in_both(model, compiled):
        found, body = np.zeros(6), model.bodies[index]
        mujoco.mj_objectVelocity(compiled, data, mujoco.mjtObj.mjOBJ_BODY, k, found, 0)
        assert body.angular_velocity == pytest.approx(found[:3], abs=1e-12)
        assert body.velocity == pytest.approx(found[3:], abs=1e-12)
        assert body.position == pytest.approx(data.xipos[k], abs=1e-12)
    rates = JointPositions(model).velocities(model.initial_state())
    for name, rate in {"shoulder": 1, "elbow": -2, "reach": 0.5, "wrist": 3, "hang": 1}.items():
        assert rates[name] == pytest.approx(rate, abs=1e-12)
    assert model.joint("shoulder").motor.torque == 3.0  # ctrl 2 is beyond its range
    assert model.joint("elbow").motor.position == pytest.approx(0.4 - -0.5)
    assert model.joint("wrist").motor.position == pytest.approx((2 * 0.1 + 0.3) * 2 / 20 - 0.4)
    for wrong in ("hom", 2, -1):
        with pytest.raises(ValueError, match="keyframe is "):
            loaded(actuated, keyframe=wrong)


def test_motors_are_written_and_read_again(actuated, tmp_path):
    model, _ = loaded(actuated, keyframe="home")
    model.joints[:] = [joint for joint in model.joints if joint.name != "pin"]
    back, _ = loaded(save_mjcf(model, tmp_path / "again.xml"), keyframe="start", merge=False)
    assert [joint.name for joint in back.joints] == [joint.name for joint in model.joints]
    for one, other in zip(model.joints, back.joints):
        for name in ("controls", "target", "stiffness", "damping", "max_effort") if one.motor else ():
            assert getattr(other.motor, name) == pytest.approx(getattr(one.motor, name), abs=1e-12), (one.name, name)


@pytest.mark.parametrize("keyframe", [None, "home"])
def test_actuated_motion_converges_to_that_of_mujoco(actuated, keyframe):
    """MuJoCo's Runge-Kutta, without the loop that is soft there; order one."""
    text = ACTUATED
    for soft_or_left_out in (
        '<connect name="pin" body1="arm" body2="peer" anchor="0 .3 0"/>',
        '<position name="twice" joint="elbow" kp="6"/>',
        '<intvelocity name="slowly" joint="hang" kp="3" actrange="-1 1"/>',
    ):  # fmt: skip
        text = text.replace(soft_or_left_out, "")
    actuated.write_text(text.replace("2 .4 .2 .1 0 0", "2 .4 .2 .1"), encoding="utf-8")
    errors = [motion_error(actuated, "articulated", h, 0.4, keyframe=keyframe)[0] for h in (0.002, 0.001)]
    assert errors[1] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.2)


@pytest.mark.slow
def test_meshes_become_convex_parts(tmp_path):
    """A bracket of two boxes at a right angle: its hull has a corner that its parts leave free. Its mass stays."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("coacd")
    boxes = [trimesh.creation.box((0.4, 0.1, 0.1)), trimesh.creation.box((0.1, 0.1, 0.4))]
    boxes[1].apply_translation((-0.15, 0, 0.25))
    trimesh.util.concatenate(boxes).export(tmp_path / "bracket.stl")
    path = tmp_path / "bracket.xml"
    path.write_text('<mujoco><asset><mesh name="m" file="bracket.stl"/></asset><worldbody><body><freejoint/>'
                    '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>', encoding="utf-8")  # fmt: skip
    whole, parts = loaded(path)[0], loaded(path, decompose=True)[0]
    assert len(whole.shapes) == 1
    assert len(parts.shapes) > 1
    assert parts.masses == whole.masses
    volume = [sum(trimesh.convex.convex_hull(s.shape.vertices).volume for s in each.shapes) for each in (whole, parts)]
    assert volume[1] < 0.75 * volume[0]


# Directories of packages with public models, where they are installed; VERLETLAB_ROBOTS names another.
PUBLIC = {"gymnasium": "envs/mujoco/assets", "dm_control": "suite", "mujoco_menagerie": ""}


def public_directories():
    found = [os.environ["VERLETLAB_ROBOTS"]] if "VERLETLAB_ROBOTS" in os.environ else []
    for package, place in PUBLIC.items():
        spec = importlib.util.find_spec(package)
        found += [Path(root) / place for root in (spec.submodule_search_locations if spec else [])]
    return found


@pytest.mark.slow
def test_public_models_agree_with_mujoco():
    """Masses, inertias and poses to 1e-9, and passive motion of first order in the step where it is not chaotic."""
    paths = [path for directory in public_directories() for path in public_models(directory)]
    if not paths:
        pytest.skip("no public models: install gymnasium or dm_control, or set VERLETLAB_ROBOTS")
    for path in paths:
        model, _, inertia, pose = agreement(path)
        assert max(inertia, pose) < 1e-9, path
        if model.masses.min() < 1e-14:  # light bodies before one of 4e-10 kg: rows are lost in round-off
            continue
        errors = [motion_error(path, "articulated", h, 0.3, "moving")[0] for h in (0.002, 0.001)]
        assert errors[1] < max(0.6 * errors[0], 5e-6), path


LIFTED = """
<mujoco>
  <option integrator="RK4" timestep="0.0005"/>
  <worldbody>
    <body name="arm" gravcomp="1">
      <joint name="shoulder" axis="0 1 0" damping=".02"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
      <body name="forearm" pos=".4 0 0" gravcomp=".3">
        <joint name="elbow" axis="0 1 .3"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <body name="tool" pos=".3 0 0"><geom size=".02"/></body>
      </body>
    </body>
    <body name="balloon" pos="0 1 1" gravcomp="1.2"><freejoint/><geom size=".1"/></body>
    <body name="double" pos="0 2 1" gravcomp=".5">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/><geom size=".1"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_gravity_compensation_is_read_and_written(tmp_path):
    path = tmp_path / "lifted.xml"
    path.write_text(LIFTED, encoding="utf-8")
    model, said = loaded(path)
    forearm = model.body("forearm")
    share = (forearm.mass - 4 / 3 * np.pi * 0.02**3 * 1000) / forearm.mass * 0.3  # the tool has none
    scales = {body.name: body.gravity_scale for body in model.bodies}
    expected = {"arm": 0, "forearm": 1 - share, "balloon": -0.2, "double": 0.5, "x link": 0.5}
    assert scales == pytest.approx(expected, abs=1e-12)
    assert "gravity compensation of forearm and what is welded to it, by their mean" in said
    assert "left out" not in said
    back, _ = loaded(save_mjcf(model, tmp_path / "back.xml"))
    assert back.gravity_scales == pytest.approx(model.gravity_scales, abs=1e-15)


@pytest.mark.slow
def test_motion_with_gravity_compensation_converges_to_that_of_mujoco(tmp_path):
    """Of first order: a body that rises by a t²/2 is a h t/2 off, which is 0.8 mm for a tenth of gravity."""
    path = tmp_path / "lifted.xml"
    path.write_text(LIFTED.replace('<body name="tool" pos=".3 0 0"><geom size=".02"/></body>', ""), encoding="utf-8")
    errors = [motion_error(path, "articulated", h, 0.4)[0] for h in (0.002, 0.001)]
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)


def test_flags_disable_parts(tmp_path):
    path = tmp_path / "flags.xml"
    path.write_text("""<mujoco><option><flag gravity="disable" contact="disable" limit="disable" spring="disable"
      damper="disable" frictionloss="disable" actuation="disable"/></option><worldbody><body>
      <joint name="j" axis="0 1 0" range="-1 1" stiffness="3" damping="1" frictionloss="2"/><geom size=".1"/>
      </body></worldbody>
      <actuator><position joint="j" kp="5"/></actuator></mujoco>""", encoding="utf-8")  # fmt: skip
    model, _ = loaded(path)
    joint = model.joint("j")
    assert not model.gravity.any()
    assert model.shapes == []
    assert (joint.limits, joint.friction, joint.spring) == ((-np.inf, np.inf), 0.0, None)
    assert joint.motor == rigid.Motor(torque=0.0)


def test_disabled_groups_of_actuators_have_no_force(tmp_path):
    path = tmp_path / "groups.xml"
    path.write_text("""<mujoco><option actuatorgroupdisable="2"/>
      <worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
      <actuator><position joint="j" kp="5" group="2"/></actuator></mujoco>""", encoding="utf-8")  # fmt: skip
    assert loaded(path)[0].joint("j").motor == rigid.Motor(torque=0.0)
