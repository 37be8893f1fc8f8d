"""Options of the solver "verlet": those of pbd.ParticleSystem with other defaults, and its own."""

from dataclasses import dataclass, fields
from typing import ClassVar

from pbd.build.lines import ENDS
from pbd.build.rod import Rod
from pbd.build.rope import Rope
from pbd.core.messages import shown
from pbd.core.options import choice, optional
from pbd.core.validate import one_of, sequence
from pbd.options import ParticleOptions
from pbd.particles import Particles
from rigid.solvers.options import SolverOptions


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


def clamped_ends(name, value):
    """Triples (Rod, "start" or "end", body)."""
    expected = '(Rod, "start" or "end", body)'
    given = sequence(name, value, f"triples {expected}")
    found = [tuple(sequence(f"triple in {name}", each, expected, 3)) for each in given]
    for rod, end, _ in found:
        if not isinstance(rod, (Rod, Rope)) or not len(rod.segments):
            raise TypeError(f"rod in {name} is {shown(rod)}: expected a pbd.build.Rod, or a Rope with twist")
        one_of(f"end in {name}", end, tuple(ENDS))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class VerletOptions(ParticleOptions, SolverOptions):
    """Options of the solver "verlet": those of all solvers, those of pbd.options.ParticleOptions, and its own."""

    iterations: int = 30
    """Iterations over all constraints in a substep: frames need more than cloth."""

    direction: str = "start"
    """As for particles. "start" keeps the energy and the angular momentum of joints."""

    schedule: str = "clusters"
    """As for particles. Bodies that can touch need one cluster, or "serial"."""

    clusters: int | None = 1
    """As for particles."""

    solve: str = "auto"
    """As for particles, of frames, joints, springs between points, gears, attachments, motors without a bound, and
    limits without play."""

    frame: str = "tetrahedron"
    """What a body is made of: a "tetrahedron" of four particles and six sticks, or "axes", the source's other frame
    with three sticks and three right angles (rigid/solvers/verlet/axes_frame.py). If four particles along axes are not
    exact, there is a fifth. Then joints may be balls, hinges, welds and distances, without limits, friction, motors and
    springs."""

    particles: object = None
    """A pbd.Particles in the same world, such as a cloth, that is moved by the same system."""

    attachments: tuple = ()
    """Pairs (indices of such particles, body): these particles stay where they are on the body."""

    clamps: tuple = ()
    """Triples (Rod, "start" or "end", body): the body holds that end of a rod of these particles, see pbd.build.rod."""

    CHECKS: ClassVar[dict] = {
        "frame": choice("tetrahedron", "axes"),
        "particles": optional(description),
        "attachments": pairs,
        "clamps": clamped_ends,
    }

    def of_particles(self):
        """{name: value} of the options that pbd.ParticleSystem has, too."""
        return {field.name: getattr(self, field.name) for field in fields(ParticleOptions)}
