"""Things to simulate: functions that add particles and constraints to a pbd.Particles, and the meshes they use."""

from pbd.build.cloth import Cloth, cloth, cloth_from_mesh
from pbd.build.figure import Figure, figure
from pbd.build.hair import Hair, hair
from pbd.build.hexagonal_cloth import hexagonal_cloth
from pbd.build.mesh import Mesh, closed_surface, load_mesh, surface
from pbd.build.plant import Plant, plant
from pbd.build.rod import Rod, rod
from pbd.build.rope import Rope, rope
from pbd.build.soft_body import Skin, SoftBody, soft_body, soft_body_from_tetrahedra

__all__ = [
    "Cloth",
    "Figure",
    "Hair",
    "Mesh",
    "Plant",
    "Rod",
    "Rope",
    "Skin",
    "SoftBody",
    "closed_surface",
    "cloth",
    "cloth_from_mesh",
    "figure",
    "hair",
    "hexagonal_cloth",
    "load_mesh",
    "plant",
    "rod",
    "rope",
    "soft_body",
    "soft_body_from_tetrahedra",
    "surface",
]
