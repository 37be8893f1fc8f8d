"""Scalar constraint types: the gradient is the derivative of the value, and a projection conserves both momenta."""

import numpy as np
import pytest
import taichi as ti
from elsewhere import run_elsewhere
from scipy.spatial.transform import Rotation

import pbd
from pbd.constraints import rod
from pbd.constraints.angle import angle
from pbd.constraints.bending import bending
from pbd.constraints.plane import plane
from pbd.constraints.stick import stick
from pbd.constraints.volume import volume
from pbd.description.rod_frames import frames_of

FUNCTIONS = {
    "stick": (stick, 2),
    "angle": (angle, 3),
    "plane": (plane, 4),
    "bending": (bending, 4),
    "volume": (volume, 4),
}


# Types of several rows, or whose function gives lists: derivatives, arity, number of parameters.
DERIVATIVES = {"rod segment": rod.SEGMENT.compliant, "rod joint": rod.JOINT.compliant}


def evaluator_of_rows(definition):
    """A function of points and parameters that returns C of each row (n,), and their gradients (n, arity, 3)."""
    rows, arity, numbers = definition.multipliers, definition.arity, len(definition.parameters)

    @ti.kernel
    def evaluate(x: ti.types.ndarray(ndim=2), given: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=3)):
        points = [ti.Vector([x[k, 0], x[k, 1], x[k, 2]]) for k in ti.static(range(arity))]
        C, gradients = definition.derivatives(points, [given[k] for k in ti.static(range(numbers))])
        for row in ti.static(range(rows)):
            out[row, arity, 0] = C[row]
            for k in ti.static(range(arity)):
                for j in ti.static(range(3)):
                    out[row, k, j] = gradients[row][k][j]

    def call(x, given):
        out = np.zeros((rows, arity + 1, 3))
        evaluate(np.ascontiguousarray(x), np.asarray(given, float), out)
        return out[:, arity, 0], out[:, :arity]

    return call


def evaluator(function, arity):
    @ti.kernel
    def evaluate(x: ti.types.ndarray(ndim=2), parameter: float, out: ti.types.ndarray(ndim=2)):
        points = [ti.Vector([x[k, 0], x[k, 1], x[k, 2]]) for k in ti.static(range(arity))]
        C, gradient = function(points, [parameter])
        out[arity, 0] = C
        for k in ti.static(range(arity)):
            for j in ti.static(range(3)):
                out[k, j] = gradient[k][j]

    def call(x, parameter):
        out = np.zeros((arity + 1, 3))
        evaluate(np.ascontiguousarray(x), parameter, out)
        return out[arity, 0], out[:arity]

    return call


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient_is_the_derivative(name):
    # Central differences of step δ: error δ² C'''/6 + ε C/δ ≈ 1e-9 for arms of about one.
    function, arity = FUNCTIONS[name]
    evaluate = evaluator(function, arity)
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, parameter = rng.normal(size=(arity, 3)), rng.uniform(0.1, 0.9)
        C, gradient = evaluate(x, parameter)
        if name == "bending" and abs(C) > 3**0.5:
            continue  # beyond 120° from rest the gradient has a lower bound, see the next test
        for k in range(arity):
            for j in range(3):
                step = np.zeros_like(x)
                step[k, j] = 1e-6
                slope = (evaluate(x + step, parameter)[0] - evaluate(x - step, parameter)[0]) / 2e-6
                assert gradient[k, j] == pytest.approx(slope, rel=1e-6, abs=1e-6 * max(1, np.abs(gradient).max()))


@pytest.mark.parametrize("bend", [0.0, 1e-3, 0.5, 2.8])
@pytest.mark.parametrize("name", DERIVATIVES)
def test_gradients_of_rods_are_the_derivatives(name, bend):
    # Central differences as above. A joint near its rest, where functions of the angle are series, at 0.5 rad, and near
    # half a turn, where the rotation vector has a kink.
    evaluate, rng = evaluator_of_rows(DERIVATIVES[name]), np.random.default_rng(4)
    for _ in range(10):
        x = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0.5, 0.6, 0), (1.5, 0.6, 0)]) + rng.uniform(-0.2, 0.2, (5, 3))
        given = [rng.uniform(0.5, 1.5)]
        if name == "rod segment":
            x = x[:2]
        else:
            present = frames_of(x, np.array([(0, 1, 3), (1, 2, 4)]))
            axis = rng.normal(size=3)
            away = Rotation.from_rotvec(bend * axis / np.linalg.norm(axis))
            given = [*np.roll((present[0].inv() * present[1] * away).as_quat(), 1), *rng.uniform(0.5, 1.5, 3)]
        C, gradients = evaluate(x, given)
        if name == "rod joint":
            assert np.linalg.norm(C / given[4:]) == pytest.approx(bend, abs=1e-12)
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = 1e-6
            slopes = (evaluate(x + step, given)[0] - evaluate(x - step, given)[0]) / 2e-6
            found, largest = gradients[:, index[0], index[1]], max(1, np.abs(gradients).max())
            np.testing.assert_allclose(found, slopes, atol=2e-6 * largest)


@pytest.mark.parametrize("degrees", [10, 150, 170, 179])
def test_projection_of_a_rigid_hinge_far_from_rest_is_bounded(degrees):
    # Unit right triangles folded about x. One projection: C <= 2, and |∇C| is at least half of |∇θ|. So nothing moves
    # further than the 2 m of a Newton step with that slope.
    angle = np.radians(degrees)
    x = np.array([(0, 0, 0), (1, 0, 0), (0.5, -1, 0), (0.5, np.cos(angle), np.sin(angle))])
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x)
    particles.add_bending([(0, 1, 2, 3)], rest_angle=0.0)
    system = pbd.ParticleSystem(particles, iterations=1)
    system.step()
    assert np.linalg.norm(system.positions() - x, axis=1).max() < 2.5
    for _ in range(30):
        system.step()
    assert system.statistics().residual < 1e-3 or degrees == 179


@pytest.mark.parametrize("degrees", [0, 1, 40, 120, 179, 180])
def test_flat_bending_equals_bending_if_triangles_keep_their_shapes(degrees):
    # |a1 + a2| = 2 sin(θ/2) of two unit vectors θ short of opposite; triangles of other shapes, folded rigidly about x.
    angle = np.radians(degrees)
    x = np.array([(0, 0, 0), (1.1, 0, 0), (0.3, -0.7, 0), (0.8, 0.5, 0)])
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x)
    particles.add_flat_bending([(0, 1, 2, 3)])
    _, numbers = particles.constraint_sets["flat bending", False].arrays()
    folded = x.copy()
    folded[3] = 0.8, 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    assert np.linalg.norm(numbers[0, :4] @ folded) == pytest.approx(2 * np.sin(angle / 2), abs=1e-14)
    with pytest.raises(ValueError, match=r"flat bending of \[0, 1, 4, 3\]: expected triangles with some area"):
        particles.add_flat_bending([(0, 1, particles.add_particle((2.0, 0, 0)), 3)])


@pytest.mark.parametrize("degrees", [3, 1, 0.1])
def test_an_angle_limit_moves_nearly_folded_arms_by_a_bounded_distance(degrees):
    # C = θ - 30° has the slope 1/arm for each end at any θ. So one projection moves an end by about 30° times its arm.
    angle = np.radians(degrees)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0.4, 0, 0), (0.4 * np.cos(angle), 0.4 * np.sin(angle), 0)])
    particles.add_angle_limit(1, 0, 2, minimum=np.radians(30))
    x = particles.positions()
    system = pbd.ParticleSystem(particles, iterations=1)
    system.step()
    assert np.linalg.norm(system.positions() - x, axis=1).max() < 0.4 * np.radians(30)


KINDS = {
    "stick": lambda p: p.add_stick(0, 1, 0.4),
    "stick, compliant": lambda p: p.add_stick(0, 1, 0.4, compliance=1e-3),
    "at least": lambda p: p.add_stick(0, 1, 9.0, bound="at_least"),
    "angle": lambda p: p.add_angle_limit(1, 0, 2, minimum=2.9),
    "angle, distance": lambda p: p.add_angle_limit(1, 0, 2, maximum=0.2, form="distance"),
    "plane": lambda p: p.add_plane_limit(0, (1, 2, 3), distance=3.0),
    "bending": lambda p: p.add_bending([(0, 1, 2, 3)], rest_angle=0.7, compliance=0.1),
    "flat bending": lambda p: p.add_flat_bending([(0, 1, 2, 3)], compliance=0.1),
    "volume": lambda p: p.add_volumes([(0, 1, 2, 3)], volume=5.0),
}


@pytest.mark.parametrize("name", KINDS)
def test_projection_conserves_linear_and_angular_momentum(name):
    # One projection from rest: Σ m Δx = 0, and Σ m x × Δx = 0, because the gradient of a function of relative positions
    # has no moment at these positions. Masses from 1 to 7, one projection: to round-off.
    rng = np.random.default_rng(4)
    x, masses = rng.normal(size=(4, 3)), np.array([1.0, 7.0, 2.0, 3.0])
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, masses)
    KINDS[name](particles)
    system = pbd.ParticleSystem(particles, iterations=1)
    system.step()
    moved = masses[:, None] * (system.positions() - x)
    assert np.abs(moved).max() > 1e-3
    assert np.abs(moved.sum(axis=0)).max() < 1e-13
    assert np.abs(np.cross(x, moved).sum(axis=0)).max() < 1e-13


@pytest.mark.parametrize("name", [name for name in KINDS if "compliant" not in name and "bending" not in name])
@pytest.mark.parametrize("direction", ["current", "start"])
def test_iterations_satisfy_the_constraint(name, direction):
    # Newton's iteration on a single constraint: the violation vanishes to round-off.
    rng = np.random.default_rng(5)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(rng.normal(size=(4, 3)), [1.0, 7.0, 2.0, 3.0])
    KINDS[name](particles)
    system = pbd.ParticleSystem(particles, iterations=200, direction=direction)
    system.step(5)
    assert system.statistics().residual < 1e-9


def short_vectors():
    """Gradients of a stick and of a triangle shorter than 1e-10 m; run in a process of its own, in 32 bits."""
    for function, arity in (stick, 2), (plane, 4):
        evaluate = evaluator(function, arity)
        for exponent in range(10, 44):
            x = np.zeros((arity, 3), np.float32)
            x[-1, :2] = 10.0**-exponent, -0.3 * 10.0**-exponent
            if arity == 4:
                x[-2, 1] = 10.0**-exponent
            assert np.linalg.norm(evaluate(x, 1.0)[1][0]) < 1.5, (function, exponent)


def nearly_flat_cloth():
    """A hanging cloth some rings of whose rail are moved aside a little; run in a process of its own, in 32 bits."""
    rows = 17
    for aside in 10.0 ** -np.arange(5.0, 25.0, 4.0):
        particles = pbd.Particles()
        sheet = pbd.build.cloth(
            particles, (0, 0, 0), (1, 0, 0), (0, 0, -1), (rows, rows), density=0.25, shear_compliance=5e-3
        )
        rings = sheet.particles[:rows][::2]
        start = particles.positions()[rings]
        way = np.where(np.arange(len(rings)) % 2, aside, -aside)[:, None] * (0.0, 60.0, 0.0)  # in one second
        particles.add_path(rings, lambda time, start=start, way=way: start + time * way)
        system = pbd.ParticleSystem(particles, dt=1 / 720, iterations=4)
        for k in range(1, 13):
            system.step()
            assert system.energy().kinetic < 0.5 * 0.25 * (9.81 * k / 720) ** 2, (aside, k)


def test_no_direction_is_longer_than_one_in_32_bits():
    # |∇C| = 1 along a stick and across a triangle, or zero where they are too short. The square of what is shorter than
    # 1e-22 is zero in 32 bits, so that v/(|v| + ε) has no bound.
    run_elsewhere(__file__, "short_vectors()", "f32", opt_level=0)


@pytest.mark.slow
def test_a_nearly_flat_cloth_gains_no_energy_in_32_bits():
    # Nothing falls faster than freely, so its kinetic energy is at most m (g t)²/2; the rings bring next to none. The
    # vector of a hinge's bending, a sum of positions that cancel, becomes as short as 1e-25.
    run_elsewhere(__file__, "nearly_flat_cloth()", "f32", opt_level=0)
