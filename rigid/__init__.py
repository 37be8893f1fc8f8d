"""Rigid bodies: one description for all solvers.

    import rigid
    model = rigid.Model()
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, point=(0, 0, 1), axis=(0, 1, 0))

The description:

    model.py       Model: adds bodies, shapes, joints, springs and gears
    body.py        Body and BodyShape               joints/      one file for each type of joint
    spring.py      Spring, Soft, PointSpring        motor.py     Motor
    mass.py        mass, centre of mass, inertia    rotation.py  quaternions in numpy
    state.py       State: a snapshot of all bodies  energy.py    energy of a snapshot
    names.py       names and lookup                 worlds.py    models of one solver
    external_forces.py  checks of external forces   paths.py     bodies that follow paths
    visual_shape.py  VisualShape: what is drawn of a body
    build/         ragdolls, MJCF files in and out

Contact detection is in collision/, constraint rows are in constraints/, and the solvers are in solvers/.
"""

from pbd.core.results import Diverged, Energy, Statistics
from pbd.core.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Mesh, MeshCollider, Plane, Sphere
from pbd.core.validate import one_of
from rigid import build, rotation
from rigid.body import Body, BodyShape
from rigid.joints import Ball, Cylindrical, Distance, Fixed, Gear, Hinge, Joint, Planar, Slider, Universal, Wheel
from rigid.model import Model
from rigid.motor import Motor
from rigid.names import GROUND
from rigid.spring import PointSpring, Soft, Spring
from rigid.state import State, angular_momentum, linear_momentum
from rigid.visual_shape import VisualShape

SOLVERS = ("verlet", "impulse", "articulated", "penalty")


def solver(name, model, dt=None, worlds=1, **options):
    """Make a solver of a model.

    Args:
        name: "verlet": bodies as frames of particles; "impulse": sequential impulses in maximal coordinates;
            "articulated": trees in generalised coordinates, and impulses; "penalty": springs and dampers.
        model: a Model, or a list of models of one structure, one for each world.
        dt: time step [s]; None for the solver's default: 1/60, or 0.003 for "penalty".
        worlds: how many copies run side by side.
        options: fields of the solver's options, such as rigid.solvers.impulse.options.ImpulseOptions.

    Returns: a rigid.solvers.base.Solver.

    Raises: ValueError for an unknown name or option; NotImplementedError if the solver cannot run the model.
    """
    if dt is not None:
        options["dt"] = dt
    return solver_class(name)(model, worlds=worlds, **options)


def solver_class(name):
    """The class of a solver. It imports Taichi, which a description does not need. Args: name."""
    one_of("solver", name, SOLVERS)
    if name == "verlet":
        from rigid.solvers.verlet import VerletSolver as Solver
    elif name == "impulse":
        from rigid.solvers.impulse import ImpulseSolver as Solver
    elif name == "articulated":
        from rigid.solvers.articulated import ArticulatedSolver as Solver
    else:
        from rigid.solvers.penalty import PenaltySolver as Solver
    return Solver


__all__ = [
    "GROUND",
    "SOLVERS",
    "Ball",
    "Body",
    "BodyShape",
    "Box",
    "Capsule",
    "ConvexHull",
    "Cylinder",
    "Cylindrical",
    "Distance",
    "Diverged",
    "Energy",
    "Fixed",
    "Gear",
    "HeightField",
    "Hinge",
    "Joint",
    "Mesh",
    "MeshCollider",
    "Model",
    "Motor",
    "Planar",
    "Plane",
    "PointSpring",
    "Slider",
    "Soft",
    "Sphere",
    "Spring",
    "State",
    "Statistics",
    "Universal",
    "VisualShape",
    "Wheel",
    "angular_momentum",
    "build",
    "linear_momentum",
    "rotation",
    "solver",
    "solver_class",
]


def __dir__():
    return __all__
