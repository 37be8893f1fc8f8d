"""Hooks by which others, such as rigid bodies, take part in the substep of pbd/step.py."""

from typing import Any, NamedTuple


class FixedShapes(NamedTuple):
    """Shapes that no impulse moves. Particles of the direct solve touch them as colliders, see pbd/direct/contacts.py.

    Args:
        count: Taichi function (s) -> number of shapes, with others between them.
        contact: Taichi function as `collider_contact` of pbd/collision/colliders.py. Others are infinitely far away.
        friction: Taichi function (s, shape, world) -> μ.
    """

    count: Any
    contact: Any
    friction: Any


class StepHooks(NamedTuple):
    """Functions by which something made of particles takes part in each substep, such as rigid bodies.

    Args:
        data: a NamedTuple class, the declaration of more arrays; kernels find them in `s.hooked`.
        before_iterations, after_iterations: Taichi functions (s, world), called after Verlet and after the iterations.
        in_iteration: Taichi function (s, iteration, world) -> largest violation [m], called after the constraints.
        take_back_impulses: Taichi function (s, world) -> whether it took back any at their start: pbd/direct/motion.py.
        scale_impulses: Taichi function (s, factor, world) that multiplies all impulses that the hooks store [kg m].
        count_contacts: Taichi function (s, world) -> number of contacts that held something off in the last substep.
        store_contacts: Taichi function (s, world), called after the last substep of a launch: contacts are read then.
        fixed_shapes: a FixedShapes, or None.
        solve_loaded: Taichi function (s, world) -> largest displacement [m] that solves, after each direct solve, the
            contacts which it loads (pbd/direct/response.py); None if there are none.
        hold_back: Taichi function (s, how, world) that treats what may have passed elements of surfaces, see
            pbd/collision/surfaces/bound.py; None if nothing meets these.
    """

    data: Any
    before_iterations: Any
    in_iteration: Any
    after_iterations: Any
    take_back_impulses: Any
    scale_impulses: Any
    count_contacts: Any
    store_contacts: Any
    fixed_shapes: Any = None
    solve_loaded: Any = None
    hold_back: Any = None
