"""Bodies on meshes, for all solvers: inner edges stop nothing, meshes move, and fast bodies do not pass through."""

import math

import numpy as np
import pytest
import trimesh
from marks import cases

import rigid
import scenes
from rigid.rotation import from_axis_angle

g = 9.81


def sheet(triangles, length=20.0, width=4.0, slope=0.0):
    """A rectangle of so many triangles, which falls along x with a slope [rad]: vertices, triangles."""
    columns = max(int(math.sqrt(triangles / 2)), 1)
    rows = triangles // 2 // columns
    x, y = np.meshgrid(np.linspace(-length / 2, length / 2, columns + 1), np.linspace(-width / 2, width / 2, rows + 1))
    vertices = np.stack([x * math.cos(slope), y, -x * math.sin(slope)], axis=-1).reshape(-1, 3)
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    above = first + columns + 1
    lower, upper = np.stack([first, first + 1, above + 1], axis=1), np.stack([first, above + 1, above], axis=1)
    return vertices, np.concatenate([lower, upper])


def run(solver, seconds):
    solver.step(round(seconds / solver.dt))


@pytest.mark.parametrize("triangles", [2, 2000])
@pytest.mark.parametrize("name", cases(rigid.SOLVERS, slow=["articulated", "impulse", "verlet"]))
def test_a_ball_rolls_down_a_ramp(name, triangles):
    # A solid ball rolls without slip at a = 5/7 g sin θ, if friction allows: tan θ < 7/2 μ. "impulse" and "articulated"
    # have that to round-off, because normals are the same on all triangles. "verlet" moves corners along tangents, and
    # the springs of "penalty" yield: both lack a part of order h.
    angle, r = math.radians(15), 0.2
    down, up = np.array([math.cos(angle), 0, -math.sin(angle)]), np.array([math.sin(angle), 0, math.cos(angle)])
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Mesh(sheet(triangles, slope=angle)), friction=0.8)
    model.add_sphere(r, mass=1.0, position=-8 * down + r * up + (0, 0.137, 0), friction=0.8)
    solver = rigid.solver(name, model)
    run(solver, 1.0)
    speed, time = solver.state().velocity[0] @ down, solver.time
    run(solver, 1.0)
    acceleration = (solver.state().velocity[0] @ down - speed) / (solver.time - time)
    within = {"verlet": 2e-3, "penalty": 4e-3}.get(name, 1e-9)
    assert acceleration == pytest.approx(5 / 7 * g * math.sin(angle), rel=within)
    assert solver.state().velocity[0, 1] == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(rigid.SOLVERS, slow=["articulated", "penalty"]))
def test_a_box_slides_over_inner_edges_of_a_floor(name):
    # Without friction nothing brakes a box on a flat floor: its speed stays. A contact with any of the inner edges that
    # it crosses would take a part of it.
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Mesh(sheet(200)), friction=0.0)
    heading = from_axis_angle((0, 0, 1), 0.4)
    model.add_box((0.6, 0.5, 0.3), mass=1.0, position=(-8, 0.137, 0.15), rotation=heading, velocity=(5, 0.3, 0))
    solver, speeds = rigid.solver(name, model), []
    for _ in range(25):
        run(solver, 0.1)
        speeds.append(np.linalg.norm(solver.state().velocity[0, :2]))
    assert np.abs(np.array(speeds) / math.hypot(5, 0.3) - 1).max() < (1e-4 if name == "penalty" else 1e-9)
    assert solver.state().position[0, 2] == pytest.approx(0.15, abs=2e-3)  # "penalty" sinks by 1.1 mm
    # The stiffness of "penalty" is shared by contact points, whose number changes: the box rocks by 0.02 rad/s.
    assert np.abs(solver.state().angular_velocity[0]).max() < (0.05 if name == "penalty" else 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(rigid.SOLVERS, slow=["verlet", "articulated", "penalty"]))
def test_a_mesh_carries_a_box_along_its_path(name):
    # A box on a lift of triangles stays at its place on it: z = 0.15 + 0.3 t, x = 0.2 t.
    model = rigid.Model()
    lift = model.add_body(path=lambda t: np.array([0.2 * t, 0, 0.3 * t]))
    model.add_shape(lift, rigid.Mesh(sheet(50, length=2.0, width=2.0)), local=True, friction=0.8)
    box = model.add_box((0.6, 0.5, 0.3), mass=1.0, position=(0, 0.03, 0.15), velocity=(0.2, 0, 0.3), friction=0.8)
    solver = rigid.solver(name, model)
    run(solver, 1.0)
    assert solver.state().position[box] == pytest.approx((0.2, 0.03, 0.45), abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(rigid.SOLVERS, slow=["verlet", "articulated", "penalty"]))
def test_a_body_of_triangles_stands_on_the_ground_and_carries_a_ball(name):
    # The block rests with its lowest corners on the plane, the ball of radius 0.1 m rests on its top.
    model = rigid.Model()
    model.add_ground(friction=0.8)
    block = trimesh.creation.box((1.0, 0.8, 0.4)).subdivide()
    table = model.add_body(name="table", position=(0, 0, 0.2))
    model.add_shape(table, rigid.Mesh(block, sides="outside"), local=True, mass=5.0, friction=0.8)
    ball = model.add_sphere(0.1, mass=1.0, position=(0.1, 0.07, 0.5), friction=0.8)
    solver = rigid.solver(name, model)
    run(solver, 1.0)
    state = solver.state()
    assert state.position[table] == pytest.approx((0, 0, 0.2), abs=4e-3)
    assert state.position[ball] == pytest.approx((0.1, 0.07, 0.5), abs=6e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["verlet", "impulse", "articulated"])
def test_thin_fast_plates_do_not_pass_through(name):
    # A plate of 2 mm at 30 m/s moves by 0.5 m in a step, 250 times its thickness. Contacts within the way of a step are
    # found before it, so its centre stays above the surface, which is open to both sides.
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Mesh(sheet(200, length=4.0)), friction=0.5)
    model.add_box((0.3, 0.3, 0.002), density=2000.0, position=(0.1, 0.05, 3.0), velocity=(0, 0, -30))
    solver = rigid.solver(name, model, dt=1 / 60)
    lowest = math.inf
    for _ in range(60):
        solver.step()
        lowest = min(lowest, solver.state().position[0, 2])
    assert lowest > 0


@pytest.mark.slow
def test_worlds_have_the_same_mesh_and_their_own_bodies():
    # Both worlds take the same steps as alone, to the bit.
    mesh = rigid.Mesh(sheet(200))

    def model(speed):
        made = rigid.Model()
        made.add_shape(rigid.GROUND, mesh)
        made.add_sphere(0.2, mass=1.0, position=(-8, 0.1, 0.2), velocity=(speed, 0, 0))
        return made

    both = rigid.solver("impulse", [model(1.0), model(2.0)], worlds=2)
    run(both, 0.5)
    for world, speed in enumerate((1.0, 2.0)):
        alone = rigid.solver("impulse", model(speed))
        run(alone, 0.5)
        assert np.array_equal(both.state().position[world], alone.state().position)


@pytest.mark.slow
def test_ten_ragdolls_rest_on_a_terrain_of_a_hundred_thousand_triangles():
    # They fall from 1 m, with 10 kJ. At rest none overlaps the terrain by more than 5 mm, and all together have less
    # than 1 J, 0.001 of a fall by 1 cm each.
    scene = scenes.load("terrain")
    model, settings = scene.model, scene.settings["impulse"]
    assert len(model.shapes[0].shape.triangles) > 100_000
    solver = rigid.solver("impulse", model, **settings)
    run(solver, 5.0)
    assert solver.energy().kinetic < 1.0
    heights = solver.state().position[:, 2]
    assert heights.min() > model.shapes[0].shape.heights.min() - 0.05
