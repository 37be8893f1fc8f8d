"""The arrays of the solver "penalty"."""

from typing import Any, NamedTuple

from pbd.core.kernels import Columns, Host, Integer, Real, count
from rigid.collision.contact_cache import ContactCache
from rigid.collision.data import Points, Scratch, Shapes
from rigid.constraints import rows
from rigid.constraints.joints.data import Joints
from rigid.kernels.motion import Bodies
from rigid.solvers.energy_bound import Division, Watch

# Behind the columns of all rows: stiffness and damping of the row before scaling; its rows of the matrices α and β of
# its group's -α G - β dG/dt, six at most; its G, which for a drive or friction is how far it is stretched; dG/dt less
# its target; its effort, the force or torque of this step [N or N m]; for a limit by the sine, the cosine of its angle;
# the least own damping of a row beside servos (servos.py); for a contact of the last step, the α that it had, how many
# times its stiffness would be stable, and the depth from which it pushes [m].
ROW = rows.ROW.extend(
    own_stiffness=1, own_damping=1, alpha=6, beta=6, stretch=1, velocity=1, effort=1, cosine=1, least_damping=1,
    held_alpha=1, headroom=1, rest_depth=1,
)  # fmt: skip

# Forces and torques of all rows on a body [N, N m].
FORCE = Columns(force=3, torque=3)


class Features(NamedTuple):
    """Features for which the kernel is compiled."""

    joints: bool  # whether there are rows of joints or springs
    rotors: bool  # whether joints have armatures
    pair_types: Any  # a rigid.collision.data.PairTypes, or None if nothing can touch
    gyroscopic: str  # "implicit", "midpoint" or "explicit"
    sine_limits: bool  # limits of angles are those of their sines, see limits.py
    one_world: bool  # one world runs on one thread
    division: Division  # of substeps into parts
    spread: int  # distance of two worlds in a parallel loop, see rigid/solvers/substeps.py
    sleeping: bool = False

    @property
    def contacts(self):
        """Whether anything can touch."""
        return self.pair_types is not None

    @property
    def unread(self):
        """Groups of Data that the kernel does not read: a tuple of names."""
        return () if self.contacts else ("shapes", "points", "scratch", "cache")


class Step(NamedTuple):
    """Numbers of a launch."""

    h: float  # length of a substep [s]
    stiffness: float  # α* of rows against translation [1/s²]
    damping: float  # β* of rows against translation [1/s]
    angular_stiffness: float  # α* of rows against rotation [1/s²]
    angular_damping: float  # β* of rows against rotation [1/s]
    restitution_threshold: float  # for contact rows, whose target velocities this solver does not use [m/s]
    external: int  # 1 if any body has an external force
    watched: int  # what is watched, see rigid/solvers/energy_bound.py
    first_contact_row: int
    first_contact_group: int


class Data(NamedTuple):
    """Data of all functions of the kernel. A new array is one line here, or in one of the groups."""

    bodies: Bodies
    joints: Joints
    rows: rows.Rows
    shapes: Shapes
    points: Points
    scratch: Scratch
    cache: ContactCache  # stretch of friction springs [m]; for an angular impulse: α, rest depth, α of friction
    forces: Real(count.worlds, count.bodies, FORCE)
    margin: Real(count.margins, count.worlds)  # zeros, because only overlaps have forces
    contact_counts: Integer(count.worlds, count.bodies)  # contact points of each body
    contact_load: Real(count.worlds)  # what joints leave of the bound on stability, see contacts.py
    driven_energy: Real(count.worlds)  # that the motion to the motors' positions needs, see runaway.py [J]
    watch: Watch  # the energy
    gravity: Real(count.worlds, 3)  # [m/s²]
    report: Host(2)  # (worlds, REPORT)
    step: Step
    features: Any  # Features
    find_points: Any  # contact detection of rigid/collision/narrow_phase.py
