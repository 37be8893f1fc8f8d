"""Types of constraints on particles: one file each, with its equation. CONTRIBUTING.md shows how to add one."""

from pbd.constraints.angle import ANGLE_AT_LEAST, ANGLE_AT_MOST
from pbd.constraints.attachment import attachment
from pbd.constraints.bending import BENDING, BENDING_THAT_CREASES
from pbd.constraints.constraint_type import BOUNDS, ConstraintType, scalar_constraint, with_damping
from pbd.constraints.flat_bending import FLAT_BENDING
from pbd.constraints.membrane import MEMBRANE, THREAD_AT_MOST
from pbd.constraints.plane import PLANE_LIMIT
from pbd.constraints.plate import PLATE
from pbd.constraints.rod import HOLD, JOINT, JOINT_THAT_YIELDS, SEGMENT, SEGMENT_THAT_TEARS, SIDE
from pbd.constraints.solid import SOLID, SOLID_FRICTION
from pbd.constraints.stick import ROOT_FREE_STICK, STICK, STICK_AT_LEAST, STICK_AT_MOST, STICK_THAT_TEARS
from pbd.constraints.volume import VOLUME

# By name: a description (pbd/particles.py) refers to types by their names, so it needs no Taichi.
CONSTRAINT_TYPES = {
    each.name: each
    for each in (
        STICK,
        STICK_AT_LEAST,
        STICK_AT_MOST,
        ROOT_FREE_STICK,
        STICK_THAT_TEARS,
        ANGLE_AT_LEAST,
        ANGLE_AT_MOST,
        PLANE_LIMIT,
        BENDING,
        BENDING_THAT_CREASES,
        FLAT_BENDING,
        MEMBRANE,
        PLATE,
        THREAD_AT_MOST,
        SOLID,
        SOLID_FRICTION,
        VOLUME,
        SEGMENT,
        SEGMENT_THAT_TEARS,
        SIDE,
        JOINT,
        JOINT_THAT_YIELDS,
        HOLD,
        *map(with_damping, (BENDING, FLAT_BENDING, MEMBRANE, PLATE, JOINT, JOINT_THAT_YIELDS)),
        *(attachment(arity) for arity in range(2, 9)),
    )
}

__all__ = [
    "ANGLE_AT_LEAST",
    "ANGLE_AT_MOST",
    "BENDING",
    "BENDING_THAT_CREASES",
    "BOUNDS",
    "CONSTRAINT_TYPES",
    "FLAT_BENDING",
    "MEMBRANE",
    "PLANE_LIMIT",
    "PLATE",
    "ROOT_FREE_STICK",
    "SOLID",
    "SOLID_FRICTION",
    "STICK",
    "STICK_AT_LEAST",
    "STICK_AT_MOST",
    "STICK_THAT_TEARS",
    "THREAD_AT_MOST",
    "VOLUME",
    "ConstraintType",
    "attachment",
    "scalar_constraint",
    "with_damping",
]
