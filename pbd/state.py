"""The state of a particle system."""

import hashlib
from dataclasses import dataclass, field

import numpy as np

from pbd.core.snapshot import Snapshot


@dataclass
class State(Snapshot):
    """State of the particles of all worlds at one instant, from which a system continues bit for bit.

    Attributes:
        position: (particles, 3), or (worlds, particles, 3) [m].
        previous_position: one substep ago, shaped like `position` [m].
        force: forces that the user set, shaped like `position` [N].
        inverse_mass: (particles,) or (worlds, particles) [1/kg]; zero for pinned particles.
        dt, substeps: of the system [s]; `previous_position` belongs to their substep.
        origin, substep: the time is origin + substep · dt / substeps [s].
        direct: what the direct solve keeps from substep to substep, (worlds, 1 + 3 particles + rows): the halvings of
            the substep, the fastest vibration [kg^-1/2] (pbd/direct/adaptive.py), and which inequalities are active
            (pbd/direct/one_row.py). Empty without a direct solve.
        touching: contacts of the direct solve, (worlds, numbers), see pbd/direct/contacts.py. Empty without any.
        torn: which sticks that tear are torn, (sticks,) or (worlds, sticks), in the order of the schedule.
        creased: sines of half the rest angles of hinges that crease, (hinges,) or (worlds, hinges), likewise.
        bent: rotations at rest of joints of rods that yield, (joints, 4) or (worlds, joints, 4), likewise: quaternions
            (x, y, z, w).
        flowed_solids: of tetrahedra that flow, (tetrahedra, 10) or (worlds, tetrahedra, 10), in the order in which they
            were added: the inverse of their plastic deformation F_p, row by row, and their plastic strain.
        flowed_membranes: of triangles that flow, (triangles, 6), likewise: lengths at rest of warp and weft, as parts
            of those described, the cosine at rest of their angle, and plastic strains of warp, weft and shear.
        flowed_plates: of triangles whose bending flows, (triangles, 4), likewise: their plastic curvatures κ_11, κ_22
            and 2 κ_12 along warp and weft, positive where they bend towards the normal, and how much has flowed [1/m].
        tangled: which bodies of solids are tangled, (worlds, bodies), see pbd/implicit/recovery.py.
    """

    position: np.ndarray
    previous_position: np.ndarray
    force: np.ndarray
    inverse_mass: np.ndarray
    dt: float
    substeps: int
    origin: float
    substep: int
    direct: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    touching: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    torn: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    creased: np.ndarray = field(default_factory=lambda: np.zeros(0))
    bent: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    flowed_solids: np.ndarray = field(default_factory=lambda: np.zeros((0, 10)))
    flowed_membranes: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    flowed_plates: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    tangled: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def check(self):
        """Check that shapes fit. Raises: ValueError."""
        shape = np.shape(self.position)
        if len(shape) not in (2, 3) or shape[-1] != 3:
            raise ValueError(f"position has shape {shape}: expected (particles, 3) or (worlds, particles, 3)")
        for name, expected in (("previous_position", shape), ("force", shape), ("inverse_mass", shape[:-1])):
            if np.shape(getattr(self, name)) != expected:
                raise ValueError(f"{name} has shape {np.shape(getattr(self, name))}: expected {expected}")

    def digest(self):
        """Sixteen hexadecimal digits that change if any bit of the positions or previous positions changes."""
        position = np.ascontiguousarray(self.position)
        previous_position = np.ascontiguousarray(self.previous_position)
        return hashlib.sha256(position.tobytes() + previous_position.tobytes()).hexdigest()[:16]
