"""Which joints become coordinates: descriptions alone, no kernels."""

import numpy as np
import pytest

import rigid
from rigid.solvers.articulated.links import TreeBuilder
from rigid.solvers.articulated.spanning_trees import LinkKind, spanning_trees, tree_ends

Y = (0, 1, 0)


def bodies(count):
    model = rigid.Model()
    for k in range(count):
        model.add_body(mass=1.0 + k, inertia=(1, 1, 1), position=(k, 0, 0))
    return model


def test_a_ring_with_two_joints_to_the_ground_is_cut_there():
    model = bodies(6)
    model.add_hinge(rigid.GROUND, 0, (-0.5, 0, 0), Y)
    for k in range(5):
        model.add_hinge(k, k + 1, (k + 0.5, 0, 0), Y)
    model.add_hinge(rigid.GROUND, 5, (5.5, 0, 0), Y)
    links = spanning_trees(model)
    assert len(links) == 6
    closed = {link.joint for link in links}
    assert {*range(7)} - closed == {6}


def test_a_joint_with_a_motor_is_in_the_tree():
    model = bodies(3)
    for k, parent in enumerate((rigid.GROUND, 0, 1)):
        model.add_hinge(parent, k, (k - 0.5, 0, 0), Y)
    model.add_hinge(rigid.GROUND, 2, (2.5, 0, 0), Y, motor=rigid.Motor(speed=1.0))
    assert {link.joint for link in spanning_trees(model)} == {1, 2, 3}


def test_a_loop_is_cut_at_the_joint_with_fewest_rows():
    model = bodies(3)
    model.add_hinge(rigid.GROUND, 0, (0, 0, 0), Y)
    model.add_ball(0, 1, (0.5, 0, 0))
    model.add_hinge(1, 2, (1.5, 0, 0), Y)
    model.add_hinge(rigid.GROUND, 2, (2.5, 0, 0), Y)
    assert {link.joint for link in spanning_trees(model)} == {0, 2, 3}


def test_bodies_on_paths_are_roots():
    model = bodies(3)
    for name in ("first", "second"):
        model.add_body(path=lambda time: (0, 0, time), name=name)
    model.add_hinge(0, "first", (0, 0, 0), Y)
    model.add_hinge(0, 1, (0.5, 0, 0), Y)
    model.add_hinge(1, 2, (1.5, 0, 0), Y)
    model.add_hinge("second", 2, (2.5, 0, 0), Y)  # closes a loop
    model.add_hinge("first", "second", (0, 0, 0), Y)  # nothing can move along this joint and the next
    model.add_hinge(rigid.GROUND, "first", (0, 0, 0), Y)
    assert [(link.body, link.kind, link.parent, link.joint, link.reversed) for link in spanning_trees(model)] == [
        (3, LinkKind.FREE, -1, None, False), (0, LinkKind.COORDINATES, 0, 0, True),
        (1, LinkKind.COORDINATES, 1, 1, False), (2, LinkKind.COORDINATES, 2, 2, False),
        (4, LinkKind.FREE, -1, None, False),
    ]  # fmt: skip


def test_components_without_ground_get_a_free_root_at_their_heaviest_body():
    model = bodies(4)
    model.add_ball(0, 1, (0.5, 0, 0))
    model.add_hinge(1, 2, (1.5, 0, 0), Y, soft=rigid.Soft(stiffness=1e4))  # soft joints are in no tree
    links = spanning_trees(model)
    assert [(link.body, link.kind, link.parent) for link in links] == [
        (3, LinkKind.FREE, -1), (2, LinkKind.FREE, -1), (1, LinkKind.FREE, -1), (0, LinkKind.BALL, 2),
    ]  # fmt: skip
    assert links[3].reversed
    assert tree_ends(links) == [(0, 1), (1, 2), (2, 4), (2, 4)]


def test_links_of_a_tree_are_together_and_each_is_behind_its_parent():
    rng = np.random.default_rng(3)
    model = bodies(40)
    for k in range(1, 40):
        if k % 13:
            model.add_hinge(int(rng.integers(k // 13 * 13, k)), k, (k, 0, 0), Y)
    links = spanning_trees(model)
    assert sorted(link.body for link in links) == [*range(40)]
    for k, (link, (first, end)) in enumerate(zip(links, tree_ends(links))):
        assert link.parent < k
        assert first <= k < end
        assert link.parent < 0 or first <= link.parent
        assert (link.kind == LinkKind.FREE) == (link.joint is None)


@pytest.mark.parametrize("kind", ["ball", "hinge", "universal", "slider", "fixed"])
def test_coordinates_are_zero_at_the_start(kind):
    model = bodies(2)
    if kind == "universal":
        model.add_universal(0, 1, (0.3, 0.1, 0), (1, 0, 0), (0, 1, 0))
    elif kind in ("ball", "fixed"):
        getattr(model, f"add_{kind}")(0, 1, (0.3, 0.1, 0))
    elif kind == "slider":
        model.add_slider(0, 1, (0.3, 0.1, 0), (1, 2, 0))
    else:
        model.add_hinge(0, 1, (0.3, 0.1, 0), (1, 2, 0))
    trees = TreeBuilder([model], 1)
    state = model.initial_state()
    poses = np.concatenate([state.position, state.rotation], axis=-1)[None]
    found = trees.coordinates_of(poses)[0, 7:]
    assert found == pytest.approx([1, 0, 0, 0] if kind == "ball" else np.zeros(len(found)), abs=1e-14)
    assert trees.links[1].kind == (LinkKind.BALL if kind == "ball" else LinkKind.COORDINATES)
