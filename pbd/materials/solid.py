"""Solid: what a soft body is made of, in physical units."""

from dataclasses import dataclass

from pbd.core.validate import finite_number, not_negative, positive


def check_flow(hardening, **yields):
    """Check what a material that flows has. Args: hardening: see `Solid`; yields: by name. Raises: ValueError."""
    given = {name: value for name, value in yields.items() if value is not None}
    if not_negative("hardening", hardening) > 0 and not given:
        raise ValueError(f"hardening is {hardening:g}, without a {' or '.join(yields)}: expected both, or none")
    for name, value in given.items():
        positive(name, value)


@dataclass(frozen=True)
class Solid:
    """An elastic material, the same in all directions: stable neo-Hookean, see pbd/constraints/solid.py.

    With a `yield_strain` it is elastic and plastic, by von Mises' law with isotropic hardening, see pbd/flow.py.

    Args:
        young: Young's modulus [Pa].
        poisson: ratio of contraction across to extension along, in [0, 0.5). What hardly changes its volume has 0.45 to
            0.49; tetrahedra that are few bend too little above that.
        density: [kg/m³].
        damping: its own friction, as the time τ in a stress of stiffness (strain + τ strain rate) [s]. What swings with
            the circular frequency ω has the damping ratio ω τ/2.
        yield_strain: the strain σ_y/E of a pulled bar beyond which it flows, and keeps what is beyond; above zero, and
            None for a material that springs back from any.
        hardening: H/E, by how much the yield strain grows with the plastic strain, zero or more. A bar is pulled beyond
            its yield with the tangent modulus E H/(E + H). It needs a yield_strain.

    Raises: ValueError for a number that no such material has.
    """

    young: float
    poisson: float = 0.45
    density: float = 1000.0
    damping: float = 0.0
    yield_strain: float | None = None
    hardening: float = 0.0

    def __post_init__(self):
        positive("young", self.young)
        positive("density", self.density)
        not_negative("damping", self.damping)
        if not 0 <= finite_number("poisson", self.poisson) < 0.5:
            raise ValueError(f"poisson is {self.poisson:g}: expected a ratio from 0 to below 0.5")
        check_flow(self.hardening, yield_strain=self.yield_strain)

    def lame(self):
        """Lamé's constants λ and μ [Pa], μ the shear modulus."""
        shear = self.young / (2 * (1 + self.poisson))
        return 2 * shear * self.poisson / (1 - 2 * self.poisson), shear
