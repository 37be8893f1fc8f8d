"""MJCF files of models: load_mjcf reads back what was saved, MuJoCo moves the same, and errors name what is missing."""

import math
import warnings

import numpy as np
import pytest
from described import Y, Z, refusal

import rigid
from benchmarks.chains import energy_scale, random_chain
from benchmarks.mujoco_solver import MujocoSolver
from rigid import rotation
from rigid.build import load_mjcf, save_mjcf
from rigid.build.mjcf_refused import UNLIMITED
from rigid.constraints.joints.gaps import joint_gaps, joint_turns

mujoco = pytest.importorskip("mujoco")

g = 9.81
CUBE = np.array([(x, y, z) for x in (-0.1, 0.2) for y in (-0.1, 0.1) for z in (-0.1, 0.3)])


def random_turn(random):
    turn = random.normal(size=4)
    return turn / np.linalg.norm(turn)


def branched():
    """A tree of all shapes, tilted at random, on all joints that MJCF has; beside it a free body."""
    random, model = np.random.default_rng(5), rigid.Model(gravity=(0.1, 0, -3.7))
    places = 0.7 * np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (-3, 0, 2)])
    surface = {"friction": 0.3, "rolling_friction": 0.02, "spinning_friction": 0.01}

    def where(k):
        return {"position": places[k], "rotation": random_turn(random), "name": f"part & {k}"}

    model.add_box((0.1, 0.2, 0.3), mass=2.0, **where(0))
    model.add_sphere(0.1, mass=1.0, friction=0.9, **where(1))
    model.add_capsule(0.05, 0.2, mass=0.5, **surface, **where(2))
    model.add_cylinder(0.1, 0.2, density=700.0, group=2, mask=1, **where(3))
    model.add_body(mass=1.5, inertia=[[0.3, 0.02, 0], [0.02, 0.2, 0.01], [0, 0.01, 0.25]], **where(4))
    model.add_shape(4, rigid.ConvexHull(CUBE), local=True)
    model.add_box((0.1, 0.1, 0.1), mass=1.0, **where(5))
    model.add_shape(rigid.GROUND, rigid.Box((1, 2, 0.1), centre=(3, 0, 0), rotation=random_turn(random)), group=4)
    model.add_ground(-1.0, friction=0.7)
    model.add_hinge(rigid.GROUND, 0, (0, 0, 0.2), Y, limits=(-0.5, math.inf), friction=0.1,
                    spring=rigid.Spring(3.0, 0.2, rest=0.3), name="hip")  # fmt: skip
    model.add_slider(0, 1, None, (1, 1, 0), limits=(-0.2, 0.4), spring=rigid.Spring(0.0, 2.0), name="rail")
    model.add_universal(1, 2, (0.7, 0.3, 0), Z, Y, parent_limits=(-0.3, 0.4), friction=0.2, name="cross")
    model.add_ball(0, 3, (0, 0.4, 0), swing_limit=0.6, twist_limits=(-0.6, 0.6), spring=rigid.Spring(2.0), name="ball")
    model.add_hinge(1, 4, (1.0, 0.1, 0), (1, 2, 3), name="elbow")
    model.add_gear("hip", "elbow", -0.5, name="belt")
    model.exclude_contact(2, 3)
    model.bodies[3].gravity_scale = 0.25
    return model


def saved_and_loaded(model, tmp_path):
    """The model that load_mjcf reads, and MuJoCo's own."""
    path = save_mjcf(model, tmp_path / "model.xml")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*limit of the whole rotation")  # of a ball: exact only for small angles
        return load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))


def test_bodies_come_back(tmp_path):
    given = branched()
    found, _ = saved_and_loaded(given, tmp_path)
    assert found.gravity == pytest.approx(given.gravity, abs=0)
    assert [body.name for body in found.bodies] == [f"part & {k}" for k in (0, 1, 2, 4, 3, 5)]  # parents, then children
    for body in found.bodies:
        old = given.body(body.name)
        assert body.mass == pytest.approx(old.mass, rel=1e-14)
        assert body.gravity_scale == old.gravity_scale
        assert body.position == pytest.approx(old.position, abs=1e-14)
        # Poses are relative to the parent, so a rotation has the round-off of some products.
        assert abs(body.rotation @ old.rotation) == pytest.approx(1, abs=1e-14)
        assert body.inertia == pytest.approx(old.inertia, abs=1e-12 * np.trace(old.inertia))


def test_joints_come_back(tmp_path):
    given = branched()
    found, _ = saved_and_loaded(given, tmp_path)
    assert sorted(joint.name for joint in found.joints) == sorted(joint.name for joint in given.joints)
    for old in given.joints:
        joint = found.joint(old.name)
        assert joint.kind == old.kind
        for side in ("parent", "child"):
            index, old_index = getattr(joint, side), getattr(old, side)
            body, old_body = found.body(index), given.body(old_index)
            ends = (body, joint), (old_body, old)
            assert body.name == old_body.name
            point, old_point = (each.world_point(getattr(of, f"{side}_anchor")) for each, of in ends)
            if joint.kind != "slider":  # its point may be anywhere on the axis
                assert point == pytest.approx(old_point, abs=1e-14)
            axes, old_axes = (each.world_direction(getattr(of, f"{side}_axes")) for each, of in ends)
            if joint.kind != "ball":  # whose frame MJCF has not
                rows = 2 if joint.kind == "universal" else 1
                assert axes[:rows] == pytest.approx(old_axes[:rows], abs=1e-14)
        assert np.array(joint.coordinate_limits()) == pytest.approx(np.array(old.coordinate_limits()), abs=1e-14)
        assert joint.friction == old.friction
        assert joint.spring == old.spring
    gear = found.gears[0]
    assert (gear.name, found.joints[gear.joint_a].name, found.joints[gear.joint_b].name) == ("belt", "hip", "elbow")
    assert gear.ratio == -0.5


def sliding():
    """A body on a cylindrical joint to the ground, and one on a planar joint to it, both moving."""
    random, model = np.random.default_rng(7), rigid.Model(gravity=(0.3, 0, -g))
    for k in range(2):
        model.add_body(mass=1.0 + k, inertia=(0.1, 0.15, 0.2), position=(0.5 * k, 0.2, 0), rotation=random_turn(random),
                       name=f"body {k}")  # fmt: skip
    model.add_cylindrical(
        rigid.GROUND, 0, (0, 0.1, 0), (1, 0.5, 1), shift_limits=(-5.0, 5.0), angle_limits=(-9.0, math.inf),
        shift_spring=rigid.Spring(8.0, 0.1, rest=0.1), angle_spring=rigid.Spring(0.5, 0.02), name="tube",
    )  # fmt: skip
    model.add_planar(
        0, 1, (0.5, 0.1, 0.1), (0, 1, 1), axis=(1, 0, 0), second_limits=(-6.0, 5.0), angle_limits=(-7.0, 8.0),
        shift_spring=rigid.Spring(4.0, 0.1), angle_spring=rigid.Spring(0.5, 0.01, rest=0.2), name="table",
    )  # fmt: skip
    for body, spin in ((0, 0.7), (1, 0.7)):  # about the tube
        axis = np.array((1, 0.5, 1)) / 1.5
        model.bodies[body].angular_velocity = spin * axis
        model.bodies[body].velocity = np.cross(spin * axis, model.bodies[body].position - (0, 0.1, 0)) + 0.2 * axis
    return model


def test_cylindrical_and_planar_joints_come_back(tmp_path):
    given = sliding()
    found, compiled = saved_and_loaded(given, tmp_path)
    assert compiled.jnt_type.tolist() == [2, 3, 2, 2, 3]  # slides and hinges
    for old in given.joints:
        joint = found.joint(old.name)
        assert joint.kind == old.kind
        assert joint.springs == pytest.approx(old.springs)
        assert np.array(joint.coordinate_limits()) == pytest.approx(np.array(old.coordinate_limits()), abs=1e-14)
        rows = 3 if old.kind == "planar" else 1
        axes, old_axes = (model.body(each.child).world_direction(each.child_axes)
                          for model, each in ((found, joint), (given, old)))  # fmt: skip
        assert axes[:rows] == pytest.approx(old_axes[:rows], abs=1e-13)


@pytest.mark.slow
def test_mujoco_moves_cylindrical_and_planar_joints_the_same(tmp_path):
    # Both integrate with steps of 1e-4 s; MuJoCo's Euler scheme and ours are of first order.
    model = sliding()
    _, compiled = saved_and_loaded(model, tmp_path)
    compiled.opt.timestep = 1e-4
    data = mujoco.MjData(compiled)
    mujoco.mj_resetDataKeyframe(compiled, data, 0)
    for _ in range(4000):
        mujoco.mj_step(compiled, data)
    solver = rigid.solver("articulated", model, dt=1e-4)
    solver.step(4000)
    found = np.concatenate([solver.joint_positions()[name] for name in ("tube", "table")])
    assert np.abs(data.qpos).min() > 1e-2
    assert found == pytest.approx(data.qpos, abs=2e-3)


def test_the_coordinate_with_a_motor_has_the_name(tmp_path):
    model = rigid.Model()
    model.add_body(mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0))
    model.add_cylindrical(rigid.GROUND, 0, (0, 0, 0), Z, angle_motor=rigid.Motor(torque=0.5), name="screw")
    _, compiled = saved_and_loaded(model, tmp_path)
    assert [compiled.joint(k).name for k in range(2)] == ["", "screw"]
    assert compiled.actuator_trnid[0, 0] == 1


def test_colliding_joints_and_rolling_friction_come_back(tmp_path):
    model = rigid.Model()
    for k, rolling in enumerate((0.02, 0.0)):
        model.add_sphere(0.2, mass=1.0, position=(k, 0, 0), rolling_friction=rolling, spinning_friction=0.01)
    model.add_hinge(0, 1, (0.5, 0, 0), Y, collide=True)
    found = load_mjcf(save_mjcf(model, tmp_path / "model.xml"), rolling=True)
    assert found.may_touch(0, 1)
    assert [(s.rolling_friction, s.spinning_friction) for s in found.shapes] == [(0.02, 0.01), (0.0, 0.01)]


def test_shapes_and_contacts_come_back(tmp_path):
    given = branched()
    found, compiled = saved_and_loaded(given, tmp_path)

    def label(model, piece):
        return model.body(piece.body).name, type(piece.shape).__name__

    placed = {label(found, piece): k for k, piece in enumerate(found.shapes)}
    order = [placed[label(given, piece)] for piece in given.shapes]
    assert sorted(order) == list(range(len(given.shapes)))
    for old, k in zip(given.shapes, order):
        piece = found.shapes[k]
        assert piece.friction == old.friction
        assert piece.shape.numbers() == pytest.approx(old.shape.numbers(), abs=1e-14)
        if isinstance(old.shape, rigid.ConvexHull):  # MuJoCo keeps vertices in 32 bits
            corners = [
                model.body(each.body).world_point(each.position + rotation.rotate(each.rotation, each.shape.vertices))
                for model, each in ((given, old), (found, piece))
            ]
            assert np.linalg.norm(corners[0][:, None] - corners[1], axis=2).min(axis=1).max() < 1e-6
            continue
        assert piece.position == pytest.approx(old.position, abs=1e-13) or isinstance(old.shape, rigid.Plane)
    count = len(order)
    pairs = [(a, b) for b in range(count) for a in range(b)]
    assert [given.may_touch(a, b) for a, b in pairs] == [found.may_touch(order[a], order[b]) for a, b in pairs]
    assert any(given.may_touch(a, b) for a, b in pairs)
    rolling = next(k for k in range(compiled.ngeom) if compiled.geom_condim[k] == 6)
    assert compiled.geom_friction[rolling] == pytest.approx((0.3, 0.01, 0.02))


def test_joined_bodies_that_collide_do_so_in_mujoco(tmp_path):
    for collide in (False, True):
        model = rigid.Model()
        for k in range(2):
            model.add_box((1, 1, 1), mass=1.0, position=(0.9 * k, 0, 0))
        model.add_hinge(0, 1, (0.5, 0, 0), Y, collide=collide)
        _, compiled = saved_and_loaded(model, tmp_path)
        data = mujoco.MjData(compiled)
        mujoco.mj_forward(compiled, data)
        assert (data.ncon > 0) == collide


def test_a_double_pendulum_begins_with_its_velocities_and_accelerations(tmp_path):
    # Two uniform rods of length l, level at rest. With angles in the world, m l² (4/3 a + b/2) = 3/2 m g l and
    # m l² (a/2 + b/3) = m g l/2: a = 9 g/(7 l), b = -3 g/(7 l).
    length, speeds = 0.5, (1.5, -0.7)
    for turning in (False, True):
        first, second = speeds if turning else (0, 0)
        model = rigid.Model(gravity=(0, 0, -g))
        for k, spin in enumerate((first, first + second)):
            falling = (0, 0, -length * (k * first + spin / 2))
            model.add_body(mass=1.0, inertia=np.array([0.1, 1, 1]) * length**2 / 12, velocity=falling,
                           position=(length * (k + 0.5), 0, 0), angular_velocity=(0, spin, 0))  # fmt: skip
            model.add_hinge(k - 1 if k else rigid.GROUND, k, (length * k, 0, 0), Y)
        _, compiled = saved_and_loaded(model, tmp_path)
        data = mujoco.MjData(compiled)
        if turning:
            mujoco.mj_resetDataKeyframe(compiled, data, 0)
            assert data.qvel == pytest.approx(speeds, abs=1e-14)
        else:
            assert compiled.nkey == 0
            mujoco.mj_forward(compiled, data)
            assert data.qacc == pytest.approx((9 / 7 * g / length, -12 / 7 * g / length), rel=1e-12)


def test_chains_at_random_keep_their_joints_and_energy_in_mujoco():
    # Balls, hinges, universal and fixed joints: with reduced coordinates they stay closed to round-off, about which
    # angles near zero have the root. Runge-Kutta of fourth order at 1 ms keeps energies to some (ω h)⁴ ~ 1e-8.
    for seed in (1, 3):
        model = random_chain(seed)
        solver = MujocoSolver(model, 1e-3, "RK4")
        start = solver.energy()
        assert start.potential == pytest.approx(g * model.masses @ model.initial_state().position[:, 2], rel=1e-12)
        solver.step(300)
        state = solver.state()
        assert np.abs(state.position - model.initial_state().position).max() > 0.1
        assert joint_gaps(model, state).max() < 1e-12
        assert joint_turns(model, state).max() < 1e-6
        assert solver.energy().total - start.total == pytest.approx(0, abs=1e-6 * energy_scale(model, 1.0))


def loop(add, **options):
    """A triangle of three boxes, whose last joint closes it. Args: add: name of the method; options: of that joint."""
    model = rigid.Model()
    corners = np.array([(0, 0, 0), (1, 0, 0), (0.5, 0, 0.8)])
    for k in range(3):
        model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(corners[k] + corners[(k + 1) % 3]) / 2)
    for k in range(2):
        model.add_hinge(k, k + 1, corners[k + 1], Y)
    getattr(model, add)(2, 0, corners[0], *options.pop("axes", ()), name="last", **options)
    return model


@pytest.mark.parametrize(("add", "axes", "count"), [("add_ball", (), 1), ("add_hinge", (Y,), 2), ("add_fixed", (), 1)])
def test_loops_become_equality_constraints(add, axes, count, tmp_path):
    path = save_mjcf(loop(add, axes=axes), tmp_path / "model.xml")
    compiled = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    assert compiled.neq == count
    assert data.nefc == {"add_ball": 3, "add_hinge": 6, "add_fixed": 6}[add]
    assert data.efc_pos == pytest.approx(0, abs=1e-12)  # closed at the start
    closing = load_mjcf(path).joints[2:]  # a hinge is two balls on its axis
    assert [joint.kind for joint in closing] == (["fixed"] if add == "add_fixed" else ["ball"] * count)


def test_distances_and_springs_become_tendons(tmp_path):
    model = rigid.Model()
    for k in range(2):
        model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(k, 0, 0))
    model.add_distance(0, 1, (0.1, 0, 0), (0.8, 0, 0), name="rod")
    model.add_distance(0, 1, (0, 0, 0.1), (1, 0, 0.1), limits=(-math.inf, 0.2), name="string")
    model.add_distance(0, 1, (0, 0.1, 0), (1, 0.1, 0), limits=(-0.3, math.inf), name="strut")
    model.add_spring(0, rigid.GROUND, (0, 0, 0), (0, 0, 2), stiffness=7.0, damping=0.5, rest_length=1.5, name="spring")
    compiled = mujoco.MjModel.from_xml_path(str(save_mjcf(model, tmp_path / "model.xml")))
    assert compiled.tendon_length0 == pytest.approx([0.7, 1, 1, 2])
    assert compiled.tendon_limited.tolist() == [0, 1, 1, 0]
    assert compiled.tendon_range[1:3] == pytest.approx(np.array([(0, 1.2), (0.7, UNLIMITED)]))
    assert (compiled.tendon_stiffness[3], compiled.tendon_damping[3]) == (7.0, 0.5)
    assert compiled.tendon_lengthspring[3] == pytest.approx((1.5, 1.5))
    assert compiled.neq == 1


def pair(add=None, **options):
    """Two boxes; the second is joined to the first by a method, if any."""
    model = rigid.Model()
    for k in range(2):
        model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(k, 0, 0.05), name=f"part {k}")
    if add:
        getattr(model, add)(0, 1, (0.5, 0, 0), *options.pop("axes", ()), name="joint", **options)
    return model


def changed(act):
    """Two boxes after a change."""
    model = pair()
    act(model)
    return model


CORNERS, FACES = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
SOLID = rigid.MeshCollider((CORNERS, FACES))
MISSING = {
    "hinge 'joint' has motor=": lambda: pair("add_hinge", axes=(Y,), motor=rigid.Motor(speed=1.0)),
    "ball 'joint' has soft=": lambda: pair("add_ball", soft=rigid.Soft(frequency=2.0)),
    "ball 'joint' has swing_limit 0.5 and twist_limits": lambda: pair("add_ball", swing_limit=0.5),
    "body 'lift' follows a path": lambda: changed(
        lambda m: m.add_box((1, 1, 1), path=lambda t: (9, 0, t), name="lift")),
    "a body called 'world'": lambda: changed(
        lambda m: m.add_box((1, 1, 1), mass=1.0, position=(9, 0, 0), name="world")),
    "Sphere of 'part 0' has restitution 0.5": lambda: changed(
        lambda m: m.add_shape(0, rigid.Sphere(0.1), local=True, restitution=0.5)),
    "MeshCollider of 'part 0': expected a convex": lambda: changed(lambda m: m.add_shape(0, SOLID, local=True)),
    "wheel 'wheel 0': expected no wheels": lambda: changed(lambda m: m.add_wheel(0, Y, 0.05)),
    "universal 'last' closes a loop: expected a ball": lambda: loop("add_universal", axes=(Y, Z)),
    "hinge 'last' closes a loop: expected no limits": lambda: loop("add_hinge", axes=(Y,), friction=1.0),
    "a spring and a distance called 'distance 0'": lambda: changed(
        lambda m: (m.add_distance(0, 1), m.add_spring(0, 1, stiffness=1.0, name="distance 0"))),
    "body 'bare' has no mass": lambda: changed(lambda m: m.add_body(name="bare")),
}  # fmt: skip


@pytest.mark.parametrize("words", MISSING)
def test_what_mjcf_has_not_is_named(words, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text("old")
    said = refusal(lambda: save_mjcf(MISSING[words](), path), ValueError)
    assert words in said
    assert "expected" in said
    assert path.read_text() == "old"


def test_arguments_are_refused(tmp_path):
    assert "model is 'torso': expected a rigid.Model" in refusal(lambda: save_mjcf("torso", "a.xml"), TypeError)
    assert "path is 3: expected the path of an MJCF file" in refusal(lambda: save_mjcf(pair(), 3), TypeError)
    with pytest.raises(OSError, match="nowhere"):
        save_mjcf(pair(), tmp_path / "nowhere" / "model.xml")


def test_messages_are_short_whatever_the_names():
    for act in (pair("add_hinge", axes=(Y,), motor=rigid.Motor(speed=1.0)), pair("add_ball", swing_limit=0.5)):
        act.joints[0].name = 80 * "n"
        assert len(refusal(lambda: save_mjcf(act, "never.xml"), ValueError)) <= 200  # noqa: B023
