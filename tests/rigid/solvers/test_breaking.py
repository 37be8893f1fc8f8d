"""Joints that break: at which load, what they leave, snapshots, and what is refused."""

import math

import numpy as np
import pytest
from marks import cases, slow

import rigid
from rigid.rotation import from_axis_angle

G, ARM, MASS, RADIUS = 9.81, 1.0, 2.0, 0.2
SHARE = 1 / (1 + 0.4 * RADIUS**2 / ARM**2)  # of the motion of the centre in the kinetic energy: m l²/(m l² + I)
SOLVERS = ("verlet", "impulse", "articulated", "penalty")
H = {"verlet": 1e-3, "impulse": 1e-3, "articulated": 1e-3, "penalty": 2.5e-4}


def pendulum(break_force=math.inf, angle=80.0, joint="hinge", **limits):
    """A ball on a light rod, fixed to it, that begins `angle` degrees from where it hangs, at rest."""
    model = rigid.Model()
    turned = math.radians(angle)
    place = (-ARM * math.sin(turned), 0, -ARM * math.cos(turned))
    ball = model.add_sphere(RADIUS, mass=MASS, position=place)
    if joint == "hinge":
        model.add_hinge(rigid.GROUND, ball, (0, 0, 0), (0, 1, 0), break_force=break_force, name="top", **limits)
    else:
        model.add_ball(rigid.GROUND, ball, (0, 0, 0), break_force=break_force, name="top", **limits)
    return model


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["articulated", "verlet"]))
@pytest.mark.parametrize("joint", ["hinge", slow("ball")])
def test_a_pendulum_breaks_at_its_tension(solver, joint):
    # From rest at φ0 the speed is v² = 2 k g l (cos φ - cos φ0), where k is SHARE. The tension m g cos φ + m v²/l is T
    # at cos φ = (T/(m g) + 2 k cos φ0)/(1 + 2 k). Then the ball flies: its acceleration is g.
    turned, limit = math.radians(80.0), 1.5 * MASS * G
    made = rigid.solver(solver, pendulum(limit, joint=joint), dt=H[solver])
    while not made.events:
        made.step()
        assert made.time < 1.0
    event, state = made.events[0], made.state()
    assert (event.kind, event.members, event.world) == ("break", ("top",), 0)
    assert event.time == made.time
    assert event.position == pytest.approx((0, 0, 0), abs=8e-3)  # a penalty joint gives by T/k
    cosine = (limit / (MASS * G) + 2 * SHARE * math.cos(turned)) / (1 + 2 * SHARE)
    assert -state.position[0, 2] / ARM == pytest.approx(cosine, abs=5e-3)
    speed = math.sqrt(2 * SHARE * G * ARM * (cosine - math.cos(turned)))
    assert np.linalg.norm(state.velocity[0]) == pytest.approx(speed, rel=1e-2)
    steps = 100
    made.step(steps)
    # Free fall: velocities to round-off, v_n = v_0 + n h g.
    fallen = state.velocity[0] + (0, 0, -G * steps * H[solver])
    assert made.state().velocity[0] == pytest.approx(fallen, abs=1e-9)
    assert np.abs(made.joint_forces()["top"]).max() == 0.0
    assert len(made.events) == 1


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet", "articulated", "penalty"]))
def test_a_joint_below_its_limits_is_one_that_cannot_break(solver):
    # The largest tension is m g (3 - 2 cos φ0) = 2.66 m g.
    made = [rigid.solver(solver, pendulum(limit), dt=H[solver]) for limit in (2.8 * MASS * G, 1e9)]
    for each in made:
        each.step(800)
        assert each.events == []
    assert made[0].digest() == made[1].digest()


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet", "articulated"]))
def test_a_cantilever_breaks_by_its_torque(solver):
    # A weight m g at an arm l loads a fixed joint with the torque m g l. A spring that is loaded at once gives twice as
    # far at most.
    for part, count in ((2.02 if solver == "penalty" else 1.02, 0), (0.98, 1)):
        model = rigid.Model()
        beam = model.add_box((0.4, 0.05, 0.05), mass=1.0, position=(0.5, 0, 1))
        model.add_fixed(rigid.GROUND, beam, (0, 0, 1), break_torque=part * G * 0.5)
        made = rigid.solver(solver, model, dt=H[solver])
        made.step(round(0.2 / H[solver]))
        assert len(made.events) == count


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet"]))
def test_limits_motors_and_springs_break_with_their_joint(solver):
    more = {"limits": (-0.2, 0.1), "friction": 0.5, "spring": rigid.Spring(stiffness=3.0)}
    if solver != "penalty":
        more["motor"] = rigid.Motor(speed=2.0, max_effort=1.0)
    made = rigid.solver(solver, pendulum(0.5 * MASS * G, angle=30.0, **more), dt=H[solver])
    made.step(round(0.1 / H[solver]))
    assert len(made.events) == 1
    before = made.state().velocity[0]
    made.step(200)
    assert made.state().velocity[0] == pytest.approx(before + (0, 0, -G * 200 * H[solver]), abs=1e-9)
    made.step(round(0.5 / H[solver]))
    assert made.state().position[0, 2] < -2.0


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet", "articulated", "penalty"]))
def test_a_snapshot_continues_with_what_is_broken(solver):
    model = pendulum(1.5 * MASS * G)
    made = rigid.solver(solver, model, dt=H[solver])
    whole = made.state()
    made.step(round(0.6 / H[solver]))
    assert made.events
    broken = made.state()
    made.step(50)
    other = rigid.solver(solver, model, dt=H[solver])
    other.set_state(broken)
    other.step(50)
    assert other.digest() == made.digest()
    assert other.events == []
    other.set_state(whole)
    other.step(round(0.6 / H[solver]))
    assert other.digest() == rigid_digest(solver, broken)
    assert other.events == made.events


def rigid_digest(solver, state):
    """The digest of a solver in a state."""
    made = rigid.solver(solver, pendulum(1.5 * MASS * G), dt=H[solver])
    made.set_state(state)
    return made.digest()


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet", "impulse", "articulated"]))
def test_each_world_breaks_by_itself(solver):
    # Each world has the events and the bits that it has alone, also after a snapshot in which one joint is broken. The
    # largest tension is 2.66 m g, so the last world's joint stays whole. Friction breaks with its joint.
    limits = np.array([1.2, 1.5, 2.8]) * MASS * G
    models = [pendulum(limit, limits=(-2.0, 2.0), friction=0.05) for limit in limits]
    h = 2 * H[solver]
    steps = round(0.3 / h)
    together = rigid.solver(solver, models, dt=h)
    together.step(steps)
    middle = together.state()
    before = len(together.events)
    together.step(steps)
    assert 0 < before < len(together.events) == 2
    resumed = rigid.solver(solver, models, dt=h)
    resumed.set_state(middle)
    resumed.step(steps)
    assert resumed.digest() == together.digest()
    assert resumed.events == together.events[before:]
    for world, model in enumerate(models):
        alone = rigid.solver(solver, model, dt=h)
        alone.step(2 * steps)
        assert alone.events == [event._replace(world=0) for event in together.events if event.world == world]
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            assert getattr(together.state(), name)[world].tobytes() == getattr(alone.state(), name).tobytes()


@pytest.mark.slow
def test_a_break_wakes_the_bodies_of_its_world_alone():
    # All sleep until a force that one joint does not bear. Sleeping bodies stay where they are, to the last bit.
    models = []
    for limit in (1.5 * MASS * G, 3.0 * MASS * G):
        model = rigid.Model()
        ball = model.add_sphere(RADIUS, mass=MASS, position=(0, 0, -ARM))
        model.add_ball(rigid.GROUND, ball, (0, 0, 0), break_force=limit, name="top")
        models.append(model)
    made = rigid.solver("impulse", models, dt=0.01, sleep_speed=0.01)
    made.step(100)
    made.set_forces(0, force=[(0, 0, -MASS * G), (0, 0, 0)])
    made.step(20)
    assert [(event.world, event.members) for event in made.events] == [(0, ("top",))]
    assert made.state().position[0, 0, 2] < -ARM - 0.1
    assert made.state().position[1, 0, 2] == pytest.approx(-ARM, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet", "articulated", "penalty"]))
def test_a_chain_parts_at_its_weakest_joint(solver):
    # Balls one under another hang at rest. Joint k bears the weight of all below it. The second is too weak.
    model, before = rigid.Model(), rigid.GROUND
    for k in range(4):
        ball = model.add_sphere(0.05, mass=1.0, position=(0, 0, -0.2 * (k + 1)))
        limit = 2.5 * G if k == 1 else 4.5 * G
        model.add_ball(before, ball, (0, 0, -0.2 * k), break_force=limit, name=f"joint {k}")
        before = ball
    made = rigid.solver(solver, model, dt=H[solver])
    made.step(round(0.3 / H[solver]))
    assert [event.members for event in made.events] == [("joint 1",)]
    height = made.state().position[:, 2]
    assert height[0] == pytest.approx(-0.2, abs=2e-3)
    assert (height[1:] < (-0.2 * np.array([2, 3, 4])) - 0.3).all()


@pytest.mark.slow
def test_all_that_a_joint_of_frames_has_breaks_with_it():
    # Spheres of 1 kg are pulled away from those of 2 kg, to which they are joined. Every joint passes on more than its
    # limit. Then a sphere moves as if it had never been joined: v_{n+1} = v_n + F h/m, and it keeps its spin.
    model, h, force = rigid.Model(gravity=(0, 0, 0)), 1e-3, np.array([30.0, 40.0, 50.0])
    spring, limits = rigid.Spring(stiffness=5.0, damping=0.1), {"limits": (-0.1, 0.1), "friction": 0.1}
    more = {"break_force": 10.0, "collide": False}
    for k in range(6):
        a = model.add_sphere(0.1, mass=2.0, position=(2.0 * k, 0, 0))
        b = model.add_sphere(0.1, mass=1.0, position=(2.0 * k + 0.4, 0, 0), angular_velocity=(0.5, 0, 0))
        point, axis = (2.0 * k + 0.2, 0, 0), (1, 0, 0)
        if k == 0:
            model.add_ball(a, b, point, swing_limit=0.1, twist_limits=(-0.1, 0.1), friction=0.1, spring=spring, **more)
        elif k == 1:
            motor = rigid.Motor(speed=1.0)  # unbounded: an equality of other joints
            model.add_hinge(a, b, point, axis, spring=spring, motor=motor, armature=0.01, **limits, **more)
        elif k == 2:
            model.add_universal(a, b, point, axis, (0, 1, 0), **more)
        elif k == 3:
            model.add_slider(a, b, point, (0, 1, 0), **limits, **more)
        elif k == 4:
            model.add_hinge(a, b, point, axis, limits=(-9.0, 9.0), **more)  # counted over full turns
        else:
            model.add_distance(a, b, limits=(-0.001, 0.001), **more)
    made = rigid.solver("verlet", model, dt=h)
    for k in range(6):
        made.set_forces(2 * k + 1, force=force)
    made.step(30)
    assert len(made.events) == 6
    made.set_motor("hinge 1", speed=5.0)
    before = made.state()
    made.step(200)
    after = made.state()
    assert after.velocity[::2] == pytest.approx(before.velocity[::2], abs=1e-9)
    assert after.velocity[1::2] == pytest.approx(before.velocity[1::2] + 200 * h * force, abs=1e-9)
    assert after.angular_velocity == pytest.approx(before.angular_velocity, abs=1e-7)


def test_refused():
    for name in ("break_force", "break_torque"):
        for value, expected in ((0.0, "above zero"), (-1.0, "above zero"), (float("nan"), "finite|NaN")):
            model = rigid.Model()
            body = model.add_sphere(0.1, mass=1.0)
            with pytest.raises(ValueError, match=f"{name} is .*{expected}"):
                model.add_hinge(rigid.GROUND, body, (0, 0, 0), (0, 1, 0), **{name: value})
            assert not model.joints
    loop = pendulum(10.0)
    loop.add_distance(rigid.GROUND, 0, (0, 0, 0), (-ARM, 0, 0), name="stay")
    with pytest.raises(NotImplementedError, match="joint 'stay' closes a loop of joints"):
        rigid.solver("verlet", loop)
    with pytest.raises(ValueError, match="models of different structure"):
        rigid.solver("impulse", [pendulum(10.0), pendulum()])
    model = pendulum(10.0)
    body = model.add_sphere(0.1, mass=1.0, position=(1, 0, 0))
    other = model.add_hinge(rigid.GROUND, body, (1, 0, 1), (0, 1, 0))
    model.add_gear("top", other, 2.0)
    with pytest.raises(ValueError, match="joint 'top' breaks and has a gear"):
        rigid.solver("impulse", model)
    model = pendulum(10.0)
    model.bodies[0].rotation = from_axis_angle((0, 1, 0), 0.0)
    with pytest.raises(ValueError, match="breaks: expected no break_force"):
        rigid.build.save_mjcf(model, "unwritten.xml")
