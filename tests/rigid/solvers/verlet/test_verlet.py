"""Bodies as frames of particles: exact mass properties, free rotation, pendulums and chains against references."""

import math

import numpy as np
import pytest
import trimesh
from references import chain_angles, rod_chain
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import pbd
import rigid
from rigid.constraints.joints.gaps import joint_gaps
from rigid.solvers.verlet.frame import fit_pose, make_frame

g = 9.81


def random_body(rng):
    """Mass and inertia of some body: of a random cloud of points."""
    points = rng.normal(size=(10, 3)) * rng.uniform(0.05, 1.0, 3)
    masses = rng.uniform(0.1, 1.0, 10)
    points -= masses @ points / masses.sum()
    second = (masses[:, None] * points).T @ points
    return masses.sum(), np.trace(second) * np.eye(3) - second, points


@pytest.mark.parametrize("joints", range(7))
def test_frame_has_the_mass_properties_of_the_body(joints):
    # Σ m = M, Σ m x = 0, Σ m (x·x E - x xᵀ) = I: to 1e-12 relative, for 200 bodies with all numbers of joints.
    rng = np.random.default_rng(joints)
    for _ in range(200 // 7 + 1):
        mass, inertia, points = random_body(rng)
        frame = make_frame("one", mass, inertia, points[:joints])
        x, m = frame.points, frame.masses
        assert m.sum() == pytest.approx(mass, rel=1e-12)
        assert np.abs(m @ x).max() < 1e-12 * mass * np.abs(x).max()
        second = (m[:, None] * x).T @ x
        found = np.trace(second) * np.eye(3) - second
        assert np.abs(found - inertia).max() < 1e-12 * np.abs(inertia).max()
        assert (m > 0).all()


def test_flat_bodies_and_far_joint_points_are_refused():
    with pytest.raises(ValueError, match="'disc' is flat"):
        make_frame("disc", 1.0, np.diag([0.25, 0.25, 0.5]))
    with pytest.raises(ValueError, match=r"'far' has joint points up to 1e\+06 m"):
        make_frame("far", 1.0, np.eye(3) * 0.1, [(1e6, 0, 0)])


def test_pose_is_read_back_from_a_strained_frame():
    # A symmetric affine strain of the particles does not rotate them, so the fit finds the given rotation.
    rng = np.random.default_rng(3)
    mass, inertia, points = random_body(rng)
    frame = make_frame("one", mass, inertia, points[:2])
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    centre, found = fit_pose(frame.points, frame.masses, frame.points @ turn.T + [1, 2, 3])
    assert np.abs(found - turn).max() < 1e-12
    assert np.abs(centre - [1, 2, 3]).max() < 1e-12


def test_a_diverged_body_has_no_position():
    frame = make_frame("one", 1.0, np.eye(3), [])
    positions = frame.points.copy()
    positions[0] = np.nan
    centre, rotation = fit_pose(frame.points, frame.masses, positions)
    assert np.isnan(centre).all()
    assert (rotation == np.eye(3)).all()


def test_energy_before_the_first_step_is_that_of_free_fall():
    # x* = x + a h²/2 is the place a substep earlier: (x - x*)/h = -a h/2, and (x + x*)/2 is lower by g h²/4.
    model = rigid.Model(gravity=(0, 0, -10))
    model.add_sphere(0.1, mass=2.0, position=(0, 0, 1))
    energy, h = rigid.solver("verlet", model, dt=0.1, substeps=2).energy(), 0.05
    assert energy.kinetic == pytest.approx(2 * (10 * h) ** 2 / 8, rel=1e-12)
    assert energy.potential == pytest.approx(2 * 10 * (1 - 10 * h**2 / 4), rel=1e-12)


def free_box(dt):
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((0.4, 0.2, 0.1), mass=1.2, angular_velocity=(0.05, 10, 0.1))
    return model, rigid.solver("verlet", model, dt=dt, iterations=40)


def first_flip(dt):
    """Time at which the box's second axis is turned over for the first time [s]: its middle, where y·y0 passes zero."""
    _, solver = free_box(dt)
    before = None
    while True:
        solver.step()
        q = solver.state().rotation[0]
        now = 1 - 2 * (q[1] ** 2 + q[3] ** 2)  # y component of the rotated y axis
        if before is not None and now <= 0:
            return solver.time - dt * now / (now - before)
        before = now


def reference_flip():
    """The same of Euler's equations I ω̇ = -ω × I ω with q̇ = q ω/2, by DOP853 to 1e-12."""
    inertia = 1.2 / 12 * np.array([0.2**2 + 0.1**2, 0.4**2 + 0.1**2, 0.4**2 + 0.2**2])

    def motion(_, y):
        w, q = y[:3], y[3:]
        spin = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        return np.concatenate([np.cross(inertia * w, w) / inertia, spin])

    def turned(_, y):
        return 1 - 2 * (y[4] ** 2 + y[6] ** 2)

    turned.terminal = True
    start = [0.05, 10, 0.1, 1, 0, 0, 0]
    return solve_ivp(motion, (0, 5), start, "DOP853", events=turned, rtol=1e-12, atol=1e-12).t_events[0][0]


@pytest.mark.slow
def test_intermediate_axis_flips_at_the_reference_time():
    # Second order: the error of the first flip decreases as h².
    reference = reference_flip()
    errors = [abs(first_flip(h) - reference) for h in (0.002, 0.001)]
    assert errors[1] < 0.005
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.5)


def test_angular_momentum_of_a_free_body_is_conserved():
    # Σ m x_n × (x_{n+1} - x_n)/h is an invariant of SHAKE to round-off, also before its iterations converge.
    _, solver = free_box(0.001)
    masses = 1 / solver.particle_system.inverse_masses()

    def momentum():
        before = solver.particle_system.positions()
        solver.step()
        return (masses[:, None] * np.cross(before, solver.particle_system.positions() - before)).sum(axis=0) / 0.001

    first = momentum()
    for _ in range(1000):
        last = momentum()
    assert np.abs(last - first).max() < 1e-10


def pendulum(dt, iterations=60):
    model = rigid.Model(gravity=(0, 0, -g))
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    model.add_hinge(rigid.GROUND, rod, point=(0, 0, 0), axis=(0, 1, 0), name="pivot")
    return rigid.solver("verlet", model, dt=dt, iterations=iterations)


def test_compound_pendulum_period_converges_at_second_order():
    # T = 4 K(sin 45°) sqrt(I/(m g l)) = 1.368781961870 s from the horizontal, I about the pivot; from two passages of
    # the lowest point in one sense.
    inertia = (0.5**2 + 0.05**2) / 12 + 0.25**2
    period = 4 * ellipk(0.5) * math.sqrt(inertia / (g * 0.25))
    assert period == pytest.approx(1.368781961870, abs=1e-11)

    def measured(dt):
        solver, passages, before = pendulum(dt), [], None
        while len(passages) < 2:
            angle = solver.joint_positions()["pivot"] - math.pi / 2
            if before is not None and before < 0 <= angle < before + 1:  # but not where the angle wraps
                passages.append(solver.time - dt * angle / (angle - before))
            before = angle
            solver.step()
        return passages[1] - passages[0]

    errors = [measured(h) - period for h in (0.008, 0.004, 0.002)]
    for coarse, fine in zip(errors, errors[1:]):
        assert coarse / fine == pytest.approx(4, abs=0.5)


def test_five_rod_chain_agrees_with_lagrange_equations():
    absolute, _ = chain_angles(0.5)
    expected = np.diff(absolute, prepend=0.0)
    solver = rigid.solver("verlet", rod_chain(), dt=0.001, iterations=100, contacts=False)
    solver.step(500)
    found = solver.joint_positions()
    assert np.abs([found[f"hinge {k}"] for k in range(5)] - expected).max() < 0.002


def test_joints_stay_closed():
    # Bodies share the particle. Only its sticks to both bodies have errors, which decrease as iterations converge.
    solver = rigid.solver("verlet", rod_chain(), dt=0.001, iterations=400, contacts=False)
    solver.step(300)
    assert joint_gaps(solver.model, solver.state()).max() < 1e-6


def test_state_is_set_and_read():
    model = rod_chain(2)
    solver = rigid.solver("verlet", model, dt=0.001)
    solver.step(200)
    state = solver.state()
    other = rigid.solver("verlet", model, dt=0.001)
    other.set_state(state)
    again = other.state()
    assert np.abs(again.position - state.position).max() < 1e-4
    assert np.abs(again.rotation - state.rotation).max() < 1e-3


@pytest.mark.slow
def test_worlds_equal_single_runs():
    def model(speed):
        m = rigid.Model()
        m.add_box((0.4, 0.2, 0.1), mass=1.2, angular_velocity=(speed, 1, 0))
        return m

    both = rigid.solver("verlet", [model(1.0), model(5.0)], dt=0.01)
    both.step(50)
    for k, speed in enumerate((1.0, 5.0)):
        alone = rigid.solver("verlet", model(speed), dt=0.01)
        alone.step(50)
        assert np.array_equal(both.state().rotation[k], alone.state().rotation)
        assert np.array_equal(both.particle_system.positions()[k], alone.particle_system.positions())


@pytest.mark.slow
def test_distance_joint_and_spring_between_bodies():
    # A body at rest on a spring stretches it by m g/k, and a rod not at all.
    for stiffness in (None, 500.0):
        model = rigid.Model(gravity=(0, 0, -g))
        box = model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, -1))
        if stiffness:
            model.add_spring(rigid.GROUND, box, (0, 0, 0), (0, 0, -0.9), stiffness=stiffness)
        else:
            model.add_distance(rigid.GROUND, box, (0, 0, 0), (0, 0, -0.9))
        solver = rigid.solver("verlet", model, dt=0.01, iterations=60, damping=0.05, direction="current")
        solver.step(2000)
        stretch = 2.0 * g / stiffness if stiffness else 0.0
        # error of each unconverged stick: about g h²
        assert solver.state().position[0, 2] == pytest.approx(-1 - stretch, abs=2e-3)


def test_mesh_collider_on_a_body_is_refused():
    model = rigid.Model()
    model.add_box((1, 1, 1), mass=1.0, position=(0, 0, 3))
    model.add_shape(rigid.GROUND, pbd.MeshCollider(trimesh.creation.icosphere(1), resolution=8))
    with pytest.raises(NotImplementedError, match=r"MeshCollider.*on 'ground': bodies touch with convex shapes alone"):
        rigid.solver("verlet", model)


def test_soft_joint_is_refused_and_gear_is_not():
    def model(**options):
        it = rigid.Model()
        boxes = [it.add_box((0.2, 0.2, 0.2), mass=1.0, position=(x, 0, 1)) for x in (0, 1)]
        hinges = [it.add_hinge(rigid.GROUND, box, (x, 0, 1), (0, 1, 0), **options) for x, box in enumerate(boxes)]
        it.add_gear(*hinges, ratio=-1.0)
        return it

    rigid.solver("verlet", model())
    with pytest.raises(NotImplementedError, match=r"hinge '.*' is soft: solver \"verlet\" has hard joints alone"):
        rigid.solver("verlet", model(soft=rigid.Soft(frequency=5.0)))


def test_unknown_solver_suggests_the_nearest():
    with pytest.raises(ValueError, match=r"did you mean 'verlet'"):
        rigid.solver("verlett", rigid.Model())
