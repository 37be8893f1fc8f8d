"""A catalogue of elastic materials.

Sources:
    natural rubber: Treloar, Stress-strain data for vulcanised rubber under various types of deformation (1944), whose
        shear modulus of 0.39 MPa fits his stretches up to 1.5.
    silicone: Ecoflex 00-30, whose data sheet has a stress of 69 kPa at a stretch of 2, which is μ (2 - 1/2²).
    PDMS: Johnston, McCluskey, Tan, Tracey, Mechanical characterization of bulk Sylgard 184 (2014),
        https://doi.org/10.1088/0960-1317/24/3/035017.
    gelatine: 5 % in water, Nguyen, Zhou, Robert, Shamdasani, Xie, Development of oil-in-gelatin phantoms (2014),
        Ultrasound in Medicine and Biology 40(1): shear modulus 4.18 kPa; with 3 % its ratio of viscosity to modulus is
        0.3 ms.
    foam: a flexible foam of polyurethane, Gibson and Ashby, Cellular Solids (1997), section 5.3: E = E_s (ρ/ρ_s)² with
        E_s = 45 MPa and ρ_s = 1200 kg/m³.
    cork: Gibson, Easterling, Ashby, The structure and mechanics of cork (1981),
        https://doi.org/10.1098/rspa.1981.0117.

Departures: what keeps its volume has Poisson's ratio 0.49 and not 0.4999, because few tetrahedra bend too little then.
But for gelatine, damping times are not from these sources: they are of loss tangents of 0.05 to 0.15 at 1 Hz, such as
these kinds of materials have.
"""

from types import MappingProxyType

from pbd.materials.solid import Solid

SOLIDS = MappingProxyType(
    {
        "natural rubber": Solid(young=2.98 * 0.39e6, poisson=0.49, density=930.0, damping=0.008),
        "silicone": Solid(young=2.98 * 39.4e3, poisson=0.49, density=1070.0, damping=0.016),
        "PDMS": Solid(young=1.32e6, poisson=0.49, density=1030.0, damping=0.008),
        "gelatine": Solid(young=2.98 * 4.18e3, poisson=0.49, density=1010.0, damping=0.3e-3),
        "foam": Solid(young=28e3, poisson=0.3, density=30.0, damping=0.024),
        "cork": Solid(young=13e6, poisson=0.0, density=170.0, damping=0.016),
    }
)
