"""Limits of angles by the sine: the source's form, for comparison.

    χ = sin q - sin limit beyond the limit, else 0;   dχ/dt = cos q dq/dt;   torque = cos q (-α χ - β dχ/dt)

The solver's own form is the angle, χ = q - limit, with torque = -α χ - β dχ/dt, for three reasons. The sine decreases
again beyond 90°, so limits must be below 90°. Near a limit φ the torque is α cos² φ (q - φ): a limit at 60° yields
four times as much under a load. And the torque changes its sign at 90°: a joint that a blow takes there is pushed on,
to 180° - φ.

α and β are those of the angle: they contain 1/A of the axis and not of cos q times the axis, which would grow without
bound towards 90°.

Source: Mikhaylyuk and Strashnov, Simulation of Articulated Rigid Bodies with Penalty Method (2013), equations 20 to 23:
hinges and universal joints. The source has no limits of ball joints, and those of sliders are lengths.
"""

import math

import taichi as ti

from rigid.constraints.joints.data import COORDINATE, DRIVE, FORM, LIMIT, CoordinateKind, DriveKind
from rigid.constraints.rows import Group
from rigid.solvers.penalty.data import ROW


def refuse_wide_limits(model):
    """Raise ValueError if a limit of an angle is at 90° or beyond, where the sine decreases. Args: model."""
    for joint in model.joints:
        for coordinate, limits in zip(joint.type.coordinates, joint.coordinate_limits()):
            if coordinate.counted:
                if any(math.isfinite(limit) and abs(limit) >= math.pi / 2 for limit in limits):
                    raise ValueError(
                        f"limits of {joint.name!r} are ({limits[0]:g}, {limits[1]:g}) rad: expected between -π/2 and "
                        "π/2 with limit_form='sine', because the sine decreases outside"
                    )


@ti.func
def write_sine_limits(s: ti.template(), world):
    """Write χ of all limits of counted angles in place of their errors, and cos q."""
    n = ti.static(s.rows.numbers)
    for drive in range(s.joints.drives.shape[0]):
        if s.joints.drives[drive, DRIVE.kind] == DriveKind.LIMIT:
            group, row = s.joints.drives[drive, DRIVE.group], s.joints.drives[drive, DRIVE.row]
            c = s.joints.drives[drive, DRIVE.coordinate]
            n[world, row, ROW.cosine] = 1.0
            # Two equal limits are an equality, which keeps its angle.
            if s.rows.kinds[world, group] == Group.LIMIT and s.joints.forms[c, FORM.kind] == CoordinateKind.ANGLE:
                q, limit = s.joints.coordinates[world, c, COORDINATE.value], LIMIT.lowest
                if n[world, row, ROW.high] == 0.0:
                    limit = LIMIT.highest
                n[world, row, ROW.error] = ti.sin(q) - ti.sin(s.joints.drive_numbers[world, drive, limit])
                n[world, row, ROW.cosine] = ti.cos(q)


@ti.func
def cosine_of(s: ti.template(), row, kind, world):
    """Factor of the velocity and of the effort of a row: cos q for a limit by the sine, else one."""
    factor = 1.0
    if kind == Group.LIMIT and row < s.step.first_contact_row:
        factor = s.rows.numbers[world, row, ROW.cosine]
    return factor
