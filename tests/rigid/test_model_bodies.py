"""Bodies of a model: their mass properties and the frames of their shapes."""

import math
import warnings

import numpy as np
import pytest
import trimesh

import rigid
from rigid import mass, rotation

SEEDS = range(10)


def test_solids_have_their_mass_and_pose():
    model = rigid.Model()
    pose = {"position": (1, 2, 3), "rotation": (0, 0.6, 0, 0.8), "velocity": (4, 5, 6), "angular_velocity": (7, 8, 9)}
    model.add_box((0.4, 0.2, 0.1), mass=1.2, **pose)
    model.add_sphere(0.1, density=1000, **pose)
    model.add_capsule(0.1, 0.5, density=1000, **pose)
    model.add_cylinder(0.1, 0.5, density=1000, **pose)
    water = {"density": 1000}
    expected = [mass.box((0.4, 0.2, 0.1), mass=1.2), mass.sphere(0.1, **water), mass.capsule(0.1, 0.5, **water),
                mass.cylinder(0.1, 0.5, **water)]  # fmt: skip
    for index, own in enumerate(expected):
        body, shape = model.bodies[index], model.shapes[index]
        assert body.mass == own.mass
        assert np.array_equal(body.inertia, own.inertia)
        for name, value in pose.items():
            assert np.array_equal(getattr(body, name), value)
        assert shape.body == index
        assert np.array_equal(shape.position, (0, 0, 0))
        assert np.array_equal(shape.rotation, (1, 0, 0, 0))
    assert np.array_equal(model.masses, [own.mass for own in expected])
    assert model.inertias.shape == (4, 3, 3)


@pytest.mark.parametrize("add", ["add_capsule", "add_cylinder"])
def test_start_and_end_are_equivalent_to_length_and_pose(add):
    """The same limb, given by its ends and by its pose."""
    model = rigid.Model()
    start, end = np.array([1.0, 0, 2]), np.array([1.0, 0.3, 1.6])
    limb = model.body(getattr(model, add)(0.05, start=start, end=end, density=1000, name="arm"))
    for z, point in ((-0.25, start), (0.25, end)):
        assert np.abs(limb.world_point(np.array([0, 0, z])) - point).max() < 1e-15
    other = model.body(getattr(model, add)(0.05, 0.5, density=1000, position=limb.position, rotation=limb.rotation))
    assert other.mass == pytest.approx(limb.mass, rel=1e-15)
    assert np.allclose(other.inertia, limb.inertia, rtol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_body_of_several_shapes(seed):
    """Mass, centre and inertia agree with the parallel-axis theorem. Joints, springs and shapes stay in place, and
    every point keeps its velocity."""
    random = np.random.default_rng(seed)
    q = rotation.normalised(random.normal(size=4))
    spin, v = random.normal(size=3), random.normal(size=3)
    shapes = [rigid.Box((0.2, 0.3, 0.4), centre=random.normal(size=3), rotation=random.normal(size=4)),
              rigid.Sphere(0.2, centre=random.normal(size=3)),
              rigid.Capsule(0.1, start=random.normal(size=3), end=random.normal(size=3)),
              rigid.ConvexHull(random.normal(size=(12, 3)))]  # fmt: skip
    densities = [300.0, 900.0, None, 120.0]
    model = rigid.Model()
    empty = model.add_body(position=(0, 0, 1), rotation=q, velocity=v, angular_velocity=spin, name="thing")
    point, axis = random.normal(size=3), random.normal(size=3)
    model.add_hinge(rigid.GROUND, "thing", point, axis)
    model.add_spring("thing", rigid.GROUND, point, (0, 0, 0), stiffness=1.0)
    other = model.add_sphere(0.1, mass=1.0)
    model.add_hinge("thing", other, point, axis)
    model.add_spring(other, "thing", (0, 0, 0), point, stiffness=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some of these random shapes are far from the body
        for shape, density in zip(shapes, densities):
            model.add_shape("thing", shape, density=density)
    body = model.body(empty)
    heavy = [(shape, density) for shape, density in zip(shapes, densities) if density]
    whole = mass.combined([mass.of_shape(shape, density=density).moved(*shape.pose()) for shape, density in heavy])
    R = rotation.to_matrix(body.rotation)
    assert body.mass == pytest.approx(whole.mass, rel=1e-14)
    assert np.abs(body.position - whole.centre).max() < 1e-14
    assert np.abs(R @ body.inertia @ R.T - whole.inertia).max() < 1e-13 * np.abs(whole.inertia).max()
    assert np.abs(body.velocity - (v + np.cross(spin, whole.centre - (0, 0, 1)))).max() < 1e-13
    for anchor in (model.joints[0].child_anchor, model.joints[1].parent_anchor, model.springs[0].anchor_a,
                   model.springs[1].anchor_b):  # fmt: skip
        assert np.abs(body.world_point(anchor) - point).max() < 1e-14
    pieces = [piece for piece in model.shapes if piece.body == empty]
    for piece, shape in zip(pieces, shapes):
        position, turn = shape.pose()
        assert np.abs(body.world_point(piece.position) - position).max() < 1e-14
        placed = rotation.to_matrix(rotation.multiply(body.rotation, piece.rotation))
        assert np.abs(placed - rotation.to_matrix(turn)).max() < 1e-14


def test_a_shape_without_mass_only_collides():
    model = rigid.Model()
    body = model.body(model.add_body(mass=2.0, inertia=(1, 2, 2.5), position=(0, 0, 1)))
    model.add_shape(0, rigid.Sphere(1.0, centre=(5, 0, 0)))
    assert (body.mass, body.inertia[2, 2], body.position[2]) == (2.0, 2.5, 1.0)
    model.add_shape(0, rigid.Sphere(1.0, centre=(2, 0, 1)), mass=2.0)
    assert (body.mass, body.position.tolist()) == (4.0, [1.0, 0.0, 1.0])


def test_a_shape_in_body_coordinates_is_the_same_shape_in_world_coordinates():
    """The body is rotated by 90° about z: its x axis is the world's y axis."""
    quarter = rotation.from_axis_angle((0, 0, 1), math.pi / 2)
    model = rigid.Model()
    for name in ("world", "local"):
        model.add_box((1, 1, 1), mass=1.0, position=(3, 0, 2), rotation=quarter, name=name)
    model.add_shape("world", rigid.Box((0.2, 0.3, 0.4), centre=(3, 1, 2), rotation=quarter), mass=0.5)
    model.add_shape("local", rigid.Box((0.2, 0.3, 0.4), centre=(1, 0, 0)), mass=0.5, local=True)
    world, local = model.bodies
    assert np.allclose(world.position, local.position, rtol=0, atol=1e-15)
    assert np.allclose(world.inertia, local.inertia, rtol=0, atol=1e-15)
    assert np.allclose(model.shapes[2].position, model.shapes[3].position, rtol=0, atol=1e-15)
    assert np.allclose(model.shapes[2].rotation, model.shapes[3].rotation, rtol=0, atol=1e-15)


def test_a_shape_far_from_its_body_raises_a_warning():
    """The radii are 0.1 √3 = 0.173 m (body) and 0.1 m (shape): the limit is 5 · 0.273 = 1.37 m."""
    model = rigid.Model()
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 2), name="torso")
    words = r"Sphere 2 m from the centre of mass of 'torso': expected at most 1.37 m, .* did you mean local=True\?"
    with pytest.warns(UserWarning, match=words) as caught:
        model.add_shape("torso", rigid.Sphere(0.1))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.add_shape("torso", rigid.Sphere(0.1), local=True)
        model.add_shape("torso", rigid.Sphere(0.1, centre=(0, 0, 3.3)))
        model.add_shape(rigid.GROUND, rigid.Sphere(0.1, centre=(100, 0, 0)))
        model.add_shape(model.add_body(), rigid.Sphere(0.1, centre=(100, 0, 0)), mass=1.0)  # no centre of mass before


def test_meshes_as_hulls_and_as_solids():
    """A torus beside its origin: the body's frame moves to the centre of mass; shape and motion stay."""
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12)
    torus.vertices += (0.5, 0, 0)
    q, spin = rotation.from_axis_angle((0, 0, 1), math.pi / 2), np.array([0, 0, 2.0])
    for convex in (True, False):
        model = rigid.Model()
        pose = {"position": (0, 0, 3), "rotation": q, "angular_velocity": spin}
        body = model.body(model.add_mesh(torus, convex=convex, density=10.0, name="ring", **pose))
        own = mass.convex_hull(torus.vertices, density=10.0) if convex else mass.mesh(torus, density=10.0)
        assert body.mass == pytest.approx(own.mass, rel=1e-14)
        assert np.abs(body.inertia - own.inertia).max() < 1e-13 * own.inertia.max()
        assert np.allclose(body.position, (0, 0.5, 3), rtol=0, atol=1e-14)
        assert np.allclose(body.velocity, (-1, 0, 0), rtol=0, atol=1e-14)  # ω × (0, 0.5, 0)
        piece = model.shapes[0]
        placed = body.world_point(piece.position + rotation.rotate(piece.rotation, piece.shape.vertices))
        given = rotation.rotate(q, np.asarray(torus.vertices)) + (0, 0, 3)
        # each vertex of the hull is a vertex of the mesh
        assert np.abs(placed[:, None] - given[None]).max(axis=2).min(axis=1).max() < 1e-14


def test_ground_and_static_shapes_are_in_world_coordinates():
    model = rigid.Model()
    ground = model.shapes[model.add_ground(height=-0.5, friction=0.8, restitution=0.1)]
    wall = rigid.Box((1, 1, 1), centre=(1, 2, 3), rotation=(0, 0, 0, 1))
    wall = model.shapes[model.add_shape("ground", wall, group=4, mask=2)]
    assert (ground.body, ground.friction, ground.restitution) == (rigid.GROUND, 0.8, 0.1)
    assert np.array_equal(ground.position, (0, 0, -0.5))
    assert (wall.body, wall.group, wall.mask) == (rigid.GROUND, 4, 2)
    assert np.array_equal(wall.position, (1, 2, 3))
    assert np.array_equal(wall.rotation, (0, 0, 0, 1))


def test_may_touch():
    model = rigid.Model()
    floor = model.add_ground()
    for k in range(3):
        model.add_sphere(0.1, mass=1.0, position=(k, 0, 1))
    ghost = model.add_shape(2, rigid.Sphere(0.1, centre=(2, 0, 2)), group=2, mask=2)
    second_floor = model.add_ground(height=-1)
    a, b, c = 1, 2, 3  # the spheres' shapes
    assert all(model.may_touch(*pair) for pair in ((a, b), (b, a), (b, c), (a, floor), (floor, c)))
    assert not model.may_touch(ghost, a)  # a's mask has every bit, but the ghost's mask does not have a's group
    assert not model.may_touch(c, ghost)  # one body
    assert not model.may_touch(floor, second_floor)
    model.add_ball(0, 1, (0.5, 0, 1))
    model.add_hinge(rigid.GROUND, 2, (2, 0, 1), (0, 1, 0))
    model.add_ball(1, 2, (1.5, 0, 1), collide=True)
    assert not model.may_touch(a, b)
    assert model.may_touch(c, floor)
    assert model.may_touch(b, c)
    model.exclude_contact("sphere 2", 0)
    assert not model.may_touch(a, c)
