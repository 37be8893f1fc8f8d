"""A person and a chain from MJCF: numbers and motion agree with MuJoCo."""

import math
import warnings

import numpy as np
import pytest
from marks import slow

import rigid
from rigid import rotation
from rigid.build import load_mjcf

mujoco = pytest.importorskip("mujoco")

# A person with features of public humanoids: default classes, limbs from end to end, one to three hinges at a joint, a
# ball joint, a free root, welded parts, motors and tendons.
PERSON = """
<mujoco model="person">
  <compiler angle="degree" inertiafromgeom="true"/>
  <default>
    <motor ctrlrange="-1 1"/>
    <default class="limb">
      <geom type="capsule" friction=".7" density="985"/>
      <joint type="hinge" damping="2" armature=".01" limited="true"/>
      <default class="knee"><joint axis="0 -1 0" range="-150 2"/></default>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1"/>
    <light pos="0 0 3"/>
    <body name="trunk" pos="0 0 1.25" childclass="limb">
      <freejoint name="root"/>
      <camera name="behind" pos="-2 0 0"/>
      <geom name="chest" fromto="0 -.08 0 0 .08 0" size=".08"/>
      <body name="skull" pos="0 0 .19"><geom type="sphere" size=".09"/><site name="nose" pos=".1 0 0"/></body>
      <body name="pelvis" pos="-.01 0 -.25" quat="1 0 -.002 0">
        <joint name="waist_z" axis="0 0 1" range="-45 45" pos="0 0 .06"/>
        <joint name="waist_y" axis="0 1 0" range="-75 30" pos="0 0 .06"/>
        <geom name="seat" type="box" size=".08 .12 .07"/>
        <body name="thigh" pos="0 .1 -.05">
          <joint name="hip_x" axis="1 0 0" range="-30 10"/>
          <joint name="hip_z" axis="0 0 1" range="-60 35"/>
          <joint name="hip_y" axis="0 1 0" range="-110 20"/>
          <geom fromto="0 0 0 0 .01 -.34" size=".06"/>
          <body name="shin" pos="0 .01 -.4">
            <joint name="knee" class="knee" pos="0 0 .02"/>
            <geom fromto="0 0 0 0 0 -.3" size=".05"/>
            <body name="foot" pos="0 0 -.39" euler="0 0 10">
              <joint name="ankle" axis="0 1 0" range="-50 50"/>
              <geom type="box" size=".1 .04 .03" pos=".05 0 0" density="700"/>
            </body>
          </body>
        </body>
      </body>
      <body name="arm" pos="0 -.17 .06">
        <joint name="shoulder" type="ball" range="0 80" damping="1"/>
        <geom fromto="0 0 0 .16 -.16 -.16" size=".04"/>
        <body name="forearm" pos=".18 -.18 -.18">
          <joint name="elbow" axis="0 -1 1" range="-90 50"/>
          <geom fromto="0 0 0 .14 .14 .14" size=".03"/>
          <body name="hand" pos=".18 .18 .18"><geom type="sphere" size=".04"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="knee" joint="knee" gear="80"/></actuator>
  <tendon><fixed name="ham"><joint joint="hip_y" coef=".5"/><joint joint="knee" coef="-.5"/></fixed></tendon>
  <keyframe><key name="squat" qpos="0 0 .6 1 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0"/></keyframe>
</mujoco>
"""


def loaded(tmp_path, text, **options):
    """The Model, MuJoCo's model and data after mj_forward, and the warnings."""
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_mjcf(path, **options)
    compiled = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    return model, compiled, data, [str(one.message) for one in caught if issubclass(one.category, UserWarning)]


WELDED = {"trunk": ("trunk", "skull"), "forearm": ("forearm", "hand")}


def test_a_person_has_the_masses_and_poses_of_mujoco(tmp_path):
    model, compiled, data, _ = loaded(tmp_path, PERSON, merge=True)
    assert [body.name for body in model.bodies] == ["trunk", "pelvis", "thigh", "shin", "foot", "arm", "forearm"]
    assert model.masses.sum() == pytest.approx(compiled.body_mass.sum(), rel=1e-13)
    for body in model.bodies:
        ids = [compiled.body(name).id for name in WELDED.get(body.name, (body.name,))]
        masses = compiled.body_mass[ids]
        assert body.mass == pytest.approx(masses.sum(), rel=1e-13)
        assert np.abs(body.position - masses @ data.xipos[ids] / masses.sum()).max() < 1e-12
        first = ids[0]
        R = rotation.to_matrix(body.rotation)
        assert np.abs(R - data.xmat[first].reshape(3, 3)).max() < 1e-12
        origin = body.world_point(-compiled.body_ipos[first])
        if len(ids) == 1:
            assert np.abs(origin - data.xpos[first]).max() < 1e-12
            assert np.linalg.eigvalsh(body.inertia) == pytest.approx(np.sort(compiled.body_inertia[first]), rel=1e-12)


def test_a_person_has_the_joints_and_ranges_of_mujoco(tmp_path):
    model, compiled, data, messages = loaded(tmp_path, PERSON, merge=True)
    kinds = {joint.name: joint.kind for joint in model.joints}
    assert kinds == {"waist_z+waist_y": "universal", "hip_x+hip_z+hip_y": "ball", "knee": "hinge", "ankle": "hinge",
                     "shoulder": "ball", "elbow": "hinge"}  # fmt: skip

    def span(name):
        return pytest.approx(compiled.jnt_range[compiled.joint(name).id], abs=1e-15)

    for name in ("knee", "ankle", "elbow"):
        joint = model.joint(name)
        assert joint.limits == span(name)
        k = compiled.joint(name).id
        body = model.bodies[joint.child]
        assert np.abs(body.world_direction(joint.child_axes[0]) - data.xaxis[k]).max() < 1e-12
        assert np.abs(body.world_point(joint.child_anchor) - data.xanchor[k]).max() < 1e-12
        assert joint.spring.damping == compiled.dof_damping[compiled.jnt_dofadr[k]]
    waist = model.joint("waist_z+waist_y")
    assert waist.parent_limits == span("waist_z")
    assert waist.child_limits == span("waist_y")
    assert model.joint("shoulder").swing_limit == pytest.approx(math.radians(80), abs=1e-15)
    # The thigh is along z, the twist axis. The cone is as wide as the wider of the other two ranges, 130°.
    hip = model.joint("hip_x+hip_z+hip_y")
    assert hip.twist_limits == span("hip_z")
    assert hip.swing_limit == pytest.approx(math.radians(65), abs=1e-12)

    shapes = [type(piece.shape).__name__ for piece in model.shapes]
    assert sorted(shapes) == sorted(["Plane", *["Capsule"] * 5, *["Sphere"] * 2, *["Box"] * 2])
    assert len(messages) == 1
    for words in ("left out: tendons (ham)", "hip_x, hip_z, hip_y as one ball joint, without armature",
                  "shoulder: limit of the whole rotation"):  # fmt: skip
        assert words in messages[0]
    for words in ("camera", "light", "site", "keyframe", "behind", "nose"):
        assert words not in messages[0]


@pytest.mark.slow
def test_a_person_falls_and_comes_to_rest(tmp_path):
    model, *_ = loaded(tmp_path, PERSON, merge=True)
    solver = rigid.solver("verlet", model, dt=1 / 60, iterations=10, substeps=4)
    solver.step(480)
    state = solver.state()
    assert state.position[:, 2].max() < 0.5
    assert state.position[:, 2].min() > 0.0
    assert solver.energy().kinetic < 1e-2 * model.masses.sum()
    slack = math.radians(0.5)
    for name in ("knee", "ankle", "elbow"):
        low, high = model.joint(name).limits
        assert low - slack < solver.joint_positions()[name] < high + slack


# A ball joint, an oblique hinge and two hinges at right angles.
CHAIN = """
<mujoco>
  <option integrator="RK4" timestep="0.0005"/>
  <worldbody>
    <body name="upper" euler="0 30 10">
      <joint name="socket" type="ball"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04" mass="2"/>
      <geom type="box" size=".05 .1 .03" pos=".2 .1 0" mass="1"/>
      <body name="middle" pos=".45 0 0" euler="20 0 0">
        <joint name="pin" axis="0 1 .5" {spring}/>
        <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03" mass="1"/>
        <body name="lower" pos=".33 .1 0">
          <joint name="a" axis="0 1 0" {damping}/>
          <joint name="b" axis="0 0 1" {damping}/>
          <geom type="box" size=".12 .05 .04" pos=".12 0 .02" mass=".8"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.slow
@pytest.mark.parametrize(("spring", "damping", "order"), [
    ("", "", 2),
    slow('stiffness="3" springref="40" damping=".05"', 'damping=".02"', 1),
])  # fmt: skip
def test_the_motion_of_a_chain_converges_to_that_of_mujoco(tmp_path, spring, damping, order):
    # MuJoCo's Runge-Kutta in generalised coordinates against frames of particles. The order of convergence is two; it
    # is one with springs and dampers, which use implicit Euler.
    model, compiled, data, messages = loaded(tmp_path, CHAIN.format(spring=spring, damping=damping))
    assert messages == []
    start = data.xipos.copy()
    while data.time < 0.4 - 1e-9:
        mujoco.mj_step(compiled, data)
    mujoco.mj_kinematics(compiled, data)
    ids = [compiled.body(body.name).id for body in model.bodies]
    expected = data.xipos[ids]
    assert np.abs(expected - start[ids]).max() > 0.3

    def error(h):
        solver = rigid.solver("verlet", model, dt=h, iterations=300, contacts=False)
        solver.step(round(0.4 / h))
        return np.abs(solver.state().position - expected).max()

    errors = [error(h) for h in (0.004, 0.002)]
    assert errors[1] < 5e-4
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.2)
