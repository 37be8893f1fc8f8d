"""Options of the solver "verlet": those of pbd.ParticleSystem, which checks them, and its own."""

from dataclasses import dataclass
from typing import ClassVar

from pbd.core.messages import shown
from pbd.core.validate import sequence
from pbd.particles import Particles
from rigid.solvers.options import SolverOptions, at_least_zero, choice, optional


def description(name, value):
    """A pbd.Particles."""
    if not isinstance(value, Particles):
        raise TypeError(f"{name} is {shown(value)}: expected a pbd.Particles, or None")
    return value


def pairs(name, value):
    """Pairs (indices of particles, body)."""
    expected = "(indices of particles, body)"
    found = sequence(name, value, f"pairs {expected}")
    return tuple(tuple(sequence(f"pair in {name}", pair, expected, 2)) for pair in found)


@dataclass(frozen=True, kw_only=True)
class VerletOptions(SolverOptions):
    """Options of the solver "verlet"."""

    iterations: int = 30
    """Iterations over all constraints in a substep."""

    damping: float = 0.0
    """The part of the velocity that is lost per step, in [0, 1)."""

    direction: str = "start"
    """Along which gradients constraints are projected: those at the "start" of the step, which is second order and
    keeps angular momentum, or "current" ones."""

    schedule: str = "clusters"
    """In which order constraints are projected, see pbd/schedule.py: "auto", "serial", "clusters" or "coloured"."""

    clusters: int | None = 1
    """How many clusters the schedule "clusters" makes; None for a number by size."""

    tolerance: float | None = None
    """Iterations end when no violation is above it [the constraint's unit]. None: about round-off where joints are
    solved directly; elsewhere all `iterations` are made."""

    sticks: str = "exact"
    """"exact", or "root_free" for Jakobsen's approximation without a square root."""

    contact_interval: int = 1
    """Substeps from one search for contacts between particles to the next, a divisor of `substeps`."""

    bending_interval: int = 1
    """Substeps from one projection of compliant bending to the next, a divisor of `substeps`. It needs
    solve="iterative"."""

    frame: str = "tetrahedron"
    """What a body is made of: a "tetrahedron" of four particles and six sticks, or "axes", the source's other frame
    with three sticks and three right angles (rigid/solvers/verlet/axes_frame.py). If four particles along axes are not
    exact, there is a fifth. Then joints may be balls, hinges, welds and distances, without limits, friction, motors and
    springs."""

    solve: str = "auto"
    """How equalities are projected (frames, joints, springs between points, gears, attachments, motors without a bound,
    limits without play): "auto", "iterative" or "direct", see pbd/direct."""

    lanes: int | None = None
    """How many worlds one thread moves at a time, in the lanes of the processor's vectors: 1, 4, 8 or 16. None for the
    fastest; 1 where lanes do not do what the model has (rigid/solvers/verlet/lanes.py, pbd/execution/lanes.py)."""

    particles: object = None
    """A pbd.Particles in the same world, such as a cloth, that is moved by the same system."""

    attachments: tuple = ()
    """Pairs (indices of such particles, body): these particles stay where they are on the body."""

    CHECKS: ClassVar[dict] = {
        **SolverOptions.CHECKS,
        "iterations": at_least_zero,
        "frame": choice("tetrahedron", "axes"),
        "particles": optional(description),
        "attachments": pairs,
    }

    # Options that pbd.ParticleSystem has, too, except dt.
    OF_PARTICLES: ClassVar = (
        "iterations", "substeps", "damping", "direction", "schedule", "clusters", "tolerance", "sticks",
        "contact_interval", "bending_interval", "grabs", "solve",
    )  # fmt: skip

    def of_particles(self):
        """{name: value} of the options in OF_PARTICLES."""
        return {name: getattr(self, name) for name in self.OF_PARTICLES}
