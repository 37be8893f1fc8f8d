"""Worlds of bodies in the lanes of vectors have the bits of each world alone."""

import math

import numpy as np
import pytest
from elsewhere import run_elsewhere
from marks import needs_lanes

import rigid
from rigid.rotation import multiply

pytestmark = needs_lanes

SETTINGS = {"dt": 1 / 60, "substeps": 2, "iterations": 6, "solve": "iterative", "direction": "current"}


def everything(world, solid=True):
    """All shapes and joints, which fall onto the ground and onto one another, otherwise in each world.

    Args: world: its number; solid: whether there are boxes, cylinders and hulls, whose kernels take long to compile.
    """
    random, model = np.random.default_rng(world), rigid.Model()
    model.add_ground(friction=0.5, restitution=0.2)

    def body(shape, position, rotation=(1, 0, 0, 0), restitution=0.0):
        motion = {"velocity": random.normal(size=3), "angular_velocity": 3.0 * random.normal(size=3)}
        body = model.add_body(position=position, rotation=rotation, **motion)
        options = {"friction": 0.1 * body, "restitution": restitution, "density": 500.0, "local": True}
        model.add_shape(body, shape, **options)
        return body

    at = 0.02 * random.normal(size=3)
    box = rigid.Box((0.3, 0.2, 0.1)) if solid else rigid.Capsule(0.1, length=0.2)
    first = body(box, at + (0, 0, 0.3), restitution=0.5)
    second = body(rigid.Capsule(0.05, length=0.2), at + (0.3, 0, 0.3), rotation=(0.7, 0, 0.7, 0.1))
    third = body(rigid.Sphere(0.08), at + (0.5, 0, 0.3), restitution=0.8)
    fourth = body(rigid.Cylinder(0.06, length=0.1) if solid else rigid.Sphere(0.06), at + (0, 0.25, 0.5))
    fifth = body(rigid.Capsule(0.04, length=0.3), at + (0.25, 0.2, 0.6))
    if solid:
        body(rigid.Cylinder(0.1, length=0.1).hull(sides=5), at + (0.1, 0.1, 0.9))
    motor = rigid.Motor(speed=1.0, max_effort=2.0)
    model.add_hinge(first, second, (0.2, 0, 0.3), (0, 1, 0), limits=(-0.3, 0.2), motor=motor, name="hinge")
    model.add_ball(second, third, (0.42, 0, 0.3), swing_limit=0.4)
    model.add_slider(first, fourth, (0, 0.25, 0.5), (0, 0, 1), limits=(-0.05, 0.1))
    model.add_spring(fourth, fifth, stiffness=200.0, damping=2.0)
    return model


def solvers(models, lanes, **options):
    """A solver of several worlds in lanes, and one of each world alone."""
    options = {**SETTINGS, **options}
    together = rigid.solver("verlet", models, lanes=lanes, **options)
    assert together.statistics().lanes == lanes
    return together, [rigid.solver("verlet", model, **options) for model in models]


def require_same(together, alone):
    """Check states, contacts and statistics of all worlds."""
    state, statistics = together.state(), together.statistics()
    for world, single in enumerate(alone):
        found = single.state()
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            assert np.array_equal(getattr(state, name)[world], getattr(found, name)), (name, world)
        one = single.statistics()
        assert (statistics.residual[world], statistics.contacts[world]) == (one.residual, one.contacts)
        for mine, own in zip(together.contact_forces(world), single.contact_forces()):
            assert np.array_equal(mine, own)


def push(together, alone):
    """Set forces that differ between worlds, and a motor's target."""
    forces = np.random.default_rng(0).normal(size=(len(alone), 3))
    together.set_forces(0, force=forces, point=0.1 * forces)
    together.set_motor("hinge", speed=2.0)
    for force, single in zip(forces, alone):
        single.set_forces(0, force=force, point=0.1 * force)
        single.set_motor("hinge", speed=2.0)


def fall(lanes, worlds, solid):
    models = [everything(world, solid) for world in range(worlds)]
    together, alone = solvers(models, lanes)
    most = 0
    for k in range(6):
        if k == 3:
            push(together, alone)
        for solver in (together, *alone):
            solver.step(8)
        require_same(together, alone)
        most = max(most, together.statistics().contacts.max())
    assert most > 4
    start = together.state()
    together.step(5)
    after = together.state()
    together.set_state(start)
    together.step(5)
    assert np.array_equal(after.position, together.state().position)


@pytest.mark.slow
def test_joints_and_round_shapes_have_the_bits_of_each_world_alone():
    fall(lanes=4, worlds=5, solid=False)


def pair_of_capsules(world):
    """Two capsules on a floor that cross, lie side by side, end to end or in one another, or do not touch."""
    model, angle = rigid.Model(), (0.0, 1e-3, 0.1, 0.6, math.pi / 2)[world % 5]
    apart = ((0, 0, 0.19), (0.25, 0.05, 0.1), (0.49, 0, 0.05), (0, 0, 0), (0, 0, 0.3), (0, 0.15, 0.05))[world % 6]
    lying = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # along x
    turned = multiply((math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)), lying)
    model.add_ground()
    for place, rotation in ((0.0, 0.0, 0.1), lying), (np.add(apart, (0.0, 0.0, 0.1)), turned):
        body = model.add_body(position=place, rotation=rotation)
        model.add_shape(body, rigid.Capsule(0.1, length=0.3), density=500.0, local=True)
    return model


@pytest.mark.slow
def test_capsules_touch_in_the_points_of_each_world_alone():
    """Worlds in lanes share the places of points, of which a pair of capsules has up to three."""
    together, alone = solvers([pair_of_capsules(world) for world in range(30)], lanes=8)
    for _ in range(3):
        for solver in (together, *alone):
            solver.step(1)
        require_same(together, alone)
    counts = {len(single.contact_forces().gaps) for single in alone}
    assert counts >= {3, 4, 5, 6}


@pytest.mark.slow
def test_joints_that_are_solved_directly_have_the_bits_of_worlds_without_lanes():
    """Worlds make different numbers of parts of a substep, and those that are done wait."""
    models = [everything(world, solid=False) for world in range(5)]
    options = {**SETTINGS, "solve": "auto", "iterations": 3}
    together, one_by_one = (rigid.solver("verlet", models, lanes=lanes, **options) for lanes in (4, 1))
    assert together.statistics().direct > 0
    for _ in range(6):
        for solver in (together, one_by_one):
            solver.step(8)
        assert together.digest() == one_by_one.digest()
        assert np.array_equal(together.statistics().contacts, one_by_one.statistics().contacts)
        for world in range(5):
            pairs = zip(together.contact_forces(world), one_by_one.contact_forces(world))
            assert all(np.array_equal(mine, own) for mine, own in pairs)
    assert together.statistics().contacts.max() > 4


@pytest.mark.slow
def test_bodies_that_follow_a_path_have_the_bits_of_worlds_without_lanes():
    """The path has a rotation, which is read between the start and the end of a substep."""

    def path(time):
        half = 0.2 * math.sin(2 * time)
        return (0.3 * math.sin(3 * time), 0.0, 0.1 * math.cos(5 * time)), (math.cos(half), 0.0, math.sin(half), 0.0)

    model = everything(0, solid=False)
    model.add_shape(model.add_body(path=path), rigid.Capsule(0.1, length=2.0), local=True)
    forces = 30.0 * np.random.default_rng(0).normal(size=(5, 3))
    digests = []
    for lanes in (4, 1):
        solver = rigid.solver("verlet", model, worlds=5, lanes=lanes, **{**SETTINGS, "solve": "auto", "iterations": 3})
        solver.set_forces(0, force=forces)
        solver.step(40)
        assert solver.statistics().contacts.min() > 0
        digests.append(solver.digest())
    assert digests[0] == digests[1]


@pytest.mark.slow  # its kernels compile for half a minute
def test_all_shapes_have_the_bits_of_each_world_alone():
    fall(lanes=4, worlds=5, solid=True)


def test_models_that_lanes_do_not_do_run_one_world_at_a_time():
    many = rigid.Model()
    for k in range(60):
        many.add_sphere(0.1, position=(0.3 * k, 0, 0), density=1.0)
    assert rigid.solver("verlet", many, worlds=8, **SETTINGS).particle_system.lanes == 1
    with pytest.raises(ValueError, match="lanes is 4 with so many shapes that a hash finds their pairs: expected lan"):
        rigid.solver("verlet", many, worlds=8, lanes=4, **SETTINGS)
    assert rigid.solver("verlet", everything(0), worlds=2, **SETTINGS).particle_system.lanes == 1
    assert rigid.solver("verlet", everything(0), worlds=40, **SETTINGS).particle_system.lanes > 1


def program():
    """Run in a process of its own."""
    fall(lanes=8, worlds=9, solid=False)


@pytest.mark.slow
def test_lanes_of_32_bits():
    run_elsewhere(__file__, "program()", "f32", opt_level=0)
