"""A warning where contacts give way: bodies sink into one another under a load that their springs do not bear.

A contact's stiffness follows from its bodies' masses and the step, not from the load. So a tall pile sinks into itself,
and in the end its bodies pass through one another.
"""

import warnings

import taichi as ti

from pbd.core.shapes import BOX, CAPSULE, CYLINDER, HULL, SPHERE
from rigid.collision.data import PAIR, POINT, SHAPE, STRUCTURE
from rigid.solvers.report import REPORT

# The overlap of which a warning tells, in parts of the thickness of the thinner shape.
DEEP = 0.25


@ti.func
def watch_contact(s: ti.template(), c, world):
    """Report the overlap of a contact if it is the deepest of the launch so far."""
    a, b = s.points.integers[world, c, PAIR.shape_a], s.points.integers[world, c, PAIR.shape_b]
    thickness = ti.min(thickness_of(s, a, world), thickness_of(s, b, world))
    depth = -s.points.numbers[world, c, POINT.gap] / thickness
    if depth > ti.max(s.report[world, REPORT.depth], DEEP):
        s.report[world, REPORT.depth] = depth
        for k in ti.static(range(2)):
            body = s.points.integers[world, c, PAIR.body_a + k]
            s.report[world, REPORT.body_a + k] = ti.cast(body, float)


@ti.func
def thickness_of(s: ti.template(), shape, world):
    """The least edge of a shape's bounds [m]; huge for planes, meshes and height fields."""
    kind, result = s.shapes.integers[shape, STRUCTURE.kind], 1e30
    if kind == BOX or kind == SPHERE or kind == CAPSULE or kind == CYLINDER or kind == HULL:
        for k in ti.static(range(3)):
            result = ti.min(result, 2.0 * s.shapes.numbers[world, shape, SHAPE.half_extent + k])
    return result


class DeepContacts:
    """Warns once of bodies that have been deep inside one another."""

    def __init__(self):
        self._warned = False

    def warn(self, solver, report):
        """Warn if it is so. Args: solver: a PenaltySolver; report: of its last launch (worlds, REPORT)."""
        world = int(report[:, REPORT.depth].argmax())
        if report[world, REPORT.depth] > DEEP and not self._warned:
            self._warned = True
            bodies = report[world, [REPORT.body_a, REPORT.body_b]].astype(int)
            one, other = (repr(solver.model.bodies[k].name) if k >= 0 else "the ground" for k in bodies)
            depth = f"{100 * report[world, REPORT.depth]:.0f} % of the thinner shape"
            warnings.warn(
                f'solver "penalty", world {world}, {solver.time:.6g} s: {one} has been {depth} deep inside {other}: '
                f"contacts give way: expected {solver.remedies}",
                UserWarning, stacklevel=5,
            )  # fmt: skip
