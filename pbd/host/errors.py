"""Errors of a particle system: what can go wrong in a step, found in the report of its kernels."""

import warnings

import numpy as np

from pbd.core.results import Diverged
from pbd.data import MOST_NEIGHBOURS, REPORT

WARNINGS = {  # {column of the report: what is said of its particle}
    REPORT.crossing_particle: "of a surface is crossed by what moves on a path and cannot wait: expected a path that "
    "leaves room for it",
    REPORT.held_particle: "of a surface was held back and lost momentum, as nothing else prevented a crossing: "
    "expected more substeps or iterations",
    REPORT.pressed_particle: "is pressed between two colliders: expected room for {room}, or colliders that are "
    "farther apart",
    REPORT.thrown_particle: "starts in a collider, or a stick or triangle of it does, which throws it out at more than "
    "1 m/s: expected a description that keeps its radius from colliders, such as a rope of more segments",
    REPORT.loaded_particle: "of the direct solve bears a load on a body that moves, as too many others do. Iterations "
    "hold it, and may not converge: expected at most 64 contacts of bodies that bear such loads, so longer sticks, or "
    'solve="iterative", direction="current", substeps=20, iterations=100',
}


def raise_errors(report, clock, values, contact_capacity):
    """Raise an error for what went wrong in the last launch, if anything did.

    Args:
        report: (worlds, REPORT).
        clock: the Clock at the start of the launch.
        values: the ParticleValues.
        contact_capacity: for how many contacts the step hooks have memory.

    Raises: Diverged if a position stopped being finite; RuntimeError if contacts need more memory.
    """
    if report[:, REPORT.diverged_substep : REPORT.pressed_particle].max() < 0:
        return
    neighbours = int(report[:, REPORT.neighbour_overflow].max())
    if neighbours > MOST_NEIGHBOURS:
        raise RuntimeError(
            f"a particle has {neighbours} others within reach of contact, and {MOST_NEIGHBOURS} are kept: expected "
            "a thickness (twice the radius) of about the distance between particles, or less"
        )
    contacts = int(report[:, REPORT.contact_overflow].max())
    if contacts >= 0:
        raise RuntimeError(f"contact buffer full ({contacts} of {contact_capacity}): increase contact_capacity")
    world = int(np.flatnonzero(report[:, REPORT.diverged_substep] >= 0)[0])
    substep = int(report[world, REPORT.diverged_substep])
    with np.errstate(over="ignore"):
        finite = np.isfinite(values.read("position")[:, world, :3].astype(np.float32)).all(axis=1)
    raise Diverged(
        world, clock.step_of(clock.substep + substep), int(np.argmin(finite)), clock.time_after(substep + 1)
    )


def refuse_too_many_pairs(report, room):
    """Raise RuntimeError if a search on surfaces found more pairs than there is room for. Args: report; room."""
    pairs = int(report[:, REPORT.surface_pairs].max())
    if pairs > room:
        raise RuntimeError(
            f"surfaces have {pairs} pairs of vertices, edges and triangles within reach of a substep, and there is "
            f"room for {room}: expected more substeps, or a smaller thickness"
        )


def warn_of_contacts(report, time, radii, said):
    """Warn if colliders leave a particle no room, or if a directly solved one bears a load on a body.

    Args: see `raise_errors`; time: [s]; radii: (particles,), or None; said: set of columns of the report that were
    warned of, to which this adds.
    """
    for column, what in WARNINGS.items():
        world = int(np.argmax(report[:, column]))
        particle = int(report[world, column])
        if particle >= 0 and column not in said:
            said.add(column)
            which, room = "a particle", "its diameter"
            if radii is not None:
                which, room = f"particle {particle}", f"its diameter of {2 * radii[particle]:.3g} m"
            what = what.format(room=room)
            warnings.warn(f"particle system, world {world}, by {time:.6g} s: {which} {what}", UserWarning, stacklevel=4)
    said.add(REPORT.thrown_particle)  # only what starts so


def warn_of_softness(plan):
    """Warn if "auto" does not solve elements together. Args: plan: a pbd.implicit.tables.ImplicitPlan."""
    if plan.note:
        warnings.warn(
            f"{plan.note}, which are softer than their material as far as iterations have not converged: "
            'elements="iterative" says that you know',
            UserWarning, stacklevel=4,
        )  # fmt: skip
