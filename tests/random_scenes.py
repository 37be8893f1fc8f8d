"""Random scenes of tests: benchmarks/random_scenes.py makes them, this says which solvers can run them."""

import pbd
import rigid
from benchmarks.random_scenes import KINDS

SEEDS = range(40)  # among them is everything that a kind can have

BODIES = [kind for kind in KINDS if kind not in ("cloth", "particles")]


def solvers_of(scene):
    """Names of the solvers that can run a scene. Args: scene: a RandomScene."""
    if scene.has_particles:
        return ("verlet",)
    slips = any(joint.kind == "wheel" and joint.friction is not None for joint in scene.description.joints)
    return tuple(name for name in rigid.SOLVERS if not (slips and name == "verlet"))


def solver_of(scene, name, **options):
    """A solver of a scene at its start. Args: scene: a RandomScene; name; options: of the solver."""
    if scene.has_particles:
        return pbd.ParticleSystem(scene.description, dt=scene.dt, **options)
    if name == "penalty":  # it needs short steps
        options = {"substeps": 64, **options}
    return rigid.solver(name, scene.description, dt=scene.dt, contacts=scene.contacts, **options)
