"""What a scene looks like: visuals turn the state of a scene into surfaces for the renderer and the viewer."""

from scenes.visuals.bodies import BodySurfaces, BodyVisual, JointVisual, SpringVisual, ragdoll_colours
from scenes.visuals.camera import Camera, FollowingCamera
from scenes.visuals.colours import BLUE, CHALK, GOLD, GREEN, PALETTE, RED, SAND, STEEL, STONE, WOOD
from scenes.visuals.default import default_visuals
from scenes.visuals.environment import BoxEdgesVisual, ColliderVisual, StaticVisual
from scenes.visuals.geometry import Instances, Rods, Spheres, Surface
from scenes.visuals.particles import ClothVisual, ParticleVisual, PlantVisual, SkinVisual, StickVisual
from scenes.visuals.primitives import box, capsule, cylinder, sphere, spheres, tubes
from scenes.visuals.rod import RodVisual
from scenes.visuals.stress import StressVisual

__all__ = [
    "BLUE",
    "CHALK",
    "GOLD",
    "GREEN",
    "PALETTE",
    "RED",
    "SAND",
    "STEEL",
    "STONE",
    "WOOD",
    "BodySurfaces",
    "BodyVisual",
    "BoxEdgesVisual",
    "Camera",
    "ClothVisual",
    "ColliderVisual",
    "FollowingCamera",
    "Instances",
    "JointVisual",
    "ParticleVisual",
    "PlantVisual",
    "RodVisual",
    "Rods",
    "SkinVisual",
    "Spheres",
    "SpringVisual",
    "StaticVisual",
    "StickVisual",
    "StressVisual",
    "Surface",
    "box",
    "capsule",
    "cylinder",
    "default_visuals",
    "ragdoll_colours",
    "sphere",
    "spheres",
    "tubes",
]
