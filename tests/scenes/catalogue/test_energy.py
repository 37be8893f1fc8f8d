"""No passive scene of the catalogue gains energy, at any time: total energy is compared with its running minimum."""

import numpy as np
import pytest
from marks import slow
from versions import load_small, small, solvers_with_settings, version

import pbd
import scenes
from scenes.simulate.run import Run

# Every scheme here reads kinetic and potential energy at one instant, to first order in the step h. In free flight that
# is an error of m (g h)²/2 per step, relative to m g z: g h²/(2 z), which is 0.001 for the longest step of the
# catalogue, 1/60 s, and a height of 1.4 m. Velocities never gain energy from impulses, and position corrections raise a
# body by less than a millimetre per metre. So an increase above this is energy that the solver has added.
TOLERANCE = 1e-3

# These stand still.
STILL = ("arch", "card_house", "high_mass_ratio", "pyramid", "stack")

DURATION = 2.0  # of a small scene [s]: the others fall, swing, bounce or spin in this time, or have begun to rest


def energies(running, each_step=None):
    """Step through a Run. Args: running: a Run; each_step: a function (running, number of the step), or None.

    Returns: total and kinetic energy at time zero and after each step (steps + 1,) [J], and the scale of the scene:
    m g z of all that moves, with the height from the floor, and the kinetic energy at the start; without gravity all
    energy at the start, as that of a twisted ring [J].
    """
    scene, system = running.scene, running.system
    mass, height = 0.0, 0.0
    gravity = np.linalg.norm((scene.particles or scene.model).gravity)
    if scene.particles is not None:
        moving = np.isfinite(scene.particles.masses())
        mass, height = scene.particles.masses()[moving].sum(), scene.particles.positions()[moving, 2].max()
    if scene.model is not None:
        mass += scene.model.masses.sum()
        height = max(height, *(body.position[2] for body in scene.model.bodies), 0.0)
    found = [system.energy()]
    scale = gravity * mass * height + found[0].kinetic + (0.0 if gravity else found[0].potential)
    for number in range(running.steps):
        if each_step is not None:
            each_step(running, number)
        system.step()
        found.append(system.energy())
    return np.array([each.total for each in found]), np.array([each.kinetic for each in found]), scale


def largest_gain(total):
    """Largest increase above the running minimum. Args: total: energies (n,). Returns: gain, first and last step."""
    gains = total - np.minimum.accumulate(total)
    last = int(gains.argmax())
    return gains[last], int(total[: last + 1].argmin()), last


def versions():
    """All passive scenes with each of their solvers: small ones, and, slow, whole ones and one that takes long."""
    for name in scenes.available():
        if small(name).passive:
            for solver in solvers_with_settings(small(name)):
                param = version(name, solver, False)
                yield slow(*param.values, id=param.id) if name in ("jelly", "soft_body") else param
                yield slow(name, solver, True, id=f"{param.id}-whole")


def test_most_scenes_are_passive():
    passive = {name for name in scenes.available() if small(name).passive}
    assert {"arch", "drape", "pendulum", "ragdoll", "soft_body", "stack"} <= passive
    assert not passive & {"flag", "four_bar", "gripper", "trailer"}  # wind, motors, control


@pytest.mark.parametrize(("name", "solver", "whole"), list(versions()))
def test_passive_scene_gains_no_energy(name, solver, whole):
    scene = scenes.load(name) if whole else load_small(name)
    total, kinetic, scale = energies(Run(scene, solver, None if whole else min(DURATION, scene.duration)))
    if name not in STILL:
        assert kinetic.max() > 0.003 * scale
    gain, first, last = largest_gain(total)
    assert gain < TOLERANCE * scale, f"{gain / scale:.2%} of {scale:.4g} J from step {first} to step {last}"


def test_energy_planted_after_a_loss_is_found():
    # A ball falls from 1 m, lands after 0.45 s and rebounds with half its speed. At 0.6 s, when it has lost 3/4 of its
    # energy, it is given twice the tolerance. The total stays far below that at the start.
    def plant(running, number):
        if number == 72:
            state, kinetic = running.system.state(), running.system.energy().kinetic
            factor = np.sqrt(1 + 2 * TOLERANCE * scale / kinetic)
            state.previous_position = state.position - factor * (state.position - state.previous_position)
            running.system.set_state(state)

    particles = pbd.Particles()
    particles.add_particle((0, 0, 1))
    particles.add_collider(pbd.Plane(), restitution=0.5)
    scene = scenes.Scene(particles, duration=0.8, settings={"verlet": {"dt": 1 / 120}})
    total, _, scale = energies(Run(scene))
    assert total[-1] < 0.3 * total[0]
    assert largest_gain(total)[0] < TOLERANCE * scale
    planted, _, _ = energies(Run(scene), plant)
    gain, _, last = largest_gain(planted)
    assert gain == pytest.approx(2 * TOLERANCE * scale, rel=0.1)
    assert last >= 73
    assert planted.max() == planted[0]
