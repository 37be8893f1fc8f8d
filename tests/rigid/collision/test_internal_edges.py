"""Surfaces of several shapes whose faces continue one another, and their real steps, corners and ends."""

import numpy as np
import pytest
from described import Y, Z, g
from marks import cases, slow
from scipy.integrate import solve_ivp

import rigid
from rigid.rotation import from_axis_angle, rotate

OPTIONS = {
    "impulse": {"dt": 1 / 240}, "articulated": {"dt": 1 / 60, "substeps": 4}, "verlet": {"dt": 1 / 60, "substeps": 8},
    "penalty": {"dt": 1 / 240, "substeps": 16},
}  # fmt: skip
CUBE = np.array(np.meshgrid((-0.1, 0.1), (-0.1, 0.1), (-0.1, 0.1))).reshape(3, -1).T
KINDS = {
    "box": lambda: (rigid.Box((0.2, 0.2, 0.2)), 0.1),
    "sphere": lambda: (rigid.Sphere(0.1), 0.1),
    "capsule": lambda: (rigid.Capsule(0.08, start=(-0.1, 0, 0), end=(0.1, 0, 0)), 0.08),
    "wheel": lambda: (rigid.Capsule(0.08, start=(0, -0.1, 0), end=(0, 0.1, 0)), 0.08),
    "cylinder": lambda: (rigid.Cylinder(0.1, start=(0, 0, -0.1), end=(0, 0, 0.1)), 0.1),
    "hull": lambda: (rigid.ConvexHull(CUBE), 0.1),
}
SPEED = 2.0


def slabs(tops, bodies=False, hulls=False, width=0.5):
    """Slabs side by side along x, the first one about x = 0. Args: tops: heights; bodies: whether they are on paths."""
    model = rigid.Model()
    for k, top in enumerate(tops):
        centre, size = np.array((width * k, 0, top - 0.25)), np.array((width, 6.0, 0.5))
        if bodies:
            model.add_box(size, path=lambda time, at=centre: at, friction=0.0)
        else:
            made = rigid.ConvexHull(centre + 5 * CUBE * size) if hulls else rigid.Box(size, centre=centre)
            model.add_shape(rigid.GROUND, made, friction=0.0)
    return model


def add_slider(model, kind, y=0.0, x=0.0, speed=SPEED, height=None, rotation=(1, 0, 0, 0)):
    """A smooth body of 1 kg that rests on the slabs and slides along x. Returns: its index."""
    shape, above = KINDS[kind]()
    at = (x, y, above if height is None else height)
    body = model.add_body(mass=1.0, inertia=(0.0067,) * 3, position=at, velocity=(speed, 0, 0), rotation=rotation)
    model.add_shape(body, shape, local=True, friction=0.0)
    return body


# Motion ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(OPTIONS, slow=["articulated", "verlet", "penalty"]))
def test_smooth_bodies_keep_their_speed_over_seams(name):
    # Without friction nothing acts along x. Contacts may be off by 0.015 rad, which takes 1e-4 of a speed at each seam.
    # "penalty" shares the stiffness between the points of a body. Where their number changes, the body bounces.
    model = slabs((0, 1e-9, 0, -1e-9, 1e-9, 0, 0, 0))
    bodies = [add_slider(model, kind, y) for kind, y in zip(KINDS, np.linspace(-2.5, 2.5, len(KINDS)))]
    yawed = add_slider(model, "box", 2.9, rotation=from_axis_angle(Z, 0.4))
    solver = rigid.solver(name, model, **OPTIONS[name])
    solver.step(round(1.6 / solver.dt))
    state = solver.state()
    tolerance = 1e-2 if name == "penalty" else 1e-3
    for body in (*bodies, yawed):
        assert state.velocity[body, 0] == pytest.approx(SPEED, rel=tolerance)
        assert state.position[body, 0] == pytest.approx(1.6 * SPEED, rel=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impulse", slow("verlet")])
@pytest.mark.parametrize("kind", [slow("bodies"), "hulls"])
def test_speed_does_not_depend_on_what_the_slabs_are(name, kind):
    model = slabs(np.zeros(15), width=0.25, **{kind: True})
    bodies = [add_slider(model, "box", -1), add_slider(model, "sphere", 1)]
    solver = rigid.solver(name, model, **OPTIONS[name])
    solver.step(round(1.6 / solver.dt))
    assert solver.state().velocity[bodies, 0] == pytest.approx(SPEED, rel=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impulse", slow("articulated"), slow("verlet")])
@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_steps_up_stop_a_box(name, step):
    # At the impact a cube of width b begins to turn about the edge: ω = v m (b/2 - s)/I, I = 2/3 m b². Its centre is
    # b/2 - s above the edge, and keeps (b/2 - s)²/(2/3 b²) < 3/8 of its speed. ("penalty" is too soft for this: in its
    # contacts the box sinks deeper than the step is high, and rides up.)
    model = slabs((0, step))
    body = add_slider(model, "box")
    solver = rigid.solver(name, model, **OPTIONS[name])
    solver.step(round(0.15 / solver.dt))  # it gets to the step after 0.075 s
    assert solver.state().velocity[body, 0] < 0.5 * SPEED


def tipping(time, state):
    """Derivatives of (s, u, θ, ω): a smooth box of 1 kg whose bottom lies on an edge, s from there to its middle.

    The centre is at a n + s t from the edge, so T = u²/2 + (s² + I) ω²/2 with u = s' + a ω, V = g (a cos θ - s sin θ).
    """
    a, inertia = 0.1, 0.0067
    s, u, angle, turn = state
    slide = u - a * turn
    sine, cosine = np.sin(angle), np.cos(angle)
    faster = s * turn**2 + g * sine
    return slide, faster, turn, (g * s * cosine - a * s * turn**2 - 2 * s * slide * turn) / (s * s + inertia)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impulse", slow("articulated"), slow("verlet")])
def test_box_that_slides_over_an_end_tips(name):
    # Contacts see the tilt at the start of a step, so the motion is late by a step of 1/480 s at most: 2 % of 0.1 s in
    # an angular velocity that grows as the square of time is 4 %.
    model = slabs((0, 0))
    body = add_slider(model, "box", x=0.69, speed=0.3)  # over the end of the slabs, x = 0.75, after 0.2 s
    solver = rigid.solver(name, model, dt=1 / 480)
    solver.step(round(0.3 * 480))
    expected = solve_ivp(tipping, (0, 0.1), (0, 0.3, 0, 0), rtol=1e-8).y[3, -1]
    assert solver.state().angular_velocity[body] == pytest.approx((0, expected, 0), abs=0.06 * expected)


# Contact points -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [False, True], ids=["slabs-first", "slider-first"])
def test_contacts_at_a_seam_are_upright(kind, first, finder):
    """Wherever a body is over a seam, and however deep."""
    model = rigid.Model()
    if first:
        add_slider(model, kind)
    for k in range(2):  # the slabs meet at x = 0
        model.add_box((1, 6, 0.5), mass=1.0, position=(k - 0.5, 0, -0.25))
    if not first:
        add_slider(model, kind)
    body = 0 if first else 2
    model.exclude_contact(*[k for k in range(3) if k != body])
    find, poses, random = finder(model), finder(model).poses_at_start(), np.random.default_rng(3)
    for _ in range(40):
        depth = 10 ** random.uniform(-8, -3)
        poses[0, body, :3] = random.uniform(-0.3, 0.3), random.uniform(-1, 1), KINDS[kind]()[1] - depth
        found = find(poses, margin=0.05)
        assert found.count > 0
        assert np.abs(found.normal[:, 2]) == pytest.approx(1, abs=2e-4)
        assert found.gap.min() == pytest.approx(-depth, abs=1e-9)


@pytest.mark.parametrize("height", [3e-4, 1e-3, 1e-2])
def test_contact_with_a_step_is_kept(height, finder):
    model = slabs((0, height))
    add_slider(model, "box", x=0.149, height=0.1 - 1e-6)  # 1 mm before the step
    found = finder(model)(margin=0.01)
    sideways = found.normal[:, 0] < -0.999
    assert sideways.sum() == 4
    assert found.gap[sideways] == pytest.approx(1e-3, abs=1e-9)


@pytest.mark.parametrize("angle", [0.3, 0.8])
def test_plank_in_a_corner_touches_wall_and_floor(angle, finder):
    """Its lower edge is on both, so each one is below the plane of the other."""
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Box((4, 4, 1), centre=(-2, 0, -0.5)))
    model.add_shape(rigid.GROUND, rigid.Box((1, 4, 4), centre=(0.5, 0, 1)))
    half, turn = np.array((0.02, 0.3, 0.5)), from_axis_angle(Y, -angle)
    foot = rotate(turn, (half[0], 0, -half[2]))  # from the centre: the lowest edge, and the nearest to the wall
    model.add_box(2 * half, mass=1.0, position=-foot, rotation=turn)
    found = finder(model)(margin=1e-3)
    assert (found.normal[:, 2] > 0.99).any()
    assert (found.normal[:, 0] < -0.99).any()


def test_face_that_comes_down_over_a_seam_has_contacts(finder):
    """The contact with the seam's edge acts upwards, and holds the face back until it lies on the slabs."""
    model = slabs((0, 0))
    sine, cosine = np.sin(0.1), np.cos(0.1)
    add_slider(model, "box", x=0.25, height=0.1 * (sine + cosine), rotation=from_axis_angle(Y, -0.1))
    found = finder(model)(margin=0.05)
    assert set(found.shapes[:, 1]) == {0, 1}
    assert found.normal == pytest.approx(np.tile((0, 0, 1), (found.count, 1)), abs=1e-12)
