"""The arrays of the solver "impulse"."""

from typing import Any, NamedTuple

from pbd.core.arrays import Host, Integer, Real, count
from rigid.collision.contact_cache import ContactCache
from rigid.collision.data import Points, Scratch, Shapes
from rigid.constraints.joints.data import Joints
from rigid.constraints.rows import Rows
from rigid.kernels.motion import Bodies
from rigid.solvers.sequential import data
from rigid.solvers.sequential.sleep import Sleep

# Behind the columns of all sequential impulses: the angular parts of M⁻¹Jᵀ of both bodies.
ROW = data.ROW.extend(response_i=3, response_j=3)


class Features(NamedTuple):
    """What the kernel is compiled for."""

    joints: bool  # whether there are rows of joints or springs
    pair_types: Any  # a rigid.collision.data.PairTypes, or None if nothing can touch
    gyroscopic: str  # "implicit", "midpoint" or "explicit"
    block: bool  # solve the rows of a joint together
    convergence: str  # "impulses" or "velocities"
    split_impulse: bool  # correct positions by pseudo-velocities
    warm_start: bool  # start from the last step's impulses
    sleeping: bool  # leave bodies at rest alone
    one_world: bool  # one world runs on one thread
    spread: int  # distance of two worlds in a parallel loop, see rigid/solvers/substeps.py

    @property
    def contacts(self):
        """Whether anything can touch."""
        return self.pair_types is not None


class Data(NamedTuple):
    """What every function of the kernel can read. A new array is one line here, or in one of the groups."""

    bodies: Bodies
    joints: Joints
    rows: Rows
    shapes: Shapes
    points: Points
    scratch: Scratch
    cache: ContactCache  # impulses of contacts
    sleep: Sleep
    reversed: Integer(count.worlds, kept=True)  # 1 if iterations take the contacts of the next step in reverse order
    margin: Real(count.margins, count.worlds)  # how far beyond its surface a body looks for contacts [m]
    gravity: Real(count.worlds, 3)  # [m/s²]
    report: Host(2)  # (worlds, REPORT)
    step: data.Step
    sleep_speed: float  # bodies that are slower can sleep [m/s]
    features: Any  # Features
    formulation: Any  # how impulses change velocities: rigid/solvers/impulse/maximal.py
    find_points: Any  # contact detection of rigid/collision/narrow_phase.py
