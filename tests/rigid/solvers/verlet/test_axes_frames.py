"""Frames along axes of a body, of three sticks and three right angles: mass properties and motion."""

import math

import numpy as np
import pytest
from marks import slow
from scipy.special import ellipk

import rigid
from rigid import mass
from rigid.rotation import rotate
from rigid.solvers.verlet.axes_frame import lengths_of_four
from rigid.solvers.verlet.frame import make_frame

g = 9.81


def second_of(x, m):
    """Inertia tensor of particles about the origin (3, 3) [kg m²]."""
    second = (m[:, None] * x).T @ x
    return np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("counterweight", [False, True])
@pytest.mark.parametrize("joints", range(7))
def test_axes_frame_has_the_mass_properties_of_the_body_and_right_angles(joints, counterweight):
    # Σ m = M, Σ m x = 0, Σ m (x·x E - x xᵀ) = I, (x_j - x_0)·(x_k - x_0) = 0: to 1e-12 relative, for bodies from random
    # clouds of points. All particles but those of joints have one mass.
    rng = np.random.default_rng(joints)
    seen = set()
    for _ in range(30):
        points = rng.normal(size=(10, 3)) * rng.uniform(0.05, 1.0, 3)
        masses = rng.uniform(0.1, 1.0, 10)
        points -= masses @ points / masses.sum()
        inertia = second_of(points, masses)
        frame = make_frame("one", masses.sum(), inertia, points[:joints], "axes", counterweight)
        x, m = frame.points, frame.masses
        seen.add(len(frame.counterweights))
        assert len(x) == 4 + joints + len(frame.counterweights)
        assert m.sum() == pytest.approx(masses.sum(), rel=1e-12)
        assert np.abs(m @ x).max() < 1e-12 * m.sum() * np.abs(x).max()
        assert np.abs(second_of(x, m) - inertia).max() < 1e-12 * np.abs(inertia).max()
        assert (m > 0).all()
        assert np.ptp(np.delete(m, slice(4, 4 + joints))) == 0
        arms = frame.corners[[0, 2, 3]] - frame.corners[1]
        assert np.abs(np.triu(arms @ arms.T, 1)).max() < 1e-12 * (arms**2).sum()
        assert np.linalg.det(arms) > 0
    assert seen == ({1} if counterweight else {0, 1})


BOXES = {(0.4, 0.2, 0.1): 4, (3, 2, 1): 4, (1, 1, 1): 5, (0.5, 0.05, 0.05): 5, (1, 1, 0.1): 5, (2, 1.5, 1): 5}


@pytest.mark.parametrize(("size", "count"), BOXES.items())
def test_axes_frame_has_four_particles_if_these_are_exact(size, count):
    # The cubic t³ - 4/3 e1 t² + 2 e2 t - 4 e3 has three real roots if its discriminant is above zero.
    body = mass.box(size, mass=1.0)
    frame = make_frame("box", body.mass, body.inertia, kind="axes")
    assert len(frame.points) == count
    assert frame.masses == pytest.approx(1 / count, rel=1e-15)
    a, b, c = np.square(size)
    p, q, r = -4 / 3 * (a + b + c), 2 * (a * b + b * c + c * a), -4 * a * b * c
    discriminant = 18 * p * q * r - 4 * p**3 * r + p**2 * q**2 - 4 * q**3 - 27 * r**2
    assert (discriminant > 0) == (count == 4)


def test_nearly_equal_roots_need_a_counterweight():
    # Second moments with d = 1, 1 + t, 8 are the eigenvalues of D^½ (E - 1 1ᵀ/4) D^½.
    def values(t):
        root = np.sqrt([1, 1 + t, 8])
        return np.linalg.eigvalsh(np.outer(root, root) * (np.eye(3) - 0.25))

    assert lengths_of_four(values(0.1)) == pytest.approx([8, 1.1, 1], rel=1e-12)
    assert lengths_of_four(values(0.02)) == pytest.approx([8, 1.02, 1], rel=1e-12)
    assert lengths_of_four(values(1e-6)) is None


def test_counterweight_is_at_the_documented_position():
    # A ball: l_k = sqrt(5 s/M) with s = M r²/5, so each stick is as long as the radius.
    body = mass.sphere(0.3, mass=2.0)
    frame = make_frame("ball", body.mass, body.inertia, kind="axes")
    arms = frame.corners[[0, 2, 3]] - frame.corners[1]
    assert np.linalg.norm(arms, axis=1) == pytest.approx(0.3, rel=1e-12)
    behind = frame.corners[1] - (math.sqrt(5) - 1) / 4 * arms.sum(axis=0)
    assert np.abs(frame.counterweights - behind).max() < 1e-15


@pytest.mark.parametrize("size", [(0.4, 0.2, 0.1), slow((0.2, 0.2, 0.2))])
def test_axes_frame_falls_exactly(size):
    # The centre of mass is at x0 + v0 t + g t²/2 to round-off, also while the frame rotates and has not converged.
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_box(size, mass=1.2, position=(1, 2, 3), velocity=(1, 0, 3), angular_velocity=(0.05, 10, 0.1))
    solver = rigid.solver("verlet", model, dt=0.001, frame="axes", iterations=3)
    solver.step(500)
    assert np.abs(solver.state().position - [1.5, 2, 3 + 1.5 - g / 8]).max() < 1e-10


SPIN = (0.05, 10.0, 0.1)


def free_box(dt):
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((0.4, 0.2, 0.1), mass=1.2, angular_velocity=SPIN)
    return rigid.solver("verlet", model, dt=dt, frame="axes", iterations=40)


def time_between_flips(dt):
    """Time between the first two passages of the box's second axis across its angular momentum [s]."""
    solver = free_box(dt)
    assert len(solver.members[0]) == 4
    momentum = mass.box((0.4, 0.2, 0.1), mass=1.2).inertia @ SPIN
    passages, before = [], None
    while len(passages) < 2:
        solver.step()
        now = rotate(solver.state().rotation[0], np.array([0.0, 1.0, 0.0])) @ momentum
        if before is not None and now * before <= 0:
            passages.append(solver.time - dt * now / (now - before))
        before = now
    return passages[1] - passages[0]


@pytest.mark.slow
def test_intermediate_axis_flips_at_the_reference_time():
    # 2 K(m)/p = 1.98074907 s by Euler's equations, because ω_2 is a multiple of sn(p t): for L² > 2 T I_2,
    # p² = (I_3 - I_2)(L² - 2 T I_1)/(I_1 I_2 I_3), m = (I_2 - I_1)(2 T I_3 - L²)/((I_3 - I_2)(L² - 2 T I_1)); otherwise
    # with I_1 and I_3 exchanged. Second order.
    first, second, third = 1.2 / 12 * np.array([0.2**2 + 0.1**2, 0.4**2 + 0.1**2, 0.4**2 + 0.2**2])
    inertia = np.array([first, second, third])
    squared, twice = (inertia**2) @ np.square(SPIN), inertia @ np.square(SPIN)
    if squared < twice * second:
        first, third = third, first
    p = math.sqrt((third - second) * (squared - twice * first) / (first * second * third))
    m = (second - first) * (twice * third - squared) / ((third - second) * (squared - twice * first))
    expected = 2 * ellipk(m) / p
    assert expected == pytest.approx(1.98074907, abs=1e-8)
    errors = [abs(time_between_flips(h) - expected) for h in (0.002, 0.001)]
    assert errors[1] < 0.005
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.5)


def momentum(solver):
    """Σ m (x_{n+1} - x_n)/h and Σ m x_n × (x_{n+1} - x_n)/h of the next step: invariants of SHAKE."""
    masses, before = 1 / solver.particle_system.inverse_masses()[:, None], solver.particle_system.positions()
    solver.step()
    step = (solver.particle_system.positions() - before) / solver.particle_system.dt
    return np.array([(masses * step).sum(axis=0), (masses * np.cross(before, step)).sum(axis=0)])


@pytest.mark.parametrize("size", [(0.4, 0.2, 0.1), slow((0.2, 0.2, 0.2))])
def test_momentum_of_a_free_body_is_conserved(size):
    # To round-off, for right angles as for sticks, also before the iterations converge.
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box(size, mass=1.2, angular_velocity=SPIN, velocity=(1, 2, 3))
    solver = rigid.solver("verlet", model, dt=0.001, frame="axes", iterations=8)
    first = momentum(solver)
    solver.step(1000)
    assert np.abs(momentum(solver) - first).max() < 1e-10


@pytest.mark.slow
def test_pendulum_of_an_axes_frame_has_its_period():
    # T = 4 K(sin 45°) sqrt(I/(m g l)) = 1.368781961870 s from the horizontal, second order, as for a tetrahedron.
    inertia = (0.5**2 + 0.05**2) / 12 + 0.25**2
    period = 4 * ellipk(0.5) * math.sqrt(inertia / (g * 0.25))

    def measured(dt):
        model = rigid.Model(gravity=(0, 0, -g))
        rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
        model.add_hinge(rigid.GROUND, rod, point=(0, 0, 0), axis=(0, 1, 0), name="pivot")
        solver, passages, before = rigid.solver("verlet", model, dt=dt, frame="axes", iterations=60), [], None
        while len(passages) < 2:
            angle = solver.joint_positions()["pivot"] - math.pi / 2
            if before is not None and before < 0 <= angle < before + 1:
                passages.append(solver.time - dt * angle / (angle - before))
            before = angle
            solver.step()
        return passages[1] - passages[0]

    errors = [measured(h) - period for h in (0.004, 0.002)]
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.5)


@pytest.mark.slow
def test_shared_particle_joints_agree_with_tetrahedra():
    # At rest only the mass properties of a frame matter, and these are the same: a rod on a hinge, another on a ball, a
    # box welded to it off centre, and one on a string.
    found = []
    for frame in ("tetrahedron", "axes"):
        model = rigid.Model(gravity=(0, 0, -g))
        rods = [model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25 + 0.5 * k, 0, 0)) for k in range(2)]
        box = model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(1.0, 0, 0.15))
        weight = model.add_box((0.1, 0.1, 0.1), mass=0.5, position=(0.3, 0, -0.2))
        model.add_hinge(rigid.GROUND, rods[0], (0, 0, 0), (0, 1, 0), name="hinge")
        model.add_ball(rods[0], rods[1], (0.5, 0, 0), name="ball")
        model.add_fixed(rods[1], box, (1.0, 0, 0.05))
        model.add_distance(rods[0], weight, (0.3, 0, 0))
        solver = rigid.solver("verlet", model, dt=0.005, frame=frame, iterations=100, damping=0.04, contacts=False)
        solver.step(1000)
        assert np.abs(solver.state().velocity).max() < 1e-3
        found.append(np.concatenate([solver.state().position.ravel(), np.ravel(solver.joint_positions()["hinge"])]))
    assert np.abs(found[0] - found[1]).max() < 2e-3  # error of unconverged sticks: about g h², and a few of them


@pytest.mark.slow
def test_limit_holds_on_four_particles_and_counterweight_is_refused():
    # The limit carries the whole moment about the pivot, on a box of four particles: to 0.5°, as elsewhere.
    model = rigid.Model(gravity=(0, 0, -g))
    box = model.add_box((0.3, 0.15, 0.05), mass=1.0, position=(0.15, 0, 0))
    model.add_hinge(rigid.GROUND, box, (0, 0, 0), (0, 1, 0), limits=(-0.5, 0.4), name="hinge")
    solver = rigid.solver("verlet", model, dt=0.005, frame="axes", iterations=50, damping=0.02, contacts=False)
    assert not len(solver.frames[0][0].counterweights)
    solver.step(600)
    assert solver.joint_positions()["hinge"] == pytest.approx(0.4, abs=math.radians(0.5))

    model = rigid.Model()
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 0), (0, 1, 0), friction=0.1)
    with pytest.raises(NotImplementedError, match=r"body 'rod' has a counterweight .* expected frame=\"tetrahedron\""):
        rigid.solver("verlet", model, frame="axes")


@pytest.mark.slow
def test_contact_of_axes_frames_conserves_both_momenta():
    # Two free bodies of masses 1 and 9 collide off centre, with one impulse at one point. To round-off.
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((0.2, 0.2, 0.2), mass=1.0, velocity=(2, 0, 0), angular_velocity=(1, 2, 3))
    model.add_box((0.4, 0.2, 0.1), mass=9.0, position=(0.5, 0.05, 0.02))
    model.add_ground(-1000.0)  # so that the kernel of the stack below is used
    solver = rigid.solver("verlet", model, dt=0.005, frame="axes", iterations=20)
    first = momentum(solver)
    solver.step(100)
    assert solver.state().velocity[1, 0] > 0.1  # they collided
    assert np.abs(momentum(solver) - first).max() < 1e-10


@pytest.mark.slow
def test_stack_of_axes_frames_stands():
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_ground()
    for k in range(4):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 + 0.2 * k))
    solver = rigid.solver("verlet", model, dt=1 / 60, frame="axes", iterations=30, substeps=10)
    start = solver.state().position
    solver.step(300)
    assert np.abs(solver.state().position - start).max() < 1e-3


@pytest.mark.slow
def test_all_worlds_have_a_counterweight_if_one_needs_it():
    # A cube and a flat box: both get a counterweight, so that worlds have the same particles. Each moves as it should.
    def model(size):
        m = rigid.Model(gravity=(0, 0, -g))
        m.add_box(size, mass=1.2, angular_velocity=(1, 2, 3))
        return m

    models = [model((0.2, 0.2, 0.2)), model((0.4, 0.2, 0.1))]
    both = rigid.solver("verlet", models, dt=0.001, frame="axes", iterations=40)
    assert both.particle_system.positions().shape == (2, 5, 3)
    both.step(500)
    cube = rigid.solver("verlet", models[0], dt=0.001, frame="axes", iterations=40)
    cube.step(500)
    assert np.array_equal(both.state().rotation[0], cube.state().rotation)
    # The box alone has four particles. It rotates as with five, up to the difference of two second-order schemes.
    box = rigid.solver("verlet", models[1], dt=0.001, frame="axes", iterations=40)
    box.step(500)
    assert len(box.members[0]) == 4
    assert np.abs(both.state().rotation[1] - box.state().rotation).max() < 1e-4


def test_unknown_frame_suggests_the_nearest():
    model = rigid.Model()
    model.add_box((1, 1, 1), mass=1.0)
    with pytest.raises(ValueError, match=r"frame is 'axis': .* did you mean 'axes'\?"):
        rigid.solver("verlet", model, frame="axis")
    with pytest.raises(ValueError, match="'disc' is flat"):
        make_frame("disc", 1.0, np.diag([0.25, 0.25, 0.5]), kind="axes")
