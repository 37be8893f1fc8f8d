"""A refused call leaves a description exactly as it was, whatever it had done before it was refused."""

import numpy as np
import pytest
from calls import SURFACE_OF_CUBE, described
from fuzzing import content

import pbd
import rigid
from pbd import build

# Builders that add something before the error is found, with the argument that is wrong.
HALF_WAY = {
    "cloth": lambda d: build.cloth(d.particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (3, 3), drag="much"),
    "cloth thickness": lambda d: build.cloth(
        d.particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (3, 3), thickness=0.1, friction=-1
    ),
    "cloth_from_mesh": lambda d: build.cloth_from_mesh(d.particles, SURFACE_OF_CUBE, compliance=[1, 2]),
    "hexagonal_cloth": lambda d: build.hexagonal_cloth(d.particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), 3, bending=-1),
    "rope": lambda d: build.rope(d.particles, [(0, 0, 0), (1, 0, 0)], 4, mass=1, bending_compliance=-1),
    "rod": lambda d: build.rod(
        d.particles, [(0, 0, 0), (1, 0, 0)], 4, radius=0.1, density=1, young=1, clamps="end", friction=-1
    ),
    "turn": lambda d: d.particles.turn(0, float("nan")),
    "plant": lambda d: build.plant(d.particles, segments=4, levels=1, drag="much"),
    "soft_body": lambda d: build.soft_body(d.particles, SURFACE_OF_CUBE, 3, drag="much"),
    "triangles": lambda d: d.particles.add_triangles([(0, 1, 2)], drag=[1, 2, 3]),
    "angle limit": lambda d: d.particles.add_angle_limit(1, 0, 2, minimum=0.1, maximum=2, compliance="soft"),
    "ragdoll": lambda d: rigid.build.ragdoll(d.model, restitution=0.5, group=-1),
    "ragdoll whose name is half taken": lambda d: [
        d.model.add_body(name="a/left shin", mass=1, inertia=(1, 1, 1)),
        rigid.build.ragdoll(d.model, name="a"),
    ],
    "box whose path begins elsewhere": lambda d: d.model.add_box(
        (1, 1, 1), position=(1, 0, 0), path=lambda time: (0, 0, time)
    ),
}


@pytest.mark.parametrize("case", HALF_WAY)
def test_a_refused_builder_leaves_nothing(case):
    d = described()
    before = content([vars(d.particles), vars(d.model)])
    with pytest.raises((TypeError, ValueError)), d.model.transaction():
        HALF_WAY[case](d)
    assert content([vars(d.particles), vars(d.model)]) == before


def test_several_calls_are_one_transaction():
    d = described()
    before = content(vars(d.particles))
    masses = d.particles.masses()

    def add_and_stop():
        with d.particles.transaction():
            d.particles.add_particles(np.zeros((5, 3)))
            d.particles.pin([0, 9])
            d.particles.add_sticks([(0, 1), (2, 9)], length=1.0)
            d.particles.add_box((-9, -9, -9), (9, 9, 9))
            d.particles.add_particle_contacts(0.3)
            d.particles.add_volumes([(0, 1, 2, 3)])
            d.particles.gravity = np.zeros(3)
            d.particles.constraint_sets["stick", False].arrays()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_and_stop()
    assert content(vars(d.particles)) == before
    assert masses[0] == 2.0
    with d.particles.transaction():
        first = d.particles.add_particle((1, 1, 1))
    assert first == len(masses)
    assert len(d.particles) == len(masses) + 1


def test_bodies_that_move_their_frames_come_back():
    # A shape with mass moves the body's centre of mass, and with it shapes, joints and springs on the body.
    d = described()
    torso, hip, spring = d.model.bodies[0], d.model.joints[0], d.model.springs[0]
    before = content(vars(d.model))

    def add_and_fail():
        with d.model.transaction():
            d.model.add_shape("torso", rigid.Sphere(0.1, centre=(0.3, 0, 0)), mass=2.0)
            d.model.add_hinge("torso", "bare", (0, 0, 0), (0, 0, 1))
            assert torso.mass == 3.0
            assert hip.parent_anchor.any()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add_and_fail()
    assert content(vars(d.model)) == before
    assert (torso, hip, spring) == (d.model.bodies[0], d.model.joints[0], d.model.springs[0])
    assert torso.mass == 1.0


def test_every_method_that_changes_a_description_is_a_transaction():
    for owner in (pbd.Particles, rigid.Model):
        for name in dir(owner):
            if name.startswith(("add_", "exclude_", "pin")):
                assert hasattr(getattr(owner, name), "__wrapped__"), name


def test_a_loop_of_calls_stays_fast():
    # What a transaction notes is a few lengths, so that a loop of n calls takes a time of order n.
    particles = pbd.Particles()
    for k in range(3000):
        particles.add_particle((k, 0, 0))
    assert len(particles._columns["position"]) > 3000
    marks = particles._columns["position"]
    with particles.transaction():
        assert particles._columns["position"] is marks  # nothing is copied
