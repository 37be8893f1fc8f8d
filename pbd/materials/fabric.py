"""Fabric: what a sheet of cloth is made of, in physical units."""

import math
from dataclasses import dataclass

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import finite_number, not_negative, positive, real_array
from pbd.materials.solid import check_flow


@dataclass(frozen=True)
class Fabric:
    """A fabric, by what a laboratory measures of it.

    Args:
        warp, weft: stiffness along either thread [N/m]: the tension, for each metre of width, that would double the
            length of a strip whose sides are free.
        shear: stiffness against shear between the threads [N/m]: the shear force, for each metre, at an angle of one
            radian.
        poisson: ratio of contraction across to extension along, in (-1, 1). Pulled along the warp, a strip contracts by
            poisson √(warp/weft) of its extension, pulled along the weft by poisson √(weft/warp) of it.
        bending: flexural rigidity [N m]: of a strip along the warp; or three, along the warp, along the weft and at
            45° between them.
        density: [kg/m²].
        thickness: distance of two layers in contact [m]; None if unknown.
        damping: its own friction, as the time τ in a tension of stiffness (strain + τ strain rate) [s]. What swings
            with the circular frequency ω has the damping ratio ω τ/2.
        strain_limit: threads are never longer than this part beyond their lengths as described; None for no limit.
        yield_strain: threads whose tension is beyond that of a free strip with this strain flow, and keep what is
            beyond, stretched or crushed, each by itself; so does shear beyond this cosine of the angle. It is above
            zero, and None for a fabric that springs back from any.
        hardening: by how much the yield strain grows with the plastic strain of a thread, or of the shear, and the
            yield curvature with the plastic curvature; zero or more. It needs one of them. See pbd/flow.py.
        yield_curvature: a strip along the warp or the weft that is bent by more keeps what is beyond [1/m]; above zero,
            and None for a fabric whose bends spring back. It needs bending. See pbd/plate_flow.py.

    Raises: ValueError for a number that no fabric has.
    """

    warp: float
    weft: float
    shear: float
    poisson: float = 0.0
    bending: float | tuple = 0.0
    density: float = 0.2
    thickness: float | None = None
    damping: float = 0.0
    strain_limit: float | None = None
    yield_strain: float | None = None
    hardening: float = 0.0
    yield_curvature: float | None = None

    def __post_init__(self):
        for name in ("warp", "weft", "density"):
            positive(name, getattr(self, name))
        for name in ("shear", "damping"):
            not_negative(name, getattr(self, name))
        if not -1 < finite_number("poisson", self.poisson) < 1:
            raise ValueError(f"poisson is {self.poisson:g}: expected a ratio between -1 and 1")
        self.rigidities()
        if self.thickness is not None:
            positive("thickness", self.thickness)
        if self.strain_limit is not None:
            positive("strain_limit", self.strain_limit)
        check_flow(self.hardening, yield_strain=self.yield_strain, yield_curvature=self.yield_curvature)
        if self.yield_curvature is not None and not any(self.rigidities()):
            raise ValueError(f"yield_curvature is {self.yield_curvature:g}, without bending: expected both, or none")

    def rigidities(self):
        """Flexural rigidity along the warp, along the weft and between them, three numbers [N m]."""
        given = real_array("bending", self.bending)
        if given.shape not in ((), (3,)):
            raise ValueError(f"bending is {shown(self.bending)}: expected a number, or three: warp, weft and between")
        warp, weft, between = (not_negative("bending", float(each)) for each in np.broadcast_to(given, 3))
        if any((warp, weft, between)):
            if not all((warp, weft, between)):
                raise ValueError(f"bending is {shown(self.bending)}: expected three numbers above zero, or none")
            most = 4 / (1 / warp + 1 / weft - 2 * self.poisson / math.sqrt(warp * weft))
            if between >= most:  # else a plate would gain energy by twisting
                raise ValueError(f"bending is {shown(self.bending)}: expected less than {most:g} between warp and weft")
        return warp, weft, between

    def rigidity(self, angle):
        """Flexural rigidity of strips in any direction [N m].

        Args: angle: of the strip to the warp (n,) [rad].

        1/B = c⁴/B_warp + s⁴/B_weft + (4/B_between - 1/B_warp - 1/B_weft) s² c² is that of an orthotropic plate with
        free sides, with c and s the cosine and sine of the angle. Source: Lekhnitskii, Anisotropic Plates (1968).
        """
        warp, weft, between = (1 / each for each in self.rigidities())
        c, s = np.cos(angle) ** 2, np.sin(angle) ** 2
        return 1 / (warp * c * c + weft * s * s + (4 * between - warp - weft) * s * c)

    def plate_compliance(self):
        """Curvatures κ_11, κ_22, 2 κ_12 for each moment M_11, M_22, M_12 (3, 3) [1/(N m)], along warp and weft.

        1/B_warp and 1/B_weft are on its diagonal, because measured strips have free sides. `poisson` is that of
        bending, too.
        """
        warp, weft, between = (1 / each for each in self.rigidities())
        across = -self.poisson * math.sqrt(warp * weft)
        twist = 4 * between - warp - weft - 2 * across
        return np.array([[warp, across, 0], [across, weft, 0], [0, 0, twist]])

    def scaled_moments(self):
        """M_11/B_warp, M_22/B_weft, M_12/√(B_warp B_weft) for each curvature κ_11, κ_22, 2 κ_12 (3, 3)."""
        warp, weft, _ = self.rigidities()
        scale = np.array([warp, weft, math.sqrt(warp * weft)])
        return np.linalg.inv(self.plate_compliance()) / scale[:, None]

    def stiffness(self):
        """Tension and shear for each strain (3, 3) [N/m], in the order warp, weft and shear.

        Its inverse has 1/warp and 1/weft on its diagonal, because the sides of a measured strip are free.
        """
        across = self.poisson * math.sqrt(self.warp * self.weft)
        plane = np.array([[self.warp, across], [across, self.weft]]) / (1 - self.poisson**2)
        return np.block([[plane, np.zeros((2, 1))], [np.zeros((1, 2)), self.shear]])

    def is_isotropic(self):
        """Whether no direction differs from another, to a part in a million."""
        warp, weft, between = self.rigidities()
        shear = self.warp / (2 * (1 + self.poisson))
        pairs = (warp, weft), (warp, between), (self.warp, self.weft), (self.shear, shear)
        return all(math.isclose(one, other, rel_tol=1e-6) for one, other in pairs)
