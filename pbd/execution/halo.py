"""The halo of each band in kernels (pbd/execution/bands.py), and phases that treat one particle after another."""

import taichi as ti

from pbd.core.kernels import FirstRows, SingleItems, in_numbers, rotated


@ti.func
def load_halo(s: ti.template(), world):
    """Copy the particles that seams reach from each band to the halo of the band before.

    The last band has no next one. Its halo has copies of the first band, and its seams are not stored.
    """
    position, previous = ti.static(s.particles.position, s.particles.previous_position)
    for k in range(s.counts.halo):
        place = s.counts.particles + k
        position[place, world] = rotated(position[s.bands.halo[k], world], 1)
        if ti.static(s.features.reads_start):
            previous[place, world] = rotated(previous[s.bands.halo[k], world], 1)


@ti.func
def store_halo(s: ti.template(), world):
    """Copy the halo back to the bands that it has copies of."""
    for k in range(s.counts.halo):
        found = rotated(s.particles.position[s.counts.particles + k, world], -1)
        s.particles.position[s.bands.halo[k], world] = found


@ti.func
def of_band(multipliers: ti.template(), place, which, world):
    """λ of a place: of the band before (which = 0), of the same (1) or of the next (2)."""
    found = multipliers[place, world]
    if which == 0:
        found = rotated(ti.Vector([found]), -1)[0]
    elif which == 2:
        found = rotated(ti.Vector([found]), 1)[0]
    return found


def one_particle_at_a_time(function):
    """Decorate a Taichi function (s, ...) that treats one particle after another, also if bands lie in lanes.

    Its items are particles as the user counts them. Args: function.
    """
    return in_numbers(function, by_items, lambda s: s.features.bands)


def by_items(s):
    """The data of a kernel with bands in lanes, as a function sees it that treats one particle after another."""
    lanes, places = s.features.lanes, s.bands.place

    def items(array):
        return SingleItems(array, lanes, places)

    particles = s.particles._replace(
        **{name: items(array) for name, array in s.particles._asdict().items() if name != "kinematic"}
    )
    multipliers = SingleItems(s.constraints.multipliers, lanes)
    constraints = s.constraints._replace(members=s.bands.members, multipliers=multipliers)
    wind = s.wind._replace(force=items(s.wind.force)) if s.features.wind else s.wind
    gravity = s.gravity._replace(scale=items(s.gravity.scale)) if s.features.gravity_scales else s.gravity
    return s._replace(
        particles=particles,
        constraints=constraints,
        wind=wind,
        gravity=gravity,
        report=FirstRows(s.report.array),
        counts=s.counts._replace(particles=places.shape[0]),
    )
