"""The arrays of the solver "articulated"."""

from typing import Any, NamedTuple

from pbd.core.kernels import Host, Real, count
from rigid.collision.contact_cache import ContactCache
from rigid.collision.data import Points, Scratch, Shapes
from rigid.constraints.joints.data import Joints
from rigid.constraints.rows import Rows
from rigid.kernels.motion import Bodies
from rigid.solvers.articulated.links import Trees
from rigid.solvers.energy_bound import Division, Watch
from rigid.solvers.sequential.data import Step


class Features(NamedTuple):
    """Features for which the kernel is compiled."""

    joints: bool  # whether impulses act on bodies besides contacts: loops, limits, friction, motors, springs
    rotors: bool  # whether joints have armatures
    gears: bool  # whether there are gears
    pair_types: Any  # a rigid.collision.data.PairTypes, or None if nothing can touch
    gyroscopic: str  # "implicit", "midpoint" or "explicit"; "none" for the variational integrator
    velocity_products: str  # "projected" or "explicit"
    paths: bool  # whether bodies follow paths
    variational: bool  # the integrator of variational.py
    block: bool  # solve the rows of a joint together
    convergence: str  # "impulses" or "velocities"
    split_impulse: bool  # correct positions by pseudo-speeds
    warm_start: bool  # start from the last step's impulses
    one_world: bool  # one world runs on one thread
    division: Division  # of substeps into parts
    spread: int  # distance of two worlds in a parallel loop, see rigid/solvers/substeps.py
    sleeping: bool = False
    keeps_contacts: bool = False
    lanes: int = 1  # worlds in the lanes of a vector
    packs: bool = False  # whether contacts lie in the lanes of vectors
    contacts_by_pairs: bool = False  # whether iterations take the contacts of two bodies together

    @property
    def contacts(self):
        """Whether anything can touch."""
        return self.pair_types is not None

    @property
    def unread(self):
        """Groups of Data that the kernel does not read: a tuple of names."""
        return () if self.contacts else ("shapes", "points", "scratch", "cache")

    @property
    def rows(self):
        """Whether there are any rows."""
        return self.joints or self.contacts


class Data(NamedTuple):
    """Data of all functions of the kernel. A new array is one line here, or in one of the groups."""

    bodies: Bodies
    trees: Trees
    joints: Joints
    rows: Rows
    jacobian: Real(count.worlds, count.rows, count.jacobian_columns)  # J of each row over its trees' speeds
    response: Real(count.worlds, count.rows, count.jacobian_columns)  # M⁻¹Jᵀ of each row
    shapes: Shapes
    points: Points
    scratch: Scratch
    cache: ContactCache  # impulses of contacts
    margin: Real(count.margins, count.worlds)  # how far beyond its surface a body looks for contacts [m]
    watch: Watch  # the energy
    gravity: Real(count.worlds, 3)  # [m/s²]
    report: Host(2)  # (worlds, REPORT)
    step: Step
    features: Any  # Features
    formulation: Any  # how impulses change velocities: rigid/solvers/articulated/generalised.py
    find_points: Any  # contact detection of rigid/collision/narrow_phase.py
