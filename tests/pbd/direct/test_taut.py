"""What is taut iterates: nothing bounds its tension. What hangs, or moves in a plane, is solved directly."""

import numpy as np
import pytest

import pbd
import rigid
import scenes

g = 9.81


def rope(slack=0.0, gravity=(0, 0, -g), fixed=(0, -1)):
    """A rope of six sticks along x. Args: slack: the middle hangs so low [m]; fixed: particles."""
    place = np.linspace(0.0, 1.0, 7)
    particles = pbd.Particles(gravity=gravity)
    added = particles.add_particles(np.stack([place, 0 * place, -slack * np.sin(np.pi * place)], axis=1), 0.1)
    particles.add_sticks(np.stack([added[:-1], added[1:]], axis=1))
    particles.pin(added[list(fixed)])
    return pbd.ParticleSystem(particles, solve="auto")


def test_a_straight_rope_between_two_pins_iterates():
    # s = 1 for each stick, and C'' = |Δv|²/L > 0 as gravity moves it across.
    system = rope()
    assert len(system.direct.rows) == 0
    assert "taut" in system.direct.notes[0]
    system.step(120)
    assert np.abs(system.positions()).max() < 1.01  # iterations stretch it


@pytest.mark.parametrize("given", [{"slack": 0.05}, {"gravity": (g, 0, 0)}, {"gravity": (0, 0, 0)}, {"fixed": (0,)}])
def test_ropes_that_are_not_taut_are_solved_directly(given):
    # With slack or a free end there is no self-stress; along itself gravity moves nothing.
    system = rope(**given)
    assert len(system.direct.rows) >= 5
    assert system.direct.notes == []


def bridge(joint):
    """Four planks in line between two walls. Args: joint: "ball" or "hinge"."""
    model, last = rigid.Model(gravity=(0, 0, -g)), rigid.GROUND
    axis = () if joint == "ball" else ((0, 1, 0),)
    add = getattr(model, f"add_{joint}")
    for k in range(4):
        plank = model.add_box((0.5, 0.3, 0.05), mass=1.0, position=(0.25 + 0.5 * k, 0, 0))
        add(last, plank, (0.5 * k, 0, 0), *axis)
        last = plank
    add(rigid.GROUND, last, (2, 0, 0), *axis)
    return rigid.solver("verlet", model, contacts=False, solve="auto")


@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_a_straight_bridge_iterates_and_stays(joint):
    solver = bridge(joint)
    assert solver.statistics().direct == 0
    solver.step(120)
    assert np.abs(solver.state().position[:, 2]).max() < 0.25


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "peaucellier_lipkin"])
def test_linkages_in_a_plane_are_solved_directly(name):
    solver = rigid.solver("verlet", scenes.load(name).model, contacts=False, solve="auto")
    assert solver.statistics().direct > 50


@pytest.mark.parametrize("pins", [("top", "bottom", "left", "right"), ("left_top", "right_top"), ()])
@pytest.mark.parametrize("count", [3, 5, 9])
def test_soft_shear_does_not_change_what_is_taut(count, pins):
    # Compliant diagonals depend on the rigid sticks of a flat cloth, so Gram's matrix of all is singular. They give
    # way, and hold nothing taut.
    chosen = []
    for shear in (0.0, 0.018):
        particles = pbd.Particles()
        pbd.build.cloth(
            particles, (0, 0, 0), (1, 0, 0), (0, 1, 0), (count, count), density=0.15, pins=pins, thickness=0.0,
            shear_compliance=shear, bending=None,
        )  # fmt: skip
        chosen.append(pbd.ParticleSystem(particles, solve="auto").direct.notes)
    assert chosen[0] == chosen[1]
    assert ("taut" in "".join(chosen[0])) == bool(pins)
