"""Visuals: positions and colours of what they draw."""

import numpy as np
import pytest

import pbd
import rigid
import scenes
from rigid import build
from rigid.rotation import from_axis_angle, rotate
from scenes.simulate.recording import Frame
from scenes.visuals import (
    PALETTE,
    STONE,
    BodySurfaces,
    BodyVisual,
    Camera,
    FollowingCamera,
    JointVisual,
    SpringVisual,
    Surface,
    default_visuals,
    ragdoll_colours,
)
from scenes.visuals import bodies as body_visuals
from scenes.visuals.framing import framing_camera

RNG = np.random.default_rng(5)
TURN = from_axis_angle((1, 2, 3), 1.1)


def frame_of(poses):
    """A Frame of bodies alone. Args: poses (bodies, 7)."""
    nothing = np.zeros((0, 3))
    return Frame(0.0, nothing, nothing, np.zeros((0, 7)), np.asarray(poses, float), None)


def vertices_of(drawn):
    """All vertices of Instances in the world (n, 3)."""
    scattered = [place + rotate(turn, drawn.surface.vertices) for place, turn in zip(drawn.positions, drawn.rotations)]
    return np.concatenate(scattered)


SOLIDS = {
    # Half of the extents along the axes of the shape, which the drawn surface fills.
    "sphere": (lambda model, **at: model.add_sphere(0.3, mass=1.0, **at), (0.3, 0.3, 0.3)),
    "capsule": (lambda model, **at: model.add_capsule(0.1, 0.8, mass=1.0, **at), (0.1, 0.1, 0.5)),
    "box": (lambda model, **at: model.add_box((0.2, 0.4, 0.6), mass=1.0, **at), (0.1, 0.2, 0.3)),
    "cylinder": (lambda model, **at: model.add_cylinder(0.2, 0.6, mass=1.0, **at), (0.2, 0.2, 0.3)),
    "hull": (lambda model, **at: model.add_mesh(octahedron(), mass=1.0, **at), (0.1, 0.2, 0.4)),
    # A body without shapes is the box with its inertia: m (b² + c²)/12 and so on.
    "bare": (lambda model, **at: model.add_body(mass=12.0, inertia=(0.52, 0.4, 0.2), **at), (0.1, 0.2, 0.3)),
}


def octahedron():
    """Corners on the axes at 0.1, 0.2 and 0.4 m, and triangles."""
    corners = np.concatenate([np.diag((0.1, 0.2, 0.4)), -np.diag((0.1, 0.2, 0.4))])
    return corners, np.array([(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)])


@pytest.mark.parametrize("name", SOLIDS)
def test_pose_of_a_body(name):
    add, half = SOLIDS[name]
    model = rigid.Model()
    add(model, position=(1, 2, 3), rotation=TURN)
    # In the frame of the body, at any pose, the surface has the extents of the shape.
    place, turn = np.array([-4.0, 0.5, 7.0]), from_axis_angle((0, 1, 1), 2.5)
    (drawn,) = BodyVisual(model).draw(frame_of([(*place, *turn)]))
    local = rotate(turn * (1, -1, -1, -1), vertices_of(drawn) - place)
    assert local.max(axis=0) == pytest.approx(half, rel=0.02)  # a polygon of 24 corners inside a circle
    assert local.min(axis=0) == pytest.approx(np.negative(half), rel=0.02)


def test_positions_of_several_shapes():
    model = rigid.Model()
    body = model.add_body(position=(1, 0, 0), rotation=TURN)
    for centre in ((1, 0, 0), (2, 0, 0)):
        model.add_shape(body, rigid.Sphere(0.1, centre=centre), mass=1.0)
    state = model.initial_state()
    (drawn,) = BodyVisual(model).draw(frame_of(np.hstack([state.position, state.rotation])))
    assert drawn.positions == pytest.approx(np.array([(1, 0, 0), (2, 0, 0)]), abs=1e-12)


def test_colours_of_bodies_and_ground():
    model = rigid.Model()
    model.add_ground()  # a plane is infinite; the floor shows it
    model.add_shape(rigid.GROUND, pbd.Box((1, 1, 1), centre=(5, 0, 0.5)))
    for k in range(3):
        model.add_box((1, 1, 1), mass=1.0, position=(k, 0, 2))
    poses = np.array([(k, 0, 2, 1, 0, 0, 0) for k in range(3)])
    ground, drawn = BodyVisual(model).draw(frame_of(poses))  # one size, but the ground is apart
    assert np.array_equal(ground.positions, [(5, 0, 0.5)])
    assert np.array_equal(ground.colours, [STONE])
    assert np.array_equal(drawn.positions, [(0, 0, 2), (1, 0, 2), (2, 0, 2)])
    assert np.array_equal(drawn.colours, PALETTE[:3])
    given = RNG.uniform(size=(3, 3))
    ground, drawn = BodyVisual(model, given, (0, 0, 0)).draw(frame_of(poses))
    assert np.array_equal(ground.colours, [(0, 0, 0)])
    assert np.array_equal(drawn.colours, given)


def test_distance_joints_are_rods():
    model = rigid.Model()
    ball = model.add_sphere(0.1, mass=1.0, position=(0, 0, 1))
    model.add_distance(rigid.GROUND, ball, (0, 0, 2), (0, 0, 1.1))
    model.add_ball(rigid.GROUND, model.add_sphere(0.1, mass=1.0, position=(3, 0, 1)), (3, 0, 2))
    assert [type(visual) for visual in default_visuals(None, model)] == [BodyVisual, JointVisual]
    frame = frame_of([(1, 0, 1, 1, 0, 0, 0), (3, 0, 1, 1, 0, 0, 0)])  # the sphere moved to x = 1
    (rod,) = JointVisual(model, 0.01).draw(frame)
    assert rod.vertices.max(axis=0) == pytest.approx((1.01, 0.01, 2.01), abs=0.005)
    assert rod.vertices.min(axis=0) == pytest.approx((-0.01, -0.01, 1.09), abs=0.005)
    (both,) = JointVisual(model, 0.01, kinds=("distance", "ball")).draw(frame)
    assert len(both.vertices) == 2 * len(rod.vertices)
    assert JointVisual(model, kinds=("hinge",)).draw(frame) == []


def test_springs_are_coils():
    model = rigid.Model()
    ball = model.add_sphere(0.1, mass=1.0, position=(0, 0, 1))
    model.add_spring(rigid.GROUND, ball, (0, 0, 2), (0, 0, 1.1), stiffness=10.0)
    frame = frame_of([(0, 0, 0.5, 1, 0, 0, 0)])  # the sphere moved down, with the end of the spring to z = 0.6
    (coil,) = SpringVisual(model, 0.03).draw(frame)
    assert coil.vertices[:, 2].max() == pytest.approx(2.0, abs=0.01)
    assert coil.vertices[:, 2].min() == pytest.approx(0.6, abs=0.01)
    assert np.linalg.norm(coil.vertices[:, :2], axis=1).max() == pytest.approx(0.03 + 0.006, abs=0.002)
    assert SpringVisual(model, springs=[]).draw(frame) == []


def test_surfaces_of_a_body_move_with_it():
    # A quarter turn about z takes x to y; then the body is at (3, 0, 0).
    half = np.sqrt(0.5)
    surface = Surface([(1, 0, 0), (2, 0, 0), (1, 0, 1)], [(0, 1, 2)])
    visual = BodySurfaces([(1, surface)])
    (drawn,) = visual.draw(frame_of([(0, 0, 0, 1, 0, 0, 0), (3, 0, 0, half, 0, 0, half)]))
    assert visual.body_at(0, 0) == 1
    assert vertices_of(drawn) == pytest.approx(np.array([(3, 1, 0), (3, 2, 0), (3, 1, 1)]), abs=1e-12)


def test_following_camera():
    camera = Camera((1.0, -2.0, 1.5), (0.0, 0.0, 0.2))
    seen = FollowingCamera(1, camera).at(frame_of([(9, 9, 9, 1, 0, 0, 0), (3, 4, 5, 1, 0, 0, 0)]))
    assert seen.position == pytest.approx((4, 2, 1.5))
    assert seen.target == pytest.approx((3, 4, 0.2))
    assert seen.field_of_view == camera.field_of_view


def test_colours_of_ragdolls():
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0, position=(9, 0, 0))
    ragdolls = [build.ragdoll(model, (k, 0, 0)) for k in range(2)]
    colours = ragdoll_colours(model, ragdolls, [(1, 0, 0), (0, 1, 0)], (0, 0, 1))
    assert np.array_equal(colours[[ragdoll.bodies["chest"] for ragdoll in ragdolls]], [(1, 0, 0), (0, 1, 0)])
    assert np.array_equal(colours[ragdolls[1].bodies["left thigh"]], (0, 0, 1))
    assert np.array_equal(colours[0], PALETTE[0])


def test_framing_camera_shows_whole_bodies():
    model = rigid.Model()
    model.add_box((4, 4, 4), mass=1.0)
    scene = scenes.Scene(model=model)
    camera = framing_camera(scene, frame_of([(0, 0, 0, 1, 0, 0, 0)]), 16 / 9)
    corners = np.array([(x, y, z) for x in (-2, 2) for y in (-2, 2) for z in (-2, 2)])
    pixels = camera.project(corners, 160, 90)
    assert (pixels >= 0).all()
    assert (pixels <= (160, 90)).all()


def test_light_bodies_between_joints_are_not_drawn():
    """Two joints of one body, as load_mjcf has them; the body and one elsewhere, without shapes, are drawn as boxes."""
    model = rigid.Model()
    light, body = (model.add_body(mass=m, inertia=(m, m, m), position=(0, 0, 1)) for m in (0.1, 1.0))
    other = model.add_body(mass=1.0, inertia=(1, 1, 1), position=(3, 0, 1))
    model.add_slider(rigid.GROUND, light, None, (1, 0, 0))
    model.add_hinge(light, body, (0, 0, 1), (0, 1, 0))
    model.add_hinge(body, other, (1, 0, 1), (0, 1, 0))
    assert sorted(BodyVisual(model).moving_shapes.bodies) == [body, other]


def test_surfaces_of_bodies_are_made_when_they_are_drawn(monkeypatch):
    made, surface = [], body_visuals.shape_surface
    monkeypatch.setattr(body_visuals, "shape_surface", lambda shape: made.append(shape) or surface(shape))
    model = rigid.Model()
    model.add_ground()
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 1))
    visual = BodyVisual(model)
    assert not made  # ten thousand runs of a sweep draw nothing
    for _ in range(2):
        visual.draw(frame_of([(0, 0, 1, 1, 0, 0, 0)]))
    assert len(made) == 1
