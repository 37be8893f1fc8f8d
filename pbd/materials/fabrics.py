"""A catalogue of fabrics, most of them measured.

Sources:
    silk: typical of 16 momme (0.067 kg/m²) and of no single piece, but for its bending.
    cotton, wool: Penava, Šimić Penava, Knezić, Determination of the elastic constants of plain woven fabrics by a
        tensile test in various directions (2014): density, thickness, Poisson's ratio and stiffness, here the same
        along both threads. Their shear is typical.
    bending of silk, cotton, wool: of other fabrics within 10 % of their density in the data of Feng, Huang, Xu, Wang,
        Learning-Based Bending Stiffness Parameter Estimation by a Drape Tester (2022),
        https://doi.org/10.1145/3550454.3555464, whose materials are not named. They are the medians along the warp,
        along the weft and between; of silk the first quartiles, chosen with
        its shear so that its drape is that of silk, 20 to 40 %: stiffer numbers gave 40 to 50 %.
    leather: typical of soft garment leather. Its bending is chosen so that its drape is in the range that Memon,
        Chaklie, Yesuf, Zhu, Study on Effect of Leather Rigidity and Thickness on Drapability of Sheep Garment Leather
        (2021), https://doi.org/10.3390/ma14164553, measured with thicknesses from 0.64 to 0.96 mm.
    the others: Wang, O'Brien, Ramamoorthi, Data-Driven Elastic Models for Cloth (2011),
        https://doi.org/10.1145/2010324.1964966, whose data base has, for each fabric, a matrix of stiffness at several
        strains and rigidities at several angles and curvatures. Here are those at the least strain and curvature, where
        warp is the stiffer direction.

Departures from Wang: four knits have a negative coupling of warp and weft there, as if they became wider when they are
pulled, and one of these matrices is not positive; here it is zero. The entry of shear is taken for the angle, 2 ε_12.
Thicknesses are typical of such fabrics and not theirs.
"""

import math
from types import MappingProxyType

from pbd.materials.fabric import Fabric


def by_wang(weft, coupling, warp, shear, bending, density, thickness):
    """A Fabric from the numbers of the source.

    Args: weft, coupling, warp, shear: entries of the matrix of stiffness [N/m]; bending: along the weft, between, and
    along the warp [N m]; density: [kg/m²]; thickness: [m].
    """
    poisson = max(coupling, 0.0) / math.sqrt(warp * weft)
    free = 1 - poisson**2  # entries are stiffnesses with the other direction held
    along_weft, between, along_warp = bending
    return Fabric(
        warp=warp * free, weft=weft * free, shear=shear, poisson=poisson, bending=(along_warp, along_weft, between),
        density=density, thickness=thickness,
    )  # fmt: skip


FABRICS = MappingProxyType(
    {
        "silk": Fabric(600.0, 400.0, 12.0, 0.1, (1.3e-6, 2.2e-6, 1.8e-6), 0.067, 0.15e-3),
        "cotton": Fabric(261.0, 261.0, 55.0, 0.243, (14.4e-6, 10.5e-6, 10.5e-6), 0.1503, 0.318e-3),
        "wool": Fabric(96.6, 96.6, 40.0, 0.277, (18.4e-6, 10.0e-6, 17.8e-6), 0.2348, 0.568e-3),
        "leather": Fabric(1500.0, 1500.0, 577.0, 0.3, 25e-6, 0.45, 0.7e-3),
        "ribbed knit": by_wang(42.87, -0.23, 65.17, 83.18, (46.2e-6, 30.0e-6, 32.2e-6), 0.276, 1.1e-3),
        "fleece": by_wang(151.5, 106.0, 244.8, 30.25, (117e-6, 87.5e-6, 59.8e-6), 0.228, 1.5e-3),
        "satin": by_wang(2002.0, 0.35, 2027.0, 19.19, (51.7e-6, 40.7e-6, 31.3e-6), 0.128, 0.2e-3),
        "sweatshirt": by_wang(3.27, -19.88, 12.49, 17.62, (45.6e-6, 40.1e-6, 59.5e-6), 0.224, 1.0e-3),
        "jersey": by_wang(31.15, -12.80, 44.03, 31.90, (36.3e-6, 33.0e-6, 37.2e-6), 0.284, 0.9e-3),
        "interlock": by_wang(16.59, -14.70, 34.48, 36.86, (23.2e-6, 24.7e-6, 14.3e-6), 0.187, 0.8e-3),
        "denim": by_wang(205.4, 10.23, 1014.0, 53.39, (64.2e-6, 73.4e-6, 97.0e-6), 0.324, 0.7e-3),
        "swimsuit": by_wang(47.97, 6.83, 104.6, 60.77, (60.2e-6, 58.8e-6, 51.0e-6), 0.204, 0.6e-3),
        "taffeta": by_wang(43.07, 54.37, 171.4, 14.31, (14.3e-6, 22.0e-6, 20.3e-6), 0.113, 0.25e-3),
        "twill": by_wang(2017.0, 9.17, 2035.0, 104.8, (125e-6, 108e-6, 125e-6), 0.220, 0.4e-3),
    }
)
