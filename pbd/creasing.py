"""Hinges that crease: see `yield_angle` of pbd.Particles.add_bending.

At the end of each step, the rest angle θ0 of a hinge follows its angle θ as far as it must,

    θ0 := θ0 + ((θ - θ0 + π) mod 2π - π) - clip(the same, -y, y)

so that no step begins with a hinge that is bent by more than its yield angle y: ideal plasticity, without hardening.
What is bent by less springs back. Hinges are compared on the host after each step, as sticks are (pbd/tearing.py).

Source: Simo and Hughes, Computational Inelasticity (1998), section 1.2, the return mapping of ideal plasticity,
https://doi.org/10.1007/b98904.
"""

import numpy as np

from pbd.core.kernels import read
from pbd.core.validate import finite_array
from pbd.data import RANGE
from pbd.description.rest_values import dihedral_angle


class Creasing:
    """The hinges of a system that crease.

    Args: constraints: the ConstraintValues; values: the ParticleValues, of the system.

    Attributes: hinges: particles of each hinge (n, 4).
    """

    def __init__(self, constraints, values):
        self._constraints, self._values = constraints, values
        places = [np.zeros((0, 3), int)]
        for each, place in zip(constraints.types, constraints.ranges):
            if "yield_angle" in each.parameters:
                step = np.arange(place[RANGE.count])[:, None]
                columns = [each.parameters.index(name) for name in ("half_rest_sine", "yield_angle")]
                first = place[[RANGE.members, RANGE.parameters, RANGE.parameters]] + (0, *columns)
                places.append(first + step * (4, each.width, each.width))
        places = np.concatenate(places)
        self._rows = places[:, 1]
        self.hinges = read(constraints.arrays.members)[places[:, :1] + np.arange(4)]
        self._yield_angles = constraints.read(places[:, 2])

    def __len__(self):
        return len(self.hinges)

    def flow(self):
        """Let the rest angles follow those of hinges that are bent too far."""
        x = np.moveaxis(self._values.read("position")[..., :3].astype(float)[self.hinges], 2, 1)
        angles = dihedral_angle(x.reshape(-1, 4, 3)).reshape(self._yield_angles.shape)
        sines = self._constraints.read(self._rows).astype(float)
        rest = 2 * np.arcsin(sines)
        bent = (angles - rest + np.pi) % (2 * np.pi) - np.pi
        beyond = bent - np.clip(bent, -self._yield_angles, self._yield_angles)
        if beyond.any():
            # Half the angle is in [-π/2, π/2], where the sine has an inverse.
            new = (rest + beyond + np.pi) % (2 * np.pi) - np.pi
            self._constraints.write(self._rows, np.where(beyond, np.sin(new / 2), sines))

    def state(self):
        """The sines of half the rest angles, as a pbd.State has them."""
        return self._values.to_user(self._constraints.read(self._rows))

    def checked(self, name, state):
        """Sines of half the rest angles in a state; those of now in that of another system."""
        now = self.state()
        return finite_array(f"state's {name}", state, now.shape) if np.shape(state) == now.shape else now

    def restore(self, sines):
        """Continue from a state. Args: sines: see `checked`."""
        self._constraints.write(self._rows, np.reshape(np.transpose(sines), self._yield_angles.shape))
