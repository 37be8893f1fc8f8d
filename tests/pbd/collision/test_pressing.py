"""What colliders press between them is said, and does not fly away."""

import warnings

import numpy as np
import pytest
from marks import slow

import pbd
from pbd import build


def press(gap, radius, thickness=0.2):
    """Lower a plate onto a grid of particles on the ground, to a gap. Returns: the system after 1 s."""
    particles = pbd.Particles()
    particles.add_particles([(0.1 * i, 0.1 * j, 0.05) for i in range(4) for j in range(4)], radius=radius)
    particles.add_collider(pbd.Plane(), friction=0.3)
    particles.add_collider(
        pbd.Box((2, 2, thickness)), motion=lambda t: (0, 0, 0.5 * thickness + max(gap, 0.2 - 0.4 * t)), friction=0.3
    )
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4)
    fastest = 0.0
    for _ in range(6):
        system.step(10)
        fastest = max(fastest, np.abs(system.velocities()).max())
    return system, fastest


@pytest.mark.parametrize("gap", [0.002, 0.0, -0.02])
@pytest.mark.parametrize("thickness", [0.2, 0.05])
def test_a_particle_without_room_is_named(gap, thickness):
    """Spheres of 10 mm with 2 mm of room or less: one line. They are no faster than a fall and the plate together."""
    with pytest.warns(UserWarning, match=r"world 0, by .* s: particle \d+ is pressed between two colliders") as said:
        _, fastest = press(gap, 0.005, thickness)
    assert len(said) == 1
    assert fastest < 0.4 + np.sqrt(2 * 9.81 * 0.05)


@pytest.mark.parametrize(("gap", "radius"), [(0.02, 0.005), (0.0101, 0.005), (0.001, 0.0)])
def test_a_particle_with_room_is_not(gap, radius):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        press(gap, radius)


@pytest.mark.parametrize("solve", ["iterative", slow("direct")])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a wall"])
def test_a_rope_between_plates_is_said(solve, beside):
    # A wall comes between both plates in the order of colliders. Gravity presses the rope against it in each substep.
    particles = pbd.Particles(gravity=(0, -9.81 * beside, -9.81))
    build.rope(particles, [(-0.3, 0, 0.02), (0.3, 0, 0.02)], 20, mass=0.1)
    particles.add_collider(pbd.Plane())
    if beside:
        particles.add_collider(pbd.Plane(normal=(0, 1, 0)))
    particles.add_collider(pbd.Box((0.2, 0.2, 0.2)), motion=lambda t: (0, 0, 0.15 - 0.2 * t))
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=1 if beside else 10, solve=solve)
    with pytest.warns(UserWarning, match="pressed between two colliders"):
        system.step(60)
