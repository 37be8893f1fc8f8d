"""Options of pbd.ParticleSystem. The solver "verlet" has them, too, with other defaults."""

import math
from dataclasses import dataclass
from typing import ClassVar

from pbd.core.messages import shown
from pbd.core.options import Options, at_least_zero, choice, optional
from pbd.core.validate import boolean, finite_number, grab_count, positive, whole
from pbd.direct.rows import SOLVES
from pbd.implicit.tables import ELEMENTS
from pbd.schedule import SCHEDULES


def lost_part(name, value):
    """A number from 0 to below 1."""
    value = finite_number(name, value)
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value:g}: expected 0 <= {name} < 1")
    return value


def at_most_infinite(name, value):
    """A number above zero, or infinity."""
    return positive(name, value, math.inf)


@dataclass(frozen=True, kw_only=True)
class ParticleOptions(Options):
    """Options of pbd.ParticleSystem."""

    dt: float = 1 / 60
    """Time step [s]."""

    substeps: int = 1
    """Equal parts of a step."""

    iterations: int = 10
    """Iterations over all constraints in a substep."""

    damping: float = 0.0
    """The part of the velocity that is lost per step, in [0, 1)."""

    direction: str = "current"
    """Along which gradients constraints are projected. "current", along the present ones, is robust and damps at first
    order in dt (Jakobsen). "start", along those at the start of the substep, is second order and conserves energy and
    angular momentum, but needs ten or more iterations to converge (SHAKE)."""

    schedule: str = "auto"
    """In which order constraints are projected: "auto", "serial", "clusters" or "coloured", see pbd/schedule.py."""

    clusters: int | None = None
    """Number of slabs into which the schedule "clusters" cuts the particles; None for a number by size. It never
    depends on the number of threads, because the bits of the result depend on it. A scene of one large cloth asks for
    one slab, which can be cut into bands that lie in lanes."""

    tolerance: float | None = None
    """Iterations end when no violation in an iteration was above it [the constraint's unit]. None: about round-off with
    a direct solve; without one all `iterations` are made. If threads share a world's constraints, all worlds iterate
    until the last is done."""

    contact_interval: int = 1
    """Every so many substeps, a divisor of `substeps`, contacts between particles are sought anew if particles may move
    too far for the last search before the next such time. A larger interval makes fast cloth with contacts cheaper, but
    then no particle may move by more than the contact distance in it. What rests is searched once a step
    (pbd/collision/search_times.py)."""

    bending_interval: int = 1
    """Substeps from one projection of compliant bending to the next, a divisor of `substeps`, for cloth: bending is a
    slower force than sticks, and then acts as an impulse every so many substeps. It must not be so stiff that a bend
    could swing once within three of these intervals. It needs solve="iterative". Elements that are solved together, as
    fabrics are by default, do not have it."""

    grabs: int = 0
    """How many grab springs there are, see `ParticleSystem.grab`."""

    solve: str = "iterative"
    """"iterative": constraints are projected one after another (Jakobsen). "direct": those with a gradient, such as
    sticks and limits, are projected together by a sparse factorisation, after the others in each iteration. Substeps
    are then made in parts where sticks turn fast or vibrate under tension (pbd/direct/adaptive.py), unless threads
    share a world. "auto": directly where the factor is sparse, as in ropes, chains and frames, else iteratively."""

    elements: str = "auto"
    """How membranes and plates are solved (`Particles.add_membrane`). "together" or "auto": one step of Newton for all
    of them in each iteration (pbd/implicit), whose equilibrium does not depend on steps or iterations. "iterative": one
    after another, so they are not as stiff as their material as far as the iterations have not converged. On a graphics
    card "auto" does that, with a warning, and "together" is refused. Solids and gases are always solved together."""

    untangle: bool = False
    """Whether surfaces and segments that cross in the description are moved apart before the first step
    (pbd/collision/surfaces/untangle.py). Otherwise they are refused."""

    lanes: int | None = None
    """How many worlds one thread moves at a time, in the lanes of the processor's vectors: 1, 4, 8 or 16. If the
    schedule cuts each world into bands that are alike, as it does with a cloth, bands lie in lanes instead
    (pbd/execution/bands.py), and so do strands that are alike, as hair is (pbd/execution/strands.py). None for the
    fastest; 1 where lanes do not do what there is (pbd/execution/lanes.py).
    Results do not depend on it: measurements and tests set it."""

    CHECKS: ClassVar[dict] = {
        "dt": positive,
        "substeps": whole,
        "iterations": at_least_zero,
        "damping": lost_part,
        "direction": choice("current", "start"),
        "schedule": choice(*SCHEDULES),
        "clusters": optional(whole),
        "tolerance": optional(at_most_infinite),
        "contact_interval": whole,
        "bending_interval": whole,
        "grabs": grab_count,
        "solve": choice(*SOLVES),
        "elements": choice(*ELEMENTS),
        "untangle": boolean,
        "lanes": optional(whole),
    }

    def __post_init__(self):
        super().__post_init__()
        if self.solve != "iterative" and self.bending_interval != 1:
            raise ValueError(f'bending_interval is {shown(self.bending_interval)}: expected 1, or solve="iterative"')
        for name in ("contact_interval", "bending_interval"):
            if self.substeps % getattr(self, name):
                raise ValueError(f"substeps is {self.substeps}: expected a multiple of {name}, {getattr(self, name)}")
