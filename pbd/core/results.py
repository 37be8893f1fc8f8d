"""Results that solvers return, and the error of a run that diverged."""

from typing import NamedTuple


class Statistics(NamedTuple):
    """Statistics of the last step; arrays (worlds,) if there are several worlds.

    Attributes:
        iterations: in the last substep.
        residual: largest violation |C + α' λ| of a constraint after them, in its own unit (m, rad, ...).
        contacts: number of particles, or points of bodies, that a contact stopped.
        direct: number of constraints that are solved directly (pbd/direct), the same in all worlds.
        lanes: how many worlds, bands of a cloth, or strands, one thread moves at a time (pbd/execution/lanes.py).
        imbalance: of fabrics, solids and gases that are solved together, the largest force on a particle that was not
            balanced before the last iteration [N]; what is left after it is less.
    """

    iterations: object
    residual: object
    contacts: object
    direct: int = 0
    lanes: int = 1
    imbalance: object = 0.0


class Energy(NamedTuple):
    """Energy [J]; arrays (worlds,) if there are several worlds.

    For particles it is the energy at the middle of the last substep. There velocity (x - x*)/h and height (x + x*)/2
    are both of second order, and the energy in free flight is constant to round-off. The potential energy is that of
    gravity (zero at z = 0) and of compliant constraints, C²/2α, at the end of the substep.
    """

    kinetic: object
    potential: object
    total: object


class Event(NamedTuple):
    """Something that happened once in a run.

    Attributes:
        time: at the end of the step in which it happened [s].
        kind: "tear" of a stick, "break" of a joint.
        world: in which it happened.
        members: the indices of the stick's particles, or the name of the joint.
        position: (3,) [m].
    """

    time: float
    kind: str
    world: int
    members: tuple
    position: tuple


class Diverged(ArithmeticError):
    """A state stopped being finite, or ran away. Attributes: world, step, particle (or body): where; time: when [s]."""

    def __reduce__(self):
        return type(self), self.given  # for errors of other processes: a pool that cannot read one waits for ever

    def __init__(self, world, step, particle, time, what="particle", did=None):
        self.given = world, step, particle, time, what, did
        super().__init__(
            f"{what} {particle} (world {world}) {did or 'stopped being finite'} in step {step}, at {time:.6g} s: "
            "the step is too long for the forces, or a constraint cannot be satisfied"
        )
        self.world, self.step, self.particle, self.time = world, step, particle, time
