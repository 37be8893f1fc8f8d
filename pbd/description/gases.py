"""Gases of a description, inside closed surfaces. Plain numpy, without Taichi."""

from dataclasses import dataclass

import numpy as np

from pbd.core.topology import half_edges
from pbd.core.validate import finite_number, indices, not_negative, positive

GAS_CONSTANT = 8.314462618  # R [J/(mol K)]


@dataclass(frozen=True)
class Gas:
    """A gas inside a closed surface.

    Attributes: triangles (n, 3): indices of particles; constant: a pressure over that outside, if it is kept [Pa];
    energy: n R T of a closed gas, or zero [J]; ambient: the pressure outside of a closed gas, or zero [Pa]; volume: of
    the surface in the description [m³].
    """

    triangles: np.ndarray
    constant: float
    energy: float
    ambient: float
    volume: float

    def pressure(self, positions):
        """Pressure over that outside [Pa]. Args: positions (..., particles, 3) [m]. Returns: (...)."""
        return self.constant + self.energy / volume_within(self.triangles, positions) - self.ambient


def volume_within(triangles, positions):
    """Volume inside a closed surface [m³]. Args: triangles (n, 3); positions (..., particles, 3) [m]."""
    a, b, c = np.moveaxis(positions[..., triangles, :] - positions[..., triangles[:1, :1], :], -2, 0)
    return (a * np.cross(b, c)).sum(axis=(-2, -1)) / 6


def gas_of(surface, pressure, amount, ambient, temperature, positions):
    """Check a gas. Args: see `Particles.add_pressure`; positions: of all particles [m]. Returns: a Gas."""
    triangles = indices("triangles of a gas", surface, len(positions), 3)
    if not len(triangles):
        raise ValueError("a gas inside no triangles: expected a closed surface")
    if (pressure is None) == (amount is None):
        given = "both" if pressure is not None else "neither"
        raise ValueError(f"a gas with {given} of pressure and amount: expected one of them")
    start, end, _ = half_edges(triangles)
    size = len(positions)
    sides, back = np.sort(start * size + end), np.sort(end * size + start)
    if not np.array_equal(sides, back) or (np.diff(sides) == 0).any():
        lonely = np.setdiff1d(sides, back)
        edge = lonely[0] if len(lonely) else sides[np.flatnonzero(np.diff(sides) == 0)[0]]
        raise ValueError(
            f"the surface of a gas is open or turned over at the edge from {edge // size} to {edge % size}: expected "
            "two triangles at each edge, in opposite directions"
        )
    volume = float(volume_within(triangles, positions))
    if not volume > 0:
        raise ValueError(f"the surface of a gas has the volume {volume:g} m³: expected normals that point outwards")
    temperature, ambient = positive("temperature", temperature), not_negative("ambient", ambient)
    if pressure is not None:
        return Gas(triangles, finite_number("pressure", pressure), 0.0, 0.0, volume)
    return Gas(triangles, 0.0, positive("amount", amount) * GAS_CONSTANT * temperature, ambient, volume)


def numbers_of_gases(description):
    """Numbers of the gases of a description (gases, 4), with the columns of `pbd.data.GAS`."""
    numbers = [(each.constant, each.energy, each.ambient, each.volume) for each in description.gases]
    return np.array(numbers).reshape(-1, 4)


def add_pressure(description, surface, pressure=None, amount=None, ambient=101_325.0, temperature=293.15):
    """Fill a closed surface with gas, which pushes outwards.

    Args:
        surface: triangles (n, 3) of indices, with outward normals, two at each edge.
        pressure: over that outside, which is kept whatever the volume [Pa], as by a pump; or
        amount: of a gas that is closed in [mol]: its pressure n R T/V follows the volume.
        ambient: pressure outside of a closed gas [Pa].
        temperature: of a closed gas, which is kept [K].

    Masses are those of the particles: that of the gas is left out. It needs a processor.

    Returns: its index in `gases`.

    Raises: ValueError for a surface that is open, or inside out; or without one of pressure and amount.
    """
    description.gases.append(gas_of(surface, pressure, amount, ambient, temperature, description.positions()))
    return len(description.gases) - 1
