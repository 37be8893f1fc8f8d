"""Coloured contacts of the impulse solver: the same bits for any number of threads, and the physics of the default."""

import numpy as np
import pytest
from elsewhere import run_elsewhere

import rigid
from pbd.core.kernels import on_cpu, read
from pbd.core.kernels.mode import KERNELS
from rigid.collision.data import PAIR
from rigid.collision.overlaps import Overlaps
from rigid.constraints.rows import GROUP
from rigid.solvers.impulse.coloured.colours import CLUSTER, CLUSTERS, WEIGHT_OF_JOINT
from rigid.solvers.impulse.solver import ImpulseSolver

RADIUS, SIDE = 0.1, 4


def heap(friction=0.5, dumbbells=True, rolling_friction=0.0):
    """64 balls that fall onto the ground and one another, some of them jointed in pairs."""
    random, model = np.random.default_rng(5), rigid.Model()
    rolling = {"rolling_friction": rolling_friction} if rolling_friction else {}
    model.add_ground(friction=friction, **rolling)
    for place in np.ndindex(SIDE, SIDE, SIDE):
        position = RADIUS * (2.05 * np.array(place) + (0, 0, 1.05)) + 0.02 * RADIUS * random.normal(size=3)
        model.add_sphere(RADIUS, mass=random.uniform(0.5, 2.0), position=position, friction=friction, **rolling)
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
@pytest.mark.parametrize("packs", [True, False])
def test_clusters_of_a_colour_share_no_body_and_contain_each_joint_and_contact_once(packs):
    # Rolling friction keeps contacts out of packs.
    solver = solve(heap(rolling_friction=0.0 if packs else 0.01))
    solver.step(60)
    assert solver.packs == (packs and KERNELS == "quick" and on_cpu())
    data, ground = solver.data, len(solver.model.bodies)
    joints, contacts = read(data.rows.groups)[0], read(data.points.integers)[0]
    colours = solver._share.colours
    clusters, order, contact_order = (
        read(each)[0] for each in (colours.clusters, colours.order, colours.contact_order)
    )
    count = solver.statistics().contacts
    assert count > 64
    assert clusters[CLUSTERS, [CLUSTER.joint, CLUSTER.contact]].tolist() == [solver.first_contact_group, count]
    assert sorted(order[: solver.first_contact_group]) == list(range(solver.first_contact_group))
    assert sorted(contact_order[:count]) == list(range(count))
    for members in ((0, 1, 2, 3), (4, 5)):
        used, sizes = set(), []
        for begin, end in ((clusters[each], clusters[each + 1]) for each in members):
            of_joints = joints[order[begin[CLUSTER.joint] : end[CLUSTER.joint]]][:, [GROUP.body_i, GROUP.body_j]]
            of_contacts = contacts[contact_order[begin[CLUSTER.contact] : end[CLUSTER.contact]]]
            bodies = {*of_joints.ravel().tolist(), *of_contacts[:, [PAIR.body_a, PAIR.body_b]].ravel().tolist()}
            bodies -= {ground, -1}
            assert not bodies & used
            used |= bodies
            sizes.append(len(of_contacts) + WEIGHT_OF_JOINT * len(of_joints))
        # The balls of a layer of the lattice lie in one bin.
        assert members[0] > 0 or max(sizes) < 2 * np.mean(sizes)


@pytest.mark.slow
@pytest.mark.parametrize("shapes", ["boxes", "capsules", "platform"])
def test_a_heap_has_the_same_bits_with_packs_without_and_on_two_threads(shapes):
    if not on_cpu():
        pytest.skip("of the processor's threads")
    found = {run_elsewhere(__file__, f"digest_of_heap({shapes!r})", cpu_max_num_threads=k)["digest"] for k in (1, 2)}
    found.add(run_elsewhere(__file__, f"digest_of_heap({shapes!r}, packs=False)", cpu_max_num_threads=2)["digest"])
    assert len(found) == 1


@pytest.mark.slow
def test_too_many_contacts_leave_the_same_state_on_one_thread_and_on_two():
    if not on_cpu():
        pytest.skip("of the processor's threads")
    call = "digest_of_heap('boxes', contact_capacity=100)"
    found = [run_elsewhere(__file__, call, cpu_max_num_threads=threads) for threads in (1, 2, 2)]
    assert found[0]["error"].startswith("contact buffer full")
    assert found[1:] == found[:1] * 2


def digest_of_heap(shapes, packs=True, **options):
    """The program of another process: a digest of many shapes that fall. Args: shapes: "boxes" on the ground or a
    moving "platform", or "capsules"; packs: whether to use them; options: of the solver."""
    if not packs:
        ImpulseSolver._has_packs = lambda self: False
    random, model = np.random.default_rng(7), rigid.Model()
    model.add_ground()
    if shapes == "platform":
        model.add_box((3.0, 3.0, 0.1), path=lambda time: (0.8 + 0.2 * np.sin(5 * time), 0.5, 0.06))
    for place in np.ndindex(6, 4, 5):
        turn = random.normal(size=4)
        given = {"position": 0.32 * np.array(place) + (0, 0, 0.3), "rotation": turn / np.linalg.norm(turn)}
        if shapes != "capsules":
            model.add_box(random.uniform(0.15, 0.3, 3), mass=1.0, **given)
        else:
            model.add_capsule(0.08, random.uniform(0.1, 0.2), mass=1.0, **given)
    solver, error = solve(model, **options), "none"
    assert solver.packs == packs
    try:
        solver.step(60)
    except RuntimeError as raised:
        error = str(raised).partition(":")[0]
    return f"digest: {solver.digest()}\nerror: {error}\n"


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
