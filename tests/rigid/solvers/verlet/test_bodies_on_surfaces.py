"""Bodies of "verlet" on triangles and segments of the user's particles: they touch them between particles, too."""

import math
import warnings

import numpy as np
import pytest
from marks import slow

import pbd
import rigid
from pbd import build
from rigid.rotation import from_axis_angle, rotate

G = 9.81
RADIUS = 0.005  # half the thickness of sheets, and of ropes
SETTINGS = {"dt": 1 / 60, "substeps": 8, "iterations": 10, "solve": "iterative"}


def sheet(particles, count=5, side=1.0, rotation=(1.0, 0, 0, 0), self_contact=True, **options):
    """A square of triangles in the plane z = 0 about the origin, whose particles have no radius; triangles (n, 3)."""
    corners = np.array([(-side / 2, -side / 2, 0), (side, 0, 0), (0, side, 0)])
    made = build.cloth(particles, *rotate(rotation, corners), (count, count), thickness=0.0, **options)
    particles.add_surface(made.triangles, thickness=2 * RADIUS, friction=0.3, self_contact=self_contact)
    return made.triangles


def solver(particles, model, **options):
    return rigid.solver("verlet", model, particles=particles, **{**SETTINGS, **options})


def position(system, body=0):
    return system.state().position[body]


@pytest.mark.parametrize("name", ["sphere", *map(slow, ("box", "capsule", "hull"))])
def test_a_body_rests_on_the_middle_of_a_triangle(name):
    # No particle is within 10 cm of the body. Its lowest point rests at half the thickness above the triangles, within
    # the skin of bodies at rest, which is below a hundredth of their size.
    particles, model = pbd.Particles(), rigid.Model()
    sheet(particles, count=4)
    particles.pin(np.arange(particles.count))
    height, at = 0.03, np.array([0.05, -0.06, 0.06])
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    shape = {
        "sphere": pbd.Sphere(height, centre=at),
        "box": pbd.Box((0.05, 0.06, 2 * height), centre=at),
        "capsule": pbd.Capsule(height, 0.05, centre=at, rotation=from_axis_angle((0, 1, 0), math.pi / 2)),
        "hull": pbd.ConvexHull(at + height * corners),
    }[name]
    model.add_shape(model.add_body(), shape, density=500, friction=0.5)
    system = solver(particles, model)
    system.step(120)
    assert position(system) == pytest.approx([at[0], at[1], RADIUS + height], abs=3e-4)


@pytest.mark.parametrize("place", ["collider", "body"])
def test_a_ball_rests_on_the_edge_of_a_hull_as_on_that_of_a_box(place):
    # The nearest point is on the edge, so a ball of radius R balances at R above it, not at √2 R, where the planes of
    # both sides are at R.
    radius, half, turn = 0.05, 0.1, from_axis_angle((0, 1, 0), math.pi / 4)
    corners = rotate(turn, half * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]))
    edge = corners[:, 2].max()
    for shape in (pbd.Box(3 * [2 * half], rotation=turn), pbd.ConvexHull(corners)):
        particles, model = pbd.Particles(), rigid.Model()
        particles.add_particle((0, 0, edge + 1.2 * radius), mass=1.0, radius=radius)
        if place == "collider":
            particles.add_collider(shape)
        else:
            model.add_shape(rigid.GROUND, shape)
        system = solver(particles, model)
        system.step(20)
        assert system.particle_system.positions()[0] == pytest.approx([0, 0, edge + radius], abs=1e-4)


@pytest.mark.slow
def test_a_ball_rests_between_two_segments():
    # Each rope is one straight segment, d from the other. The ball's middle is √((R + r)² - d²/4) above them.
    particles, model, distance, ball = pbd.Particles(), rigid.Model(), 0.08, 0.06
    for y in (-distance / 2, distance / 2):
        rope = build.rope(particles, [(-0.5, y, 0), (0.5, y, 0)], 1, mass=0.1)
        particles.add_segments(rope.sticks, radius=RADIUS, friction=0.3)
    particles.pin(np.arange(4))
    model.add_shape(model.add_body(), pbd.Sphere(ball, centre=(0.02, 0, 0.08)), density=500)
    system = solver(particles, model)
    system.step(120)
    expected = math.sqrt((ball + RADIUS) ** 2 - distance**2 / 4)
    assert position(system) == pytest.approx([0.02, 0, expected], abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 9])
def test_a_box_on_an_inclined_sheet_slides_at_the_angle_of_friction(count):
    # It stays at rest at atan μ - 0.5°, and has the acceleration g (sin θ - μ cos θ) at atan μ + 0.5°, on triangles
    # larger than the box and smaller ones: between its corners the surface has no bumps.
    friction, moved = 0.3, []
    for angle in (math.atan(friction) - math.radians(0.5), math.atan(friction) + math.radians(0.5)):
        turn, particles, model = from_axis_angle((0, 1, 0), angle), pbd.Particles(), rigid.Model()
        sheet(particles, count, 1.2, turn)
        particles.pin(np.arange(particles.count))
        start = rotate(turn, np.array([-0.15, 0.03, 0.02 + RADIUS + 1e-3]))
        model.add_shape(
            model.add_body(), pbd.Box((0.14, 0.12, 0.04), centre=start, rotation=turn), density=500, friction=friction
        )
        system = solver(particles, model)
        system.step(60)  # it has landed, and what slid at that has stopped
        landed, speed = position(system), np.linalg.norm(system.state().velocity[0])
        system.step(60)
        moved.append(np.linalg.norm(position(system) - landed) - (speed if len(moved) else 0.0))
    assert moved[0] < 0.002
    expected = 0.5 * G * (math.sin(angle) - friction * math.cos(angle))
    assert moved[1] == pytest.approx(expected, rel=0.2)


def momenta(system):
    """Linear momentum, and angular momentum about the origin, of all particles, those of bodies included."""
    of = system.particle_system
    momentum = of.particles.masses()[:, None] * of.velocities()
    return np.array([momentum.sum(axis=0), np.cross(of.positions(), momentum).sum(axis=0)])


def impact(seed, kind):
    """Two bodies of any kind hit a free sheet or rope from both sides at 5 m/s, without gravity."""
    random = np.random.default_rng(seed)
    particles, model = pbd.Particles(gravity=(0, 0, 0)), rigid.Model(gravity=(0, 0, 0))
    if kind == "sheet":
        sheet(particles, self_contact=False, density=1.0, bending=None)
    else:
        rope = build.rope(particles, [(-0.5, 0, 0), (0.5, 0.1, 0)], 4, mass=0.5)
        particles.add_segments(rope.sticks, radius=RADIUS, friction=0.3, self_contact=False)
    for side in (-1, 1):
        at = np.array([*random.uniform(-0.25, 0.25, 2), 0.25 * side]) * (1, kind == "sheet", 1)
        turn = random.normal(size=4)
        turn /= np.linalg.norm(turn)
        shapes = (
            pbd.Sphere(0.06, centre=at), pbd.Box((0.15, 0.1, 0.05), centre=at, rotation=turn),
            pbd.Capsule(0.02, 0.2, centre=at, rotation=turn),
        )  # fmt: skip
        body = model.add_body(velocity=(0, 0, -5 * side), angular_velocity=random.normal(0, 3, 3))
        model.add_shape(body, shapes[random.integers(3)], density=500, friction=0.5)
    return solver(particles, model, substeps=4, damping=0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "kind"),
    [(0, "sheet"), slow(0, "rope"), *(slow(seed, kind) for seed in range(1, 9) for kind in ("sheet", "rope"))],
)
def test_contacts_keep_both_momenta(seed, kind):
    # Both momenta are about one in SI units, to round-off of 80 substeps of ten iterations. A sheet has no bending: its
    # own constraint keeps angular momentum to 1e-8 only.
    system = impact(seed, kind)
    before, touched = momenta(system), False
    for _ in range(20):
        system.step()
        touched |= len(system.contact_forces().bodies) > 0
    assert touched
    assert np.abs(momenta(system) - before).max() < 1e-11


def thrown(seed, speed, radius):
    """A body of any kind falls on a sheet 10 mm thick of soft cotton, with edges of 8 to 33 cm.

    Args: seed: of the sheet, which is held at its border or its corners, and of the throw; speed: at most [m/s];
    radius: of needles [m]. Returns: Particles, a Model.
    """
    random = np.random.default_rng(seed)
    particles, model = pbd.Particles(), rigid.Model()
    pins = (("top", "bottom", "left", "right"), ("left_top", "right_top", "left_bottom", "right_bottom"))[seed % 2]
    sheet(particles, int(random.integers(4, 14)), density=random.uniform(0.3, 2.0), pins=pins)
    at, turn = np.array([*random.uniform(-0.2, 0.2, 2), 0.3]), random.normal(size=4)
    turn /= np.linalg.norm(turn)
    corners = np.array([(x, y, z) for x in (-0.08, 0.05) for y in (-0.05, 0.03) for z in (-5e-4, 5e-4)])
    shape = (
        pbd.Sphere(0.05, centre=at), pbd.Box((0.15, 0.1, 0.05), centre=at, rotation=turn),
        pbd.Capsule(0.02, 0.2, centre=at, rotation=turn), pbd.Capsule(radius, 0.2, centre=at, rotation=turn),
        pbd.Box((0.15, 0.1, 0.001), centre=at, rotation=turn), pbd.Cylinder(0.05, 0.001, centre=at, rotation=turn),
        pbd.ConvexHull(at + rotate(turn, corners)),
    )[seed % 7]  # fmt: skip
    body = model.add_body(velocity=(0, 0, -random.uniform(0, speed)), angular_velocity=random.normal(0, 3, 3))
    model.add_shape(body, shape, density=1000, friction=0.5)
    return particles, model


@pytest.mark.parametrize("seed", [10, *(slow(seed) for seed in range(28))])
def test_bodies_do_not_pass_through_sheets(seed):
    # Balls, boxes, rods, needles of 8 mm and plates of 1 mm at up to 8 m/s, in steps of 2 ms.
    particles, model = thrown(seed, 8.0, 0.004)
    system = solver(particles, model)
    for _ in range(30 if seed == 10 else 90):
        system.step()
        assert system.crossings() == 0
        place = system.state().position[0]
        inside = np.abs(place[:2]).max() < 0.4
        assert not inside or place[2] > system.particle_positions()[:, 2].min() - 0.1


def thrown_at_ropes(seed):
    """Three plates, boxes or discs are thrown at three ropes of 8 mm at up to 20 m/s. Returns: Particles, a Model."""
    random = np.random.default_rng(seed)
    particles, model, count = pbd.Particles(), rigid.Model(), int(random.integers(4, 16))
    for y in random.uniform(-0.2, 0.2, 3):
        ends = [(-0.5, y, 0), (0.5, y + random.uniform(-0.1, 0.1), 0)]
        rope = build.rope(particles, ends, count, mass=random.uniform(0.05, 0.5))
        particles.add_segments(rope.sticks, radius=0.004, friction=0.3)
        particles.pin(rope.particles[[0, -1]])
    for height in (0.25, 0.55, 0.85):
        at, turn = np.array([*random.uniform(-0.3, 0.3, 2), height]), random.normal(size=4)
        turn /= np.linalg.norm(turn)
        shape = (
            pbd.Box((0.15, 0.1, 0.001), centre=at, rotation=turn), pbd.Box((0.15, 0.1, 0.05), centre=at, rotation=turn),
            pbd.Cylinder(0.05, 0.002, centre=at, rotation=turn),
        )[random.integers(3)]  # fmt: skip
        body = model.add_body(velocity=(0, 0, -random.uniform(2, 20)), angular_velocity=random.normal(0, 5, 3))
        model.add_shape(body, shape, density=1000, friction=0.5)
    return particles, model


@pytest.mark.slow
@pytest.mark.parametrize(("at", "seed"), [*(("sheet", k) for k in range(100, 140)), *(("rope", k) for k in range(20))])
def test_what_is_too_fast_is_told_before_it_passes(at, seed):
    # Needles of 1 mm and plates at up to 20 m/s move by up to 42 mm in a substep. A run may end with an error, or warn
    # that momentum or energy is wrong, but nothing crosses.
    particles, model = thrown(seed, 20.0, 0.0005) if at == "sheet" else thrown_at_ropes(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = solver(particles, model)
        try:
            for _ in range(90):
                system.step()
                assert system.crossings() == 0
        except (pbd.Diverged, RuntimeError):
            pass


@pytest.mark.parametrize("name", ["box", "plate", "cylinder", slow("hull"), slow("capsule")])
def test_a_body_that_begins_across_a_sheet_is_refused(name):
    particles, model = pbd.Particles(), rigid.Model()
    sheet(particles)
    tilted, at = from_axis_angle((1, 0, 0), 1.0), (0.02, 0.03, 0.01)
    shape = {
        "box": pbd.Box((0.2, 0.1, 0.05), centre=at),
        "plate": pbd.Box((0.2, 0.1, 0.001), centre=at, rotation=tilted),
        "cylinder": pbd.Cylinder(0.05, 0.2, centre=at, rotation=tilted),
        "hull": pbd.ConvexHull(at + np.random.default_rng(0).normal(0, 0.1, (20, 3))),
        "capsule": pbd.Capsule(0.01, 0.2, centre=at, rotation=tilted),
    }[name]
    body = model.add_body(name="thing")
    model.add_shape(body, shape, density=500)
    with pytest.raises(ValueError, match=r"shape 0, of body 'thing', crosses a surface at particle \d+: exp"):
        solver(particles, model)
    # One that is attached to all of the sheet has no contact with it.
    system = solver(particles, model, attachments=[(np.arange(particles.count), body)])
    assert system.crossings() == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_needle_that_the_bound_stops_keeps_both_momenta(seed):
    # At 5 m/s against a free sheet: contacts alone let some pass. Frames are solved directly, so none is strained.
    random = np.random.default_rng(seed)
    particles, model = pbd.Particles(gravity=(0, 0, 0)), rigid.Model(gravity=(0, 0, 0))
    sheet(particles, density=1.0, bending=None)
    at, turn = np.array([*random.uniform(-0.25, 0.25, 2), 0.25]), random.normal(size=4)
    turn /= np.linalg.norm(turn)
    shape = pbd.Capsule(0.004, 0.2, centre=at, rotation=turn)
    model.add_shape(model.add_body(velocity=(0, 0, -5), angular_velocity=random.normal(0, 10, 3)), shape, density=1000)
    system = solver(particles, model, substeps=4, damping=0.0, solve="auto")
    assert "touch one another" in system.particle_system.direct.notes[0]  # a sheet with contacts iterates
    before = momenta(system)
    system.step(20)
    assert np.abs(momenta(system) - before).max() < 1e-10 * np.abs(before).max()
    assert system.crossings() == 0


@pytest.mark.slow
def test_a_triangle_that_collapses_keeps_everything_finite():
    # The third corner follows a path to the middle of the other two. The ball meets a triangle without area, and rests
    # on it as on a segment.
    particles, model = pbd.Particles(), rigid.Model()
    corners = np.array([(-0.3, 0, 0), (0.3, 0, 0), (0, 0.3, 0)])
    triangle = particles.add_particles(corners, math.inf)
    particles.add_surface([triangle], thickness=2 * RADIUS)
    particles.add_path(triangle[[2]], lambda time: [(0, max(0.3 - 3 * time, 0), 0)])
    model.add_shape(model.add_body(), pbd.Sphere(0.05, centre=(0.1, 0, 0.15)), density=500)
    system = solver(particles, model)
    system.step(30)
    assert position(system) == pytest.approx([0.1, 0, 0.05 + RADIUS], abs=2e-3)


def test_a_mesh_beside_a_surface_is_refused():
    particles, model = pbd.Particles(), rigid.Model()
    triangles = sheet(particles)
    model.add_shape(rigid.GROUND, rigid.Mesh((particles.positions() - (0, 0, 1), triangles)))
    with pytest.raises(NotImplementedError, match="beside particles with radii or surfaces"):
        solver(particles, model)


@pytest.mark.slow
def test_what_is_solved_directly_touches_at_its_particles():
    # Iterated contacts between directly solved particles would fight the solve, so segments of such a rope have none.
    particles, model = pbd.Particles(), rigid.Model()
    rope = build.rope(particles, [(-0.5, 0, 0), (0.5, 0, 0)], 2, mass=0.2, radius=RADIUS, friction=0.3)
    particles.pin(rope.particles[[0, -1]])
    model.add_shape(model.add_body(), pbd.Sphere(0.05, centre=(0.25, 0, 0.056)), density=500)
    found = {}
    for solve in ("direct", "iterative"):
        system = solver(particles, model, solve=solve)
        system.step()
        found[solve] = len(system.contact_forces().bodies)
    assert found["direct"] == 0 < found["iterative"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 12])
@pytest.mark.parametrize("speed", [2.0, 5.0])
@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_what_slides_over_a_flat_sheet_does_not_bump_against_its_edges(shape, speed, count):
    # Without friction it keeps its velocity. Triangles ahead have normals that lean, and their neighbours are nearer:
    # before these had no contacts, a box lost up to 30 %.
    particles, model, at = pbd.Particles(), rigid.Model(), np.array([-0.7, -0.1, 0.0552])
    sheet(particles, count, 2.0)
    particles.pin(np.arange(particles.count))
    turn = from_axis_angle((0, 0, 1), 0.3)
    made = pbd.Sphere(0.05, centre=at) if shape == "sphere" else pbd.Box((0.2, 0.16, 0.1), centre=at, rotation=turn)
    model.add_shape(model.add_body(), made, density=500, friction=0.0)
    model.bodies[0].velocity = np.array([speed, 0.1 * speed, 0.0])
    system = solver(particles, model)
    system.step(round(60 * 1.2 / speed))
    assert system.state().velocity[0] / speed == pytest.approx([1.0, 0.1, 0.0], abs=4e-3 if shape == "sphere" else 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("acceleration", "friction"), [(20, 0.0), (60, 0.0), (20, 0.2), (60, 0.2), (40, 0.1)])
def test_a_cloth_is_pulled_from_under_a_box(acceleration, friction):
    # While the cloth slides below it the box has the acceleration μ g, until the cloth has moved by `way` more than it:
    # t² = 2 way/(a - μ g), x = μ g t²/2. Then it slides on the table, whose friction with it is √(μ μ'), to rest:
    # x' = (μ g t)²/(2 √(μ μ') g).
    table, side, way, thickness = 0.3, 0.1, 0.4, 0.002
    model, particles = rigid.Model(), pbd.Particles()
    model.add_shape(rigid.GROUND, pbd.Box((1.4, 1.0, 0.04), centre=(0, 0, -0.02)), friction=table)
    box = pbd.Box((side, side, side), centre=(0, 0, thickness + side / 2))
    model.add_shape(model.add_body(name="box"), box, density=500, friction=friction)
    build.cloth(
        particles, (-way, -0.25, thickness / 2), (2 * way, 0, 0), (0, 0.5, 0), (17, 11), density=0.2, friction=0.3,
        thickness=thickness, bending=1e-5, compliance=1e-6, shear_compliance=3e-6, contacts="surface",
    )  # fmt: skip
    hem = np.flatnonzero(particles.positions()[:, 0] > way - 1e-9)
    start = particles.positions()[hem]
    particles.add_path(hem, lambda time: start + (min(0.5 * acceleration * max(time - 0.1, 0) ** 2, 1.2), 0, 0))
    system = solver(particles, model, substeps=16, iterations=12)
    system.step(45)
    pull = friction * G
    time = math.sqrt(2 * way / (acceleration - pull))
    braking = math.sqrt(friction * table) * G
    expected = pull * time**2 / 2 + ((pull * time) ** 2 / (2 * braking) if friction else 0.0)
    assert position(system)[0] == pytest.approx(expected, rel=0.1, abs=1e-3)
    assert position(system)[2] == pytest.approx(side / 2, abs=1e-3)  # on the table
    assert system.particle_system.crossings() == 0
