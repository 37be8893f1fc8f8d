"""The energy that soft rows of sequential impulses store, and the watch over the energy."""

from functools import cache

import taichi as ti

from pbd.core.kernels import count_last_turns, left_out, load_vector, make_kernel
from rigid.constraints.rows import GROUP, Group
from rigid.kernels.matrices import inverse_or_zero
from rigid.solvers.energy_bound import watch_energy
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.prepare import write_rows


@cache
def energy_kernel(declaration, features, lanes):
    """Make the kernel that reports what rows store at the present poses.

    Args: declaration: a solver's Data; features; lanes: worlds in the lanes of a vector.
    """

    @ti.func
    def measure(s: ti.template()):
        for world in range(s.report.shape[0]):
            write_rows(s, world)
            stored, _ = stored_energy(s, world)
            s.report[world, REPORT.stored] = stored
            count_last_turns(s.report, REPORT.last_turns, world)

    return make_kernel(
        measure, declaration, lanes, features.packs,
        features=features, formulation=None, find_points=None, **left_out(features),
    )  # fmt: skip


@ti.func
def watch_rows(s: ti.template(), world):
    """Watch the energy at the start of a substep, whose rows have been written."""
    stored, gap = stored_energy(s, world)
    watch_energy(s, stored, gap, world)


@ti.func
def stored_energy(s: ti.template(), world):
    """Energy of springs and soft joints, Σ k G²/2 over their rows [J], and the largest |G| of a hard row [m].

    Rows are those at the present poses. |G| counts for equalities against translation.
    """
    n = ti.static(s.rows.numbers)
    total, gap = 0.0, 0.0
    for group in range(s.step.first_contact_group):
        if s.rows.kinds[world, group] == Group.EQUALITY:
            first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
            for row in range(first, first + count):
                stiffness = n[world, row, ROW.stiffness]
                if stiffness < ti.math.inf:
                    if n[world, row, ROW.per_mass] > 0.0:  # γ = 1/(m h (h k + c)) of the last substep
                        compliant = s.step.h * (s.step.h * stiffness + n[world, row, ROW.damping])
                        stiffness *= inverse_or_zero(compliant * n[world, row, ROW.softness])
                    total += 0.5 * stiffness * n[world, row, ROW.error] ** 2
                elif load_vector(n, row, ROW.linear, world).norm_sqr() > 0.0:
                    gap = ti.max(gap, ti.abs(n[world, row, ROW.error]))
    return total, gap
