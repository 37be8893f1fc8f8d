"""Columns and arrays of sequential impulses."""

from typing import NamedTuple

from rigid.constraints import rows

# The row's row of the inverse of its group's matrix J M⁻¹ Jᵀ + γ, six at most; for a group with bounds, the inverse of
# the row alone in the first column; friction has three at most, and 1/r in the fourth column of its first row. γ of
# J V + b + γ λ = 0. b, and the b' of J V' + b' = 0 for position correction. λ, and λ' [N s]. The residual of the
# equation. J V after the last iteration, if the tolerance is for velocities. Solvers extend this layout.
ROW = rows.ROW.extend(inverse=6, softness=1, bias=2, impulse=2, residual=1, velocity=1)


class Step(NamedTuple):
    """Numbers of a launch."""

    h: float  # length of a substep [s]
    tolerance: float  # iterations end when no impulse changes by more than this [N s]
    error_reduction: float  # the part of a position error that a substep corrects
    restitution_threshold: float  # contacts that approach more slowly do not rebound [m/s]
    external: int  # 1 if any body has an external force
    watched: int  # 1 if nothing drives the bodies, so that their energy cannot grow
    first_contact_row: int
    first_contact_group: int
