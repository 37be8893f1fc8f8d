"""Bending that acts as an impulse every few substeps."""

import numpy as np
import pytest

import pbd

h, EVERY = 1e-4, 4  # substep [s], substeps for each projection
SCHEDULES = [{"schedule": "serial"}, {"schedule": "clusters", "clusters": 2}, {"schedule": "coloured"}]


def flat():
    """Two triangles, flat at rest."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0.5, -1, 0), (0.5, 1, 0)], mass=[1.0, 2.0, 3.0, 4.0])
    particles.add_flat_bending([(0, 1, 2, 3)], compliance=1.0)
    return particles


def fabric():
    """The same of a fabric."""
    particles = flat()
    particles.constraint_sets.clear()
    sheet = pbd.Fabric(warp=1e3, weft=1e3, shear=400.0, bending=1.0)
    particles.add_membrane([(0, 1, 3), (1, 0, 2)], sheet, (1, 0, 0))
    return particles


def run(substeps, interval=1, describe=flat, **options):
    """Fold the triangles by 60 degrees and make substeps. Returns: the system."""
    system = pbd.ParticleSystem(
        describe(), dt=EVERY * h, substeps=EVERY, iterations=1, bending_interval=interval, **options
    )
    x = system.positions()
    x[3] = 0.5, np.cos(np.pi / 3), np.sin(np.pi / 3)
    system.set_positions(x)
    system.step(substeps // EVERY)
    return system


@pytest.mark.parametrize("options", SCHEDULES)
def test_the_impulse_is_that_of_all_substeps(options):
    # v = n h w F with F constant to (h ω)² of about 1e-7, where ω² = Σ w k² / α is about 10 1/s².
    expected, found = run(EVERY).velocities(), run(EVERY, interval=EVERY, **options).velocities()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    momentum = np.array([1.0, 2.0, 3.0, 4.0]) @ found
    np.testing.assert_allclose(momentum, 0, atol=2e-11)  # round-off of 2e-16 m over h, times 10 kg


def test_plates_that_are_projected_have_the_impulse_of_all_substeps():
    options = {"describe": fabric, "elements": "iterative"}
    expected, found = run(EVERY, **options).velocities(), run(EVERY, interval=EVERY, **options).velocities()
    assert np.abs(expected).max() > 1e-5
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)
    assert not np.array_equal(found, expected)  # as it would be without an interval


def test_plates_that_are_solved_together_have_no_interval():
    one, other = (run(EVERY, interval=interval, describe=fabric) for interval in (1, EVERY))
    assert one.digest() == other.digest()


def test_a_bend_swings_at_its_frequency():
    # x and v after one second, some half period, differ from those of bending in each substep by order n h.
    each, every = run(10_000), run(10_000, interval=EVERY)
    assert np.abs(each.velocities()).max() > 0.1
    np.testing.assert_allclose(every.positions(), each.positions(), atol=5 * EVERY * h)


def test_the_residual_of_a_step_is_that_of_its_last_projection():
    # |C + α'λ| is zero to round-off after one projection.
    assert run(EVERY, interval=EVERY).statistics().residual < 1e-12


def test_intervals_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="substeps is 6: expected a multiple of bending_interval, 4"):
        pbd.ParticleSystem(flat(), substeps=6, bending_interval=4)
    with pytest.raises(ValueError, match='bending_interval is 4: expected 1, or solve="iterative"'):
        pbd.ParticleSystem(flat(), substeps=4, bending_interval=4, solve="direct")
