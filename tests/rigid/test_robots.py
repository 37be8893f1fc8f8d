"""Robots from MJCF files: masses, inertias, poses at random joint positions, and motion agree with MuJoCo."""

import numpy as np
import pytest
from robots import inertia_error, loaded, motion_error, moved_poses, pose_error, random_positions

from rigid.build import save_mjcf
from rigid.build.mjcf import Reader

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


def agrees(path, random, count=10):
    """The Model of a file, after its masses, inertias and poses were compared with MuJoCo's."""
    model, _ = loaded(path, merge=False, link_mass=1e-6)
    compiled, start = mujoco.MjModel.from_xml_path(str(path)), Reader(path, None).data.qpos.copy()
    data = mujoco.MjData(compiled)
    data.qpos[:] = start
    mujoco.mj_kinematics(compiled, data)
    assert inertia_error(model, compiled, data) < 1e-9
    movable = sum(kind != mujoco.mjtJoint.mjJNT_FREE for kind in compiled.jnt_type)
    assert len(model.joints) == movable
    for _ in range(count):
        data.qpos[:] = random_positions(compiled, random)
        mujoco.mj_kinematics(compiled, data)
        assert pose_error(model, compiled, data, moved_poses(model, compiled, data.qpos, start)) < 1e-9
    return model


def test_masses_inertias_and_poses_are_those_of_mujoco(walker):
    """To 1e-9 at random joint positions; the number of joints is that of MuJoCo without free ones."""
    model = agrees(walker, np.random.default_rng(3))
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


@pytest.mark.parametrize(("name", "ratio"), [("articulated", 2), pytest.param("verlet", 2, marks=pytest.mark.slow)])
def test_passive_motion_converges_to_that_of_mujoco(walker, name, ratio):
    """MuJoCo's Runge-Kutta with armature, springs and dampers. Implicit dampers are of first order in both."""
    errors = [motion_error(walker, name, h, 0.3) for h in (0.002, 0.001)]
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(ratio, rel=0.2)


def test_armature_of_free_and_ball_joints_is_named(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text('<mujoco><worldbody><body><joint name="socket" type="ball" armature="1"/><geom size=".1"/></body>'
                    "</worldbody></mujoco>", encoding="utf-8")  # fmt: skip
    assert "left out: armature of free and ball joints (socket)" in loaded(path)[1]
