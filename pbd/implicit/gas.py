"""Gas inside closed surfaces: one pressure for each, which pushes along the gradient of its volume.

    force_i = p(V) ∇_i V,   p(V) = p_0 + n R T/V - p_ambient,   V = Σ x_a · (x_b × x_c)/6 over the triangles

A gas of constant pressure has p_0 alone, a closed one the other two. Its stiffness -p'(V) ∇V ∇Vᵀ joins all its
particles, so it is not in the matrix B of the elements. Where δ solves B δ = r, and y solves B y = ∇V,

    δ - y (∇V·δ)/(1/k + ∇V·y),   k = -h² p'(V),

solves with both (Sherman and Morrison). What pressure adds to the stiffness by turning with the surface is left out:
it slows convergence and moves no equilibrium.
"""

import taichi as ti

from pbd.data import GAS
from pbd.implicit import linear
from pbd.integrate import position

LEAST_VOLUME = 0.01  # of that at the start: a gas is never taken to be smaller


@ti.func
def volume_of(s: ti.template(), gas, world):
    """V [m³], by corners relative to the first one."""
    m = ti.static(s.implicit)
    total = 0.0
    origin = position(s, m.gas_corners[m.gas_first[gas], 0], world)
    for t in range(m.gas_first[gas], m.gas_first[gas + 1]):
        a, b, c = [position(s, m.gas_corners[t, k], world) - origin for k in ti.static(range(3))]
        total += a.dot(b.cross(c)) / 6.0
    return ti.max(total, LEAST_VOLUME * m.gas_numbers[gas, GAS.volume, world])


@ti.func
def add_pressures(s: ti.template(), world):
    """Add the impulses of all gases to the right side, in h² N."""
    m = ti.static(s.implicit)
    for gas in range(s.counts.gases):
        volume = volume_of(s, gas, world)
        pressure = m.gas_numbers[gas, GAS.constant, world] - m.gas_numbers[gas, GAS.ambient, world]
        pressure += m.gas_numbers[gas, GAS.energy, world] / volume
        add_gradient(s, gas, s.settings.h * s.settings.h * pressure, world)


@ti.func
def add_gradient(s: ti.template(), gas, scale, world):
    """Add ∇V times a number to the right side: at x, or at the start of the substep, which keeps angular momentum."""
    m = ti.static(s.implicit)
    origin = position(s, m.gas_corners[m.gas_first[gas], 0], world)
    for t in range(m.gas_first[gas], m.gas_first[gas + 1]):
        i = [m.gas_corners[t, k] for k in ti.static(range(3))]
        x = [position(s, i[k], world) - origin for k in ti.static(range(3))]
        if ti.static(s.features.from_start):
            for k in ti.static(range(3)):
                x[k] = s.particles.previous_position[i[k], world] - origin
        for k in ti.static(range(3)):
            if s.particles.position[i[k], world][3] > 0.0:
                gradient = x[(k + 1) % 3].cross(x[(k + 2) % 3]) / 6.0
                m.unknown[m.place[i[k]], world] = m.unknown[m.place[i[k]], world] + scale * gradient


@ti.func
def solve_with_gases(s: ti.template(), world):
    """Solve with the elements' matrix and the stiffness of gases: `unknown`, in place."""
    m = ti.static(s.implicit)
    h = s.settings.h
    linear.solve(s, world)
    for gas in range(s.counts.gases):
        energy = m.gas_numbers[gas, GAS.energy, world]
        if energy > 0.0:
            volume = volume_of(s, gas, world)
            along = gradient_times(s, gas, world)
            for k in range(s.counts.implicit):
                m.without_gas[k, world] = m.unknown[k, world]
                m.unknown[k, world] = ti.Vector([0.0, 0.0, 0.0])
            add_gradient(s, gas, 1.0, world)
            linear.solve(s, world)
            share = along / (volume * volume / (h * h * energy) + gradient_times(s, gas, world))
            for k in range(s.counts.implicit):
                m.unknown[k, world] = m.without_gas[k, world] - share * m.unknown[k, world]


@ti.func
def gradient_times(s: ti.template(), gas, world):
    """∇V · `unknown`."""
    m = ti.static(s.implicit)
    total = 0.0
    origin = position(s, m.gas_corners[m.gas_first[gas], 0], world)
    for t in range(m.gas_first[gas], m.gas_first[gas + 1]):
        i = [m.gas_corners[t, k] for k in ti.static(range(3))]
        x = [position(s, i[k], world) - origin for k in ti.static(range(3))]
        for k in ti.static(range(3)):
            if s.particles.position[i[k], world][3] > 0.0:
                total += m.unknown[m.place[i[k]], world].dot(x[(k + 1) % 3].cross(x[(k + 2) % 3])) / 6.0
    return total


@ti.func
def energy_of_gases(s: ti.template(), world):
    """-n R T log(V/V_0) + (p_ambient - p_0)(V - V_0) of all gases [J], with the volume V_0 at the start."""
    m = ti.static(s.implicit)
    total = 0.0
    for gas in range(s.counts.gases):
        volume, first = volume_of(s, gas, world), m.gas_numbers[gas, GAS.volume, world]
        excess = m.gas_numbers[gas, GAS.ambient, world] - m.gas_numbers[gas, GAS.constant, world]
        total += excess * (volume - first) - m.gas_numbers[gas, GAS.energy, world] * ti.log(volume / first)
    return total
