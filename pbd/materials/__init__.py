"""Materials in physical units: fabrics, solids, and a catalogue of measured ones."""

from pbd.materials.fabric import Fabric
from pbd.materials.fabrics import FABRICS
from pbd.materials.solid import Solid
from pbd.materials.solids import SOLIDS

__all__ = ["FABRICS", "SOLIDS", "Fabric", "Solid"]
