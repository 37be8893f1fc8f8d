"""Fast spins with the variational integrator: no step gains energy, whatever a body turns in it."""

import numpy as np
import pytest

import rigid

# Moments of inertia in ratios from 1 to 40, equal ones, and nearly equal ones [kg m²].
MOMENTS = (
    (1e-3, 4e-2, 4.05e-2), (5e-3, 1e-2, 1.49e-2), (1e-2, 1e-2, 1.99e-2), (1e-2, 1.001e-2, 1.99e-2),
    (1e-2, 1.000001e-2, 1e-2), (1e-2, 1e-2, 1e-2),
)  # fmt: skip
TURNS = (0.01, 0.1, 0.33, 0.5, 0.67, 0.83, 1.0, 1.33, 2.0, 3.0)  # in a step [rad]
H = 1 / 60


def free_bodies(turn):
    """One body in each world. Args: turn: in a step [rad]."""
    models = []
    for moments in MOMENTS:
        for axis in ((40, 30, 30), (1, 10, 1), (1, 1, 1)):
            model = rigid.Model(gravity=(0, 0, 0))
            model.add_body(mass=1.0, inertia=moments, angular_velocity=turn / H * np.array(axis) / np.linalg.norm(axis))
            models.append(model)
    return models


def chains(turn, joints, apart, free, seed):
    """Chains of bodies that spin about random axes. Args: turn; joints: kinds; apart: of bodies [m]; free; seed."""
    models, random = [], np.random.default_rng(seed)
    for moments in MOMENTS:
        model, last = rigid.Model(gravity=(0, 0, 0)), rigid.GROUND
        for k, joint in enumerate(joints):
            spin = random.normal(size=3)
            spin *= turn / H / np.linalg.norm(spin)
            body = model.add_body(mass=1.0, inertia=moments, position=(apart * k, 0, 0), angular_velocity=spin)
            point = (apart * (k - 0.5), 0, 0)
            if joint == "ball" and (k or not free):
                model.add_ball(last, body, point)
            elif joint == "hinge" and (k or not free):
                model.add_hinge(last, body, point, np.eye(3)[k % 3])
            elif k or not free:
                model.add_universal(last, body, point, (1, 0, 0), (0, 1, 0))
            last = body
        models.append(model)
    return models


def largest_gain(solver, steps):
    """The largest rise of the energy over that after the first step, which projects velocities, in parts of it."""
    solver.step(1)
    start, highest = solver.energy().total, 0.0
    for _ in range(steps // 6):
        solver.step(6)
        highest = np.maximum(highest, solver.energy().total)
    return (highest / start - 1).max()


def random_bodies():
    """One body with random moments and a random spin in each world, some almost about the axis of an odd moment."""
    models = []
    for seed in range(60):
        random, model = np.random.default_rng(seed), rigid.Model(gravity=(0, 0, 0))
        least = 1e-3
        largest = least * random.uniform(1, 40)
        middle = random.uniform(max(least, largest - least), largest)
        spin = np.eye(3)[seed % 3] + random.normal(size=3) * (1.0 if seed % 2 else 0.02)
        spin *= random.uniform(0.01, 3) / H / np.linalg.norm(spin)
        model.add_body(mass=1.0, inertia=(least, middle, largest), angular_velocity=spin)
        models.append(model)
    return models


@pytest.mark.slow
@pytest.mark.parametrize("launch", [1, 6, 60])
@pytest.mark.parametrize("name", ["impulse", "articulated"])
def test_free_bodies_gain_no_energy_at_any_turn(name, launch):
    # T = L·I⁻¹L/2 with |L| kept may rise by the ratio of moments, 40. The sum of what T gains is bounded by 2 % of its
    # largest value, 1/(1 - 0.02) of the first one, and the fallback loses.
    models = [model for turn in TURNS for model in free_bodies(turn)] + random_bodies()
    solver = rigid.solver(name, models, dt=H, integrator="variational")
    start = solver.energy().total
    for _ in range(360 // launch):
        solver.step(launch)
        assert (solver.energy().total < 1.0205 * start).all()


@pytest.mark.slow
@pytest.mark.parametrize("launch", [1, 6])
@pytest.mark.parametrize(
    ("joints", "apart", "free"),
    [(("ball",) * 2, 0.3, True), (("universal", "ball", "hinge", "universal"), 0.3, True), (("ball",) * 3, 0.3, False),
     (("ball",), 0.0, False)],
    ids=["balls", "mixed", "pendulum", "gyroscope"],
)  # fmt: skip
def test_chains_that_turn_as_one_body_gain_no_energy(joints, apart, free, launch):
    # All velocities are those of one rotation, so joints are closed at the start. Moments are unequal: chains tumble.
    models = [model for seed, turn in enumerate(TURNS) for model in chains(turn, joints, apart, free, seed)]
    solver = rigid.solver("impulse", models, dt=H, integrator="variational")
    state = solver.state()
    state.angular_velocity[:] = state.angular_velocity[:, :1]
    middle = np.array([(len(joints) - 1) / 2 if free else -0.5, 0, 0]) * apart
    state.velocity[:] = np.cross(state.angular_velocity, state.position - middle)
    solver.set_state(state)
    start = solver.energy().total
    for _ in range(360 // launch):
        solver.step(launch)
        assert (solver.energy().total < 1.0205 * start).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joints", "apart", "free"),
    [(("ball",) * 2, 0.3, True), (("universal", "ball", "hinge", "universal"), 0.3, True),
     (("hinge", "ball", "hinge"), 0.3, False), (("hinge",) * 3, 0.0, False), (("ball",), 0.0, False)],
    ids=["balls", "mixed", "pendulum", "gimbal", "gyroscope"],
)  # fmt: skip
def test_chains_of_spinning_bodies_gain_no_energy(joints, apart, free):
    # The sum of what T gains is bounded by 2 % of its largest value.
    models = [model for seed, turn in enumerate(TURNS) for model in chains(turn, joints, apart, free, seed)]
    solver = rigid.solver("articulated", models, dt=H, integrator="variational")
    assert largest_gain(solver, 360) < 0.021


@pytest.mark.slow
def test_the_angular_momentum_of_a_free_body_is_kept():
    # The midpoint rule passes on exp(h ω/2) I ω, which is L in the world. Newton's method solves it to 1e-12 of L.
    models = free_bodies(0.1)
    solver = rigid.solver("articulated", models, dt=H, integrator="variational")

    def momenta():
        state = solver.state()
        turned = np.array([rigid.rotation.to_matrix(q[0]) for q in state.rotation])
        inertia = turned @ np.array([model.bodies[0].inertia for model in models]) @ turned.transpose(0, 2, 1)
        return np.einsum("nij,nj->ni", inertia, state.angular_velocity[:, 0])

    start = momenta()
    solver.step(600)
    assert np.abs(momenta() - start).max() < 1e-9 * np.abs(start).max()
