"""What a system answers with, and what it raises."""

from typing import NamedTuple


class Statistics(NamedTuple):
    """What the last step did; arrays (worlds,) where there are several worlds.

    iterations: sweeps of the last substep; residual: largest violation of a constraint after them, in its own unit
    (m, rad, ...); contacts: particles that a collider, a box or another particle holds off.
    """

    iterations: object
    residual: object
    contacts: object


class Energy(NamedTuple):
    """Energy [J] at the middle of the last substep; arrays (worlds,) where there are several worlds.

    There velocity (x - x*)/h and height (x + x*)/2 are both of second order, and what flies freely keeps its energy to
    round-off. Potential is that of gravity (zero at z = 0) and of compliant constraints, C²/2α, as they are at the
    substep's end.
    """

    kinetic: object
    potential: object
    total: object


class Diverged(ArithmeticError):
    """A state that stopped being finite: `world`, `step` and `particle` (or body) say where, `time` when [s]."""

    def __init__(self, world, step, particle, time, what="particle"):
        super().__init__(
            f"{what} {particle} (world {world}) stopped being finite in step {step}, at {time:.6g} s: "
            "the step is too long for the forces, or a constraint cannot be satisfied"
        )
        self.world, self.step, self.particle, self.time = world, step, particle, time
