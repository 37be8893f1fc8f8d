"""Coloured contacts of the impulse solver: the same bits for any number of threads, and the physics of the default."""

import numpy as np
import pytest
from elsewhere import run_elsewhere

import rigid
from pbd.core.kernels import on_cpu, read
from rigid.collision.overlaps import Overlaps
from rigid.constraints.rows import GROUP
from rigid.solvers.impulse.coloured.colours import CLUSTER

RADIUS, SIDE = 0.1, 4


def heap(friction=0.5, dumbbells=True):
    """64 balls that fall onto the ground and one another, some of them jointed in pairs."""
    random, model = np.random.default_rng(5), rigid.Model()
    model.add_ground(friction=friction)
    for place in np.ndindex(SIDE, SIDE, SIDE):
        position = RADIUS * (2.05 * np.array(place) + (0, 0, 1.05)) + 0.02 * RADIUS * random.normal(size=3)
        model.add_sphere(RADIUS, mass=random.uniform(0.5, 2.0), position=position, friction=friction)
    for body in range(0, 4 * SIDE, 4) if dumbbells else ():
        middle = (model.bodies[body].position + model.bodies[body + 1].position) / 2
        model.add_ball(body, body + 1, point=middle, friction=0.01)
    return model


def solve(model, **options):
    return rigid.solver("impulse", model, **{"dt": 1 / 120, "iterations": 20, "coloured": True, **options})


def program():
    """The program of another process: digests of one world, after a launch of many steps and single steps."""
    solver = solve(heap())
    solver.step(60)
    many = solver.digest()
    for _ in range(20):
        solver.step()
    return f"many: {many}\nsingle: {solver.digest()}\nthreads: {solver._share.threads}\n"


@pytest.mark.slow
def test_bits_do_not_depend_on_threads_launches_or_worlds():
    if not on_cpu():
        pytest.skip("of the processor's threads")
    found = {threads: run_elsewhere(__file__, "program()", cpu_max_num_threads=threads) for threads in (1, 2)}
    assert [each.pop("threads") for each in found.values()] == ["1", "2"]
    assert found[1] == found[2]
    several = solve(heap(), worlds=2)
    several.step(80)
    alone = solve(heap())
    for _ in range(80):
        alone.step()
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        for world in range(2):
            assert np.array_equal(getattr(several.state(), name)[world], getattr(alone.state(), name))
    assert alone.digest() == found[1]["single"]


@pytest.mark.slow
def test_clusters_of_a_colour_share_no_body_and_contain_each_group_once():
    solver = solve(heap())
    solver.step(60)
    data, ground = solver.data, len(solver.model.bodies)
    groups = read(data.rows.groups)[0]
    colours = solver._share.colours
    starts, clusters, order = (read(each)[0] for each in (colours.starts, colours.clusters, colours.order))
    contained = []
    for colour, (first, end) in enumerate(zip(starts, starts[1:])):
        used = set()
        for cluster in clusters[first:end]:
            members = np.arange(cluster[CLUSTER.first], cluster[CLUSTER.end])
            members = order[members] if colour == 0 else members
            bodies = set(groups[members][:, [GROUP.body_i, GROUP.body_j]].ravel().tolist()) - {ground}
            assert not bodies & used
            used |= bodies
            contained += members.tolist()
    contacts = solver.statistics().contacts
    assert contacts > 64
    assert sorted(contained) == list(range(solver.first_contact_group + 2 * contacts))


@pytest.mark.slow
def test_heap_falls_apart_onto_the_ground_and_gains_no_energy():
    solver, energies = solve(heap(), substeps=2), []
    for _ in range(60):
        solver.step(8)
        energies.append(solver.energy().total)
        assert Overlaps(solver.model).depth(solver.state()) < 0.05 * RADIUS
    # Velocities are half a step behind the poses, which changes the energy by a part of h g v.
    assert np.diff(energies).max() < 1e-3 * energies[0]
    # Nothing sinks. Balls roll on, as they have no rolling friction.
    assert solver.state().position[:, 2].min() > 0.98 * RADIUS


@pytest.mark.slow
def test_converged_velocities_are_those_of_the_default_order():
    # Without friction the velocities after a step are unique: they minimise the kinetic energy of the change, and the
    # constraints on them are convex. The tolerance is that of the iterations, over the lightest mass.
    found = []
    for coloured in (False, True):
        solver = solve(heap(friction=0.0, dumbbells=False), coloured=coloured, iterations=20_000, tolerance=1e-13)
        solver.step(12)
        assert solver.statistics().contacts > 30
        found.append(solver.state().velocity)
    assert np.abs(found[0]).max() > 0.1
    assert np.abs(found[0] - found[1]).max() < 1e-8


def test_coloured_contacts_need_the_default_integrator():
    with pytest.raises(ValueError, match="coloured is True: expected False with integrator='variational'"):
        solve(heap(), integrator="variational")
