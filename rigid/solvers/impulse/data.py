"""The arrays of the solver "impulse"."""

from typing import Any, NamedTuple

from pbd.core.kernels import Columns, Host, Integer, Real, Vector, count, lanes_of_register
from rigid.collision.contact_cache import ContactCache
from rigid.collision.data import POINT, Points, Scratch, Shapes
from rigid.collision.lanes import InLanes
from rigid.constraints.joints.data import Joints
from rigid.constraints.rows import Rows
from rigid.kernels.motion import MASS, POSE, VELOCITY, Bodies
from rigid.solvers.energy_bound import Division, Watch
from rigid.solvers.sequential import data
from rigid.solvers.sequential.gained_energy import FREE_ENERGY
from rigid.solvers.sequential.sleep import Sleep
from rigid.solvers.substeps import MOST_THREADS

# Behind the columns of all sequential impulses: the angular parts of M⁻¹Jᵀ of both bodies. For the integrator
# "variational": G at the substep's start, and the impulse of its rounds [N s]; with small steps the impulses of those
# before the last.
ROW = data.ROW.extend(response_i=3, response_j=3, start_error=1, correction=1)

# A body in a substep of the integrator "variational": pose and velocity at its start; the velocity without joints, and
# that after the iterations; the part of ω for which M⁻¹p does not account; and by an assembly's first body: changes of
# gaps after the last and before the first round, the work of joints with and without the rounds' corrections, the
# kinetic energy, the part of the corrections that is accepted, and 1 if it was BOUND before.
START = Columns(
    position=3, rotation=4, linear=3, angular=3, free_linear=3, free_angular=3, solved_linear=3, solved_angular=3,
    offset=3, error=1, first_error=1, work=1, solved_work=1, kinetic=1, factor=1, bound=1,
)  # fmt: skip

# Assemblies: rows other than hard joints act; the rounds have failed, or do too much work; neither.
BOUND, REJECTED, FREE = 0, 1, 2


# Lanes of a pack in 32 bits; in 64 bits they are half as many, see packs.py.
MOST_LANES = 8

# A pack: its first slot and how many it has; how many lanes have a manifold; where to look for the next pack if all of
# them have one; bodies i and j of each lane.
PACK = Columns(first=1, slots=1, used=1, next=1, body_i=MOST_LANES, body_j=MOST_LANES)

# A slot of a pack, see slots.py: normal and first tangent; arms of both bodies [m]; response_i and response_j of each
# of its three rows; b and λ of each [N s]; the inverse of the gap's row; that of friction (xx, xy, yy), and its 1/r; μ;
# the gap G [m], and in its place b' once that is known; λ' [N s].
SLOT = Columns(
    normal=3, tangent=3, arm_i=3, arm_j=3, responses=18, bias=3, impulse=3, inverse=1, friction_inverse=3,
    friction_step=1, friction=1, correction_bias=1, correction_impulse=1,
)  # fmt: skip

# A slot with small steps, see soft_packs.py: 1/K of the gap's row; of an overlap γ and 1/(K + γ); γ now; J V of the
# gap at the start of the substep [m/s]; the largest λ of the gap in the substep, and the sums of λ of all rows in small
# steps before this one [N s].
SOFT = Columns(
    inverse=1, overlap_softness=1, overlap_inverse=1, softness=1, start_velocity=1, largest=1, earlier=3
)

# The place of a contact in the packs.
PLACE = Columns(pack=1, slot=1, lane=1)


class Features(NamedTuple):
    """Features for which the kernel is compiled."""

    joints: bool  # whether there are rows of joints or springs
    rotors: bool  # whether joints have armatures
    gears: bool  # whether there are gears
    pair_types: Any  # a rigid.collision.data.PairTypes, or None if nothing can touch
    gyroscopic: str  # "implicit", "midpoint" or "explicit"; "none" for the variational integrator
    variational: bool  # the integrator of variational.py
    small_steps: int  # of a substep, see soft.py; 0 for none
    block: bool  # solve the rows of a joint together
    convergence: str  # "impulses" or "velocities"
    split_impulse: bool  # correct positions by pseudo-velocities
    warm_start: bool  # start from the last step's impulses
    sleeping: bool  # leave bodies at rest alone
    one_world: bool  # one world, or one group of lanes, runs on one thread
    division: Division  # of substeps into parts
    spread: int  # distance of two worlds in a parallel loop, see rigid/solvers/substeps.py
    lanes: int  # worlds in the lanes of a vector, see pbd/core/kernels/lanes
    packs: bool  # contacts in the lanes of vectors, see packs.py

    @property
    def contacts(self):
        """Whether anything can touch."""
        return self.pair_types is not None

    @property
    def keeps_contacts(self):
        """Whether contacts of bodies that sleep are kept, see rigid/solvers/sequential/kept_contacts.py."""
        return self.sleeping and self.packs

    @property
    def contacts_by_pairs(self):
        """Whether iterations take the contacts of two bodies together. They have a gap and friction, nothing else."""
        return self.contacts and self.lanes == 1 and not self.pair_types.rolling_and_spinning

    @property
    def unread(self):
        """Groups of Data that the kernel does not read: a tuple of names."""
        read = {
            "shapes": self.contacts, "points": self.contacts, "scratch": self.contacts, "cache": self.contacts,
            "sleep": self.sleeping, "assemblies": self.variational,
            "packs": self.packs, "in_lanes": self.contacts and self.lanes > 1,
        }  # fmt: skip
        return tuple(name for name, is_read in read.items() if not is_read)


class Assemblies(NamedTuple):
    """Bodies that joints connect, for the variational integrator. An assembly is named by its first body."""

    of_body: Integer(count.bodies)  # the assembly of each body
    state: Integer(count.worlds, count.bodies, kept=True)  # BOUND, REJECTED or FREE
    work: Real(count.worlds, count.bodies, kept=True)  # of joints, since other rows acted last [J]
    energy: Real(count.worlds, count.bodies, FREE_ENERGY, kept=True)
    starts: Real(count.worlds, count.bodies, START)
    synchronous: Integer(count.worlds, kept=True)  # 1 if velocities are those at the time of the poses


class BodiesOfPacks(NamedTuple):
    """What contacts need of `Bodies`, in lanes: bodies i and j of each pack."""

    mass: Vector(lanes_of_register, count.worlds, count.pack_bodies, MASS)
    pose: Vector(lanes_of_register, count.worlds, count.pack_bodies, POSE)
    velocity: Vector(lanes_of_register, count.worlds, count.pack_bodies, VELOCITY)
    inverse_inertia: Vector(lanes_of_register, count.worlds, count.pack_bodies, 9)


class Packs(NamedTuple):
    """Contacts in packs, see packs.py. There are at most as many packs, and slots, as contacts."""

    count: Integer(count.worlds)  # how many packs, but for those behind them of contacts that sleep
    change: Real(count.worlds, MOST_THREADS)  # the largest one, in the last function that a thread called
    last: Integer(count.worlds, count.bodies)  # of each body the last pack so far
    packs: Integer(count.worlds, count.packs, PACK)
    places: Integer(count.worlds, count.packs, PLACE)
    bodies: BodiesOfPacks
    slots: Vector(lanes_of_register, count.worlds, count.packs, SLOT)
    soft: Vector(lanes_of_register, count.worlds, count.soft_slots, SOFT)
    points: Vector(lanes_of_register, count.worlds, count.packs, POINT)
    impulses: Vector(lanes_of_register, count.worlds, count.packs, 3)  # of each slot, in the world [N s]


class Data(NamedTuple):
    """Data of all functions of the kernel. A new array is one line here, or in one of the groups."""

    bodies: Bodies
    joints: Joints
    rows: Rows
    shapes: Shapes
    points: Points
    scratch: Scratch
    cache: ContactCache  # impulses of contacts
    sleep: Sleep
    assemblies: Assemblies
    in_lanes: InLanes
    packs: Packs
    margin: Real(count.margins, count.worlds)  # how far beyond its surface a body looks for contacts [m]
    watch: Watch  # the energy
    gravity: Real(count.worlds, 3)  # [m/s²]
    report: Host(2, of_worlds=True)  # (worlds, REPORT)
    step: data.Step
    sleep_speed: float  # bodies that are slower can sleep [m/s]
    features: Any  # Features
    formulation: Any  # how impulses change velocities: rigid/solvers/impulse/maximal.py
    find_points: Any  # contact detection of rigid/collision/narrow_phase.py
