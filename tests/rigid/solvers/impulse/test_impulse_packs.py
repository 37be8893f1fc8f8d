"""Contacts in packs (rigid/solvers/impulse/packs.py): the bits of one contact after another."""

import numpy as np
import pytest

import rigid
from pbd.core.kernels import lanes_of_register, on_cpu, read
from pbd.core.kernels.mode import KERNELS
from rigid.collision.data import PAIR
from rigid.kernels.motion import MASS
from rigid.solvers.impulse.data import PACK, PLACE
from rigid.solvers.impulse.kernel import step_kernel
from rigid.solvers.impulse.solver import ImpulseSolver
from rigid.solvers.sequential import prepare, solve

OPTIONS = {"dt": 1 / 120, "iterations": 12}


def crowd(joints=True):
    """Boxes, spheres and capsules that fall onto one another, a moving platform and the ground; some may be jointed."""
    random, model = np.random.default_rng(3), rigid.Model()
    model.add_ground(friction=0.5)
    model.add_box((1.2, 1.2, 0.1), path=lambda time: (0.2 * np.sin(5 * time), 0, 0.05), friction=0.5)
    for k, (x, y, z) in enumerate(np.ndindex(3, 3, 6)):
        turn = random.normal(size=4)
        given = {"mass": random.uniform(0.5, 2.0), "friction": 0.5, "restitution": 0.3}
        given["position"] = 0.32 * np.array((x - 1, y - 1, z + 0.8)) + random.uniform(-0.02, 0.02, 3)
        given["rotation"] = turn / np.linalg.norm(turn)
        if k % 3 == 0:
            model.add_box(random.uniform(0.15, 0.25, 3), **given)
        elif k % 3 == 1:
            model.add_sphere(random.uniform(0.1, 0.15), **given)
        else:
            model.add_capsule(0.08, 0.12, **given)
    for body in range(1, 13, 4) if joints else ():
        middle = (model.bodies[body].position + model.bodies[body + 1].position) / 2
        model.add_ball(body, body + 1, point=middle)
    return model


def packed_solver(model, **options):
    """Make a solver with packs."""
    if KERNELS != "quick" or not on_cpu():
        pytest.skip("packs are for quick kernels on the processor")
    solver = rigid.solver("impulse", model, **OPTIONS, **options)
    assert solver.packs
    return solver


@pytest.fixture
def packed():
    """Make a solver with packs, and with joints."""
    return packed_solver(crowd())


@pytest.mark.slow
@pytest.mark.parametrize("small_steps", [0, 3])
@pytest.mark.parametrize("joints", [True, False], ids=["joints", "no_joints"])
def test_bits_are_those_of_one_contact_after_another(joints, small_steps, monkeypatch):
    packed = packed_solver(crowd(joints), small_steps=small_steps)
    monkeypatch.setattr(ImpulseSolver, "_has_packs", lambda solver: False)
    single = rigid.solver("impulse", crowd(joints), small_steps=small_steps, **OPTIONS)
    for _ in range(4):
        packed.step(15)
        single.step(15)
        assert packed.digest() == single.digest()
    ours, theirs = packed.contact_forces(), single.contact_forces()
    assert len(ours.points) > 60
    for name in ours._fields:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(packed.statistics().iterations, single.statistics().iterations)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"small_steps": 4}])
def test_energy_of_a_spring_beside_packs(options):
    # A spring of 100 N/m that is 0.1 m longer than at rest holds k x²/2 = 0.5 J.
    model = rigid.Model(gravity=(0, 0, 0))
    for place in np.ndindex(5, 5, 2):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=0.5 * np.array(place))
    model.add_spring(0, 2, stiffness=100.0, rest_length=0.4)
    solver = packed_solver(model, **options)
    assert solver.energy().potential == pytest.approx(0.5)


@pytest.mark.slow
def test_many_boxes_on_a_mesh_have_the_bits_of_one_contact_after_another(monkeypatch):
    def solve():
        model, x = rigid.Model(), np.linspace(-1, 3, 9)
        heights = 0.1 * np.outer(np.sin(3 * x), np.cos(2 * x))
        model.add_shape(rigid.GROUND, rigid.HeightField(heights, (4.0, 4.0)))
        for place in np.ndindex(5, 4, 3):
            model.add_box((0.2, 0.2, 0.2), mass=1.0, position=0.3 * np.array(place) + (0, 0, 0.4))
        return rigid.solver("impulse", model, **OPTIONS)

    packed = solve()
    assert packed.packs == (KERNELS == "quick" and on_cpu())
    monkeypatch.setattr(ImpulseSolver, "_has_packs", lambda solver: False)
    single = solve()
    for solver in (packed, single):
        solver.step(90)
    assert single.statistics().contacts > 100
    assert packed.digest() == single.digest()


@pytest.mark.slow
def test_kernels_without_joints_leave_out_groups_of_joints(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a group of a joint is compiled: expected none")

    for module, name in (
        (prepare, "prepare_group"), (prepare, "warm_start_group"), (prepare, "prepare_correction"),
        (solve, "solve_group"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, refuse)
    step_kernel.cache_clear()  # so that the kernel is read again
    packed_solver(crowd(joints=False)).step()


@pytest.mark.slow
def test_bits_do_not_depend_on_launches_or_restarts(packed):
    packed.step(20)
    state = packed.state()
    packed.step(20)
    for _ in range(20):
        packed.step()
    expected = packed.digest()
    packed.set_state(state)
    packed.step(40)
    assert packed.digest() == expected


@pytest.mark.slow
def test_bits_do_not_depend_on_worlds(packed):
    packed.step(60)
    several = rigid.solver("impulse", crowd(), worlds=2, lanes=1, **OPTIONS)
    several.step(60)
    for name in ("position", "velocity"):
        for world in range(2):
            np.testing.assert_array_equal(getattr(several.state(), name)[world], getattr(packed.state(), name))


@pytest.mark.slow
def test_a_pack_has_each_moving_body_once_and_bodies_keep_their_order(packed):
    packed.step(60)
    count = int(read(packed.data.points.count)[0])
    pairs, places = read(packed.data.points.integers)[0, :count], read(packed.data.packs.places)[0, :count]
    moves = read(packed.data.bodies.mass)[0, :, MASS.inverse_mass] > 0
    manifolds, last = {}, {}
    for (i, j), place in zip(pairs[:, [PAIR.body_a, PAIR.body_b]], places):
        manifold = int(place[PLACE.pack]), int(place[PLACE.lane])
        if manifold in manifolds:
            assert manifolds[manifold] == (i, j)
            continue
        manifolds[manifold] = (i, j)
        for body in (i, j):
            if body >= 0 and moves[body]:
                assert last.get(body, -1) < manifold[0]
                last[body] = manifold[0]
    assert len({(place[PLACE.slot], place[PLACE.lane]) for place in places}) == count
    packs = read(packed.data.packs.packs)[0, : int(read(packed.data.packs.count)[0])]
    assert packs[:, PACK.used].sum() == len(manifolds)
    assert packs[:, PACK.used].max() <= lanes_of_register()
    assert packs[:, PACK.used].mean() > 0.4 * lanes_of_register()


@pytest.mark.parametrize("options", [{"sleep_speed": 0.01, "coloured": True}, {"convergence": "velocities"}])
def test_other_options_have_no_packs(options):
    assert not rigid.solver("impulse", crowd(), **OPTIONS, **options).packs


def test_few_shapes_have_no_packs():
    model = rigid.Model()
    model.add_ground()
    model.add_box((1, 1, 1), mass=1.0, position=(0, 0, 0.5))
    assert not rigid.solver("impulse", model, **OPTIONS).packs
