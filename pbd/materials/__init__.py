"""Materials in physical units: fabrics, and a catalogue of measured ones."""

from pbd.materials.fabric import Fabric
from pbd.materials.fabrics import FABRICS

__all__ = ["FABRICS", "Fabric"]
