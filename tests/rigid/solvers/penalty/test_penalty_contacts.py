"""Bodies that touch, by penalties: how deep they rest, what they weigh, slide, rebound, and that nothing flies apart.

Boxes most of them, as kernels are compiled for the kinds of shape that meet.
"""

import math

import numpy as np
import pytest
from described import ASIDE, model_of

import rigid
from rigid.rotation import from_axis_angle

g = 9.81


def solve(model, dt=0.003, **options):
    return rigid.solver("penalty", model, dt=dt, **options)


@pytest.mark.parametrize("mass", [0.01, 3.0])
def test_depth_of_a_resting_box(mass):
    # Each corner's A = 1/m + (x² + y²)-ish/I, A m = 1 + y²/k_x² + x²/k_y² with radii of gyration k: four springs of
    # α*/A bear m g at a depth of g A m/(4 α*).
    size = np.array([0.4, 0.2, 0.2])
    model = model_of()
    box = model.add_box(size, mass=mass, position=(0, 0, 0.1))
    solver = solve(model)
    solver.step(700)
    x, y = size[:2] / 2
    gyration = np.array([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2]) / 12
    depth = g * (1 + y * y / gyration[0] + x * x / gyration[1]) / (4 * 5000)
    assert 0.1 - solver.state().position[box, 2] == pytest.approx(depth, rel=1e-6)
    found, stats = solver.contact_forces(), solver.statistics()
    assert (stats.contacts, len(found.forces)) == (4, 4)
    assert stats.residual == pytest.approx(depth, rel=1e-6)
    assert found.gaps == pytest.approx(-depth, rel=1e-6)
    assert np.array_equal(found.bodies, [(box, -1)] * 4)
    assert np.abs(found.normals - (0, 0, 1)).max() < 1e-12
    assert found.forces == pytest.approx(np.tile([0, 0, mass * g / 4], (4, 1)), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("stiffness", [5e3, 4e5])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_boxes_dropped_on_edges_and_corners_gain_no_energy(restitution, stiffness):
    # Energy falls, except for what springs store for a while; also with a stiffness for which a single row is almost
    # unstable, h² α* = 3.6.
    model = model_of(friction=0.6)
    for k in range(6):
        turn = from_axis_angle((1, 0.3 * k, 0.2), 0.4 * k)
        model.add_box((0.3, 0.2, 0.15), mass=0.2 + k, position=(0.1 * k, 0, 0.5 + 0.3 * k), rotation=turn,
                      friction=0.6, restitution=restitution)  # fmt: skip
    solver = solve(model, stiffness=stiffness, damping=0.1)
    energies = [solver.energy().total]
    for _ in range(150):
        solver.step(10)
        energies.append(solver.energy().total)
    weights = (model.masses[ASIDE:] * g).sum()
    assert max(energies) < energies[0] + 0.01 * weights
    assert solver.state().position[ASIDE:, 2].min() > 0.02
    if (restitution, stiffness) == (0.0, 5e3):
        assert np.abs(solver.state().velocity[ASIDE:]).max() < 0.05


def slab(angle, heading, friction=0.5):
    """A slab on a slope. Gravity is tilted instead of the ground."""
    down = g * np.array([
        math.sin(angle) * math.cos(heading), math.sin(angle) * math.sin(heading), -math.cos(angle)
    ])  # fmt: skip
    model = model_of(gravity=down, friction=friction)
    model.add_box((0.5, 0.3, 0.05), mass=2.0, position=(0, 0, 0.025), friction=friction, name="slab")
    return model


@pytest.mark.parametrize("heading", np.radians([0, 45, 100, 290]))
def test_slab_slides_down_a_slope_in_any_direction(heading):
    # a = g (sin 30° - μ cos 30°) in the direction of slip, once it has settled: the cone, to round-off.
    solver = solve(slab(math.radians(30), heading))
    solver.step(700)
    before = solver.state().velocity[ASIDE]
    solver.step(200)
    along = np.array([math.cos(heading), math.sin(heading), 0])
    expected = 0.6 * g * (0.5 - 0.5 * math.sqrt(3) / 2) * along
    assert solver.state().velocity[ASIDE] - before == pytest.approx(expected, abs=1e-9)
    force = solver.contact_forces().forces.sum(axis=0)
    normal = 2.0 * g * math.sqrt(3) / 2
    assert force == pytest.approx(normal * np.array([0, 0, 1.0]) - 0.5 * normal * along, abs=1e-6)


def test_slab_rests_on_a_slope_without_creeping():
    # tan 25° = 0.466 < μ = 0.5: it slides by millimetres, as springs give way, and then stays, to 1e-9 m in 6 s.
    solver = solve(slab(math.radians(25), 0.3))
    solver.step(1000)
    rests = solver.state().position[ASIDE]
    assert np.linalg.norm(rests[:2]) < 0.01
    solver.step(2000)
    assert np.linalg.norm(solver.state().position[ASIDE] - rests) < 1e-9


def test_sliding_box_stops():
    # After v²/2μg, up to the stretch of its springs: about μ g/α* times A m of a corner.
    model = model_of(friction=0.5)
    model.add_box((0.4, 0.4, 0.05), mass=1.0, position=(0, 0, 0.023), velocity=(1.2, 1.6, 0), friction=0.5)
    solver = solve(model)
    solver.step(700)
    way = np.linalg.norm(solver.state().position[ASIDE, :2])
    assert way == pytest.approx(2.0**2 / (2 * 0.5 * g), abs=0.008)
    assert np.abs(solver.state().velocity[ASIDE]).max() < 1e-6


@pytest.mark.parametrize("restitution", [0.3, 0.6, 1.0])
def test_rebound_height_converges_with_stiffness(restitution):
    # An impact takes π/√α*, 70 ms at first, while the weight pulls: with sixteen times α* a quarter of that error is
    # left. The error of the scheme, h √α* = 0.01, stays. (For a cube A of a corner is 4/m, so four corners are as stiff
    # and damped as one point below its centre.)
    errors = []
    for k in (1, 4):
        model = model_of()
        box = model.add_box((0.2, 0.2, 0.2), mass=0.7, position=(0, 0, 1.1), restitution=restitution)
        solver = solve(model, 0.00025 / k, stiffness=2e3 * k**2)
        solver.step(2100 * k)  # it has hit the ground at 0.45 s, and left it
        heights = []
        while solver.time < 1.0:
            solver.step(8 * k)
            heights.append(solver.state().position[box, 2] - 0.1)
        errors.append(abs(max(heights) - restitution**2))
    assert errors[0] < 0.1
    assert errors[1] < 0.4 * errors[0] + 1e-4  # heights are read every 2 ms: g (1 ms)²/2 at most


@pytest.mark.parametrize("friction", [0.0, 0.8])
def test_contacts_keep_momentum_to_round_off(friction):
    # Two free cubes of unequal masses collide obliquely: opposite forces at one point. A cube has equal moments of
    # inertia, so its L is constant while it rotates.
    model = model_of(gravity=(0, 0, 0), ground=False)
    model.add_box((0.2, 0.2, 0.2), mass=0.5, velocity=(2, 0.3, 0), angular_velocity=(1, 5, -3), friction=friction)
    model.add_box((0.3, 0.3, 0.3), mass=4.0, position=(0.5, 0.1, 0.05), rotation=from_axis_angle((1, 2, 3), 0.7),
                  friction=friction, angular_velocity=(0, 0, 1.0))  # fmt: skip
    solver = solve(model)
    state = solver.state()
    linear, spins = rigid.linear_momentum(model, state), rigid.angular_momentum(model, state)
    energy, met = solver.energy().kinetic, 0
    for _ in range(150):
        solver.step()
        met += len(solver.contact_forces().forces) > 0
    state = solver.state()
    assert met
    assert solver.energy().kinetic < 0.95 * energy
    assert np.abs(rigid.linear_momentum(model, state) - linear).max() < 1e-13
    # Poses are half a step ahead, which does not change L: h Σ v × m v = 0.
    assert np.abs(rigid.angular_momentum(model, state) - spins).max() < 1e-13


def test_forces_in_a_stack_are_the_weights_above():
    # Box i of five carries (5 - i) m g, with many points on a body and no growing oscillation.
    model = model_of(friction=0.5)
    boxes = [model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1 + 0.2 * k), friction=0.5) for k in range(5)]
    solver = solve(model, 0.0015)
    solver.step(4000)
    found = solver.contact_forces()
    for k, box in enumerate(boxes):
        below = boxes[k - 1] if k else -1
        here = np.array([(a == box and b == below, a == below and b == box) for a, b in found.bodies], float)
        force = sum(f * (up - down) for f, (up, down) in zip(found.forces, here))
        assert force == pytest.approx((0, 0, (5 - k) * 2.0 * g), rel=1e-3, abs=1e-3 * 2 * g)
    assert np.abs(solver.state().velocity).max() < 1e-3


def test_full_contact_buffer_raises():
    model = model_of()
    model.add_box((0.4, 0.2, 0.2), mass=3.0, position=(0, 0, 0.09))
    solver = solve(model, contact_capacity=3)
    with pytest.raises(RuntimeError, match=r"contact buffer full \(4 of 3\): increase contact_capacity"):
        solver.step()
