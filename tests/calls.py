"""All public functions, classes and methods of the packages, found by their names, each with arguments that it accepts.

A new public function is found by itself. Its required arguments need a sample in SAMPLES, by their names.
"""

import inspect
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np

import pbd
import pbd.build
import rigid
import rigid.build
import rigid.rotation
import scenes
from pbd.options import ParticleOptions
from rigid.solid_bodies import PLACEMENT, SURFACE
from rigid.solvers.options import SolverOptions

PACKAGES = (pbd, pbd.build, rigid, rigid.build, rigid.rotation, scenes)
OWN = ("pbd", "rigid", "scenes")

# Classes that functions return, or that a Model makes: nobody else does. Not refused there, but where they are used.
RECORDS = {
    "Ball", "Body", "BodyShape", "Cloth", "ConstraintType", "Cylindrical", "Distance", "Diverged", "Energy", "Event",
    "Figure", "Fixed", "Gear", "Hair", "Hinge", "Joint", "Planar", "Plant", "PointSpring", "Ragdoll", "Rod", "Rope",
    "Skin", "Slider", "SoftBody", "Statistics", "Universal", "VisualShape", "Wheel", "Comparison", "Recording", "Trace",
}  # fmt: skip

TETRAHEDRON = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
CUBE = rigid.ConvexHull(np.indices((2, 2, 2)).reshape(3, -1).T)
SURFACE_OF_CUBE = CUBE.vertices, CUBE.triangles
UNIT = (1.0, 0.0, 0.0, 0.0)


def described():
    """A Particles and a Model that calls add to."""
    particles = pbd.Particles()
    particles.add_particles(np.concatenate([TETRAHEDRON, TETRAHEDRON + 3]), mass=2.0, radius=0.01)
    particles.add_stick(0, 1)
    particles.pin([7])
    line = np.array([(0, 0, 6), (1, 0, 6), (2, 0, 6)], float)
    pbd.build.rod(particles, line, radius=0.01, density=1e3, young=1e6, clamps="end")
    model = rigid.Model()
    model.add_box((0.2, 0.3, 0.4), mass=1.0, name="torso")
    model.add_sphere(0.1, mass=1.0, position=(0.5, 0, 0), name="head")
    model.add_body(name="bare", position=(0, 0, 0.3))
    model.add_hinge("torso", "head", (0, 0, 0), (0, 1, 0), name="hip")
    model.add_slider(rigid.GROUND, "torso", None, (1, 0, 0), name="rail")
    model.add_spring("torso", "head", stiffness=1.0)
    return SimpleNamespace(particles=particles, model=model)


# Values that functions accept, by the names of arguments; "function.argument" where one function needs another.
SAMPLES = {
    "a": 0, "b": 1, "vertex": 2, "add_angle_limit.a": 1, "add_angle_limit.vertex": 0, "add_angle_limit.b": 2,
    "add_angle_limit.maximum": 2.0, "add_constraints.constraint_type": "stick", "add_constraints.length": 1.0,
    "members": [(2, 3)], "pairs": [(1, 2)], "edges": [(0, 1, 2, 3)], "thickness": 0.01, "tetrahedra": [(0, 1, 2, 3)],
    "triangles": [(0, 1, 2)], "elements": [(0, 1, 2)], "particle": 3, "span": (0, 1, 2), "weights": (0.5, 0.5),
    "to": [2], "position": (0, 0, 1), "positions": [(0, 0, 1), (0, 0, 2)],
    "with_positions.positions": lambda d: d.particles.positions() + 1.0,
    "lower": (-9, -9, -9), "upper": (9, 9, 9),
    "shape": lambda d: rigid.Sphere(0.1), "add_contact_point.particles": [0, 1], "add_attachment.particles": [0, 1],
    "add_path.particles": [2], "add_path.path": lambda d: lambda time: (0, 1, time), "pin.particles": [0, 1],
    "exclude_contact.a": "torso", "exclude_contact.b": "bare", "may_touch.a": 0, "may_touch.b": 1, "body": "torso",
    "joint": "hip", "size": (0.1, 0.2, 0.3), "radius": 0.1, "length": 0.5, "mesh": SURFACE_OF_CUBE, "mass": 1.0,
    "inertia": (1.0, 1.0, 1.0), "parent": "torso", "child": "bare", "point": (0, 0, 0.1), "axis": (0, 0, 1),
    "add_planar.normal": (1, 0, 0), "warp": (1.0, 0.2, 0.1), "Fabric.warp": 100.0, "weft": 80.0, "shear": 20.0,
    "fabric": pbd.Fabric(100.0, 80.0, 20.0, bending=1e-4), "solid": pbd.Solid(1e5), "young": 1e5, "pressure": 10.0,
    "surface": [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
    "parent_axis": (1, 0, 0), "child_axis": (0, 1, 0), "add_wheel.wheel": "bare", "add_wheel.radius": 0.3,
    "add_wheel.axis": (0, 1, 0), "add_spring.a": "torso", "add_spring.b": "bare", "stiffness": 10.0,
    "joint_a": "hip", "joint_b": "rail", "ratio": 2.0, "particles": lambda d: d.particles, "model": lambda d: d.model,
    "origin": (0, 0, 1), "right": (1, 0, 0), "down": (0, 1, 0), "counts": (3, 4), "columns": 3, "rope.mass": 1.0,
    "segment": 0, "turn.angle": 0.5, "rod.points": [(0, 0, 0), (1, 0, 0), (1, 1, 0)],
    "roots": [(0, 0, 5), (1, 0, 5)], "directions": (0, 0, 1), "density": 1e3,
    "rope.points": [(0, 0, 0), (1, 0, 0), (1, 1, 0)], "points": TETRAHEDRON, "ConvexHull.points": TETRAHEDRON,
    "vertices": SURFACE_OF_CUBE[0], "Mesh.triangles": SURFACE_OF_CUBE[1], "Mesh.sides": "both",
    "heights": ((0, 0), (0, 1)), "DeformingMesh.triangles": [(0, 1, 2)],
    "DeformingMesh.positions": [np.eye(3), 2 * np.eye(3)], "HeightField.size": (1, 1), "load_mesh.path": "there.obj",
    "path": "there.xml", "rotation": UNIT, "velocity": (0, 0, 0), "angular_velocity": (0, 0, 0), "sides": 5, "q": UNIT,
    "v": (1, 2, 3),
    "multiply.a": UNIT, "multiply.b": UNIT, "between_axes.a": np.eye(3), "between_axes.b": np.eye(3),
    "matrix": np.eye(3),
    "rotation_vector": (0.1, 0, 0), "angle": 0.5, "plant.segments": 4, "plant.levels": 1, "resolution": 3,
    "scalar_constraint.name": "mine", "arity": 2, "parameters": ("x",), "function": lambda d: lambda x, p: (0, x),
    "State.position": [(0, 0, 1)], "State.rotation": [UNIT], "State.velocity": [(0, 0, 0)],
    "State.angular_velocity": [(0, 0, 0)], "state": lambda d: state_of(d.model), "Motor.speed": 1.0,
    "solver.name": "impulse", "solver_class.name": "impulse", "load.name": "box", "Run.scene": lambda d: pendulum(),
    "Variant.solver": "impulse", "identify.times": [0.0, 0.1, 0.2, 0.3], "identify.inputs": [0.0, 1.0, 1.0, 1.0],
    "identify.outputs": [0.0, 0.1, 0.3, 0.5], "Scene.particles": lambda d: d.particles,
}  # fmt: skip

# Arguments with a default that calls need all the same, because one of several has to be given.
NEEDED = {
    "Particles.add_angle_limit": ["maximum"], "Particles.add_membrane": ["warp"],
    "Particles.add_pressure": ["pressure"],
    "Particles.add_constraints": ["length"], "Model.add_box": ["mass"],
    "Model.add_sphere": ["mass"], "Model.add_capsule": ["mass", "length"], "Model.add_cylinder": ["mass", "length"],
    "Model.add_mesh": ["mass"], "Capsule": ["length"], "Cylinder": ["length"], "Motor": ["speed"],
    "plant": ["segments", "levels"], "Scene": ["particles"], "soft_body": ["resolution"],
    "rod": ["points", "young"], "hair": ["directions", "length"], "MeshCollider": ["resolution"],
    "HeightField": ["size"],
}  # fmt: skip

# Names behind **options.
SOLIDS = ("box", "sphere", "capsule", "cylinder", "mesh")
OPTIONS = {f"Model.add_{solid}": (*PLACEMENT, *SURFACE) for solid in SOLIDS}
OPTIONS |= {
    "Particles.add_constraints": ("length", "width"), "load": ("grains", "friction", "wrong"),
    "Run": ("iterations", "damping", "schedule", "wrong"), "ParticleSystem": (*ParticleOptions.defaults(), "wrong"),
}  # fmt: skip

# Not called: they begin a run, or write a file.
SKIPPED = {
    "rigid.solver": "makes arrays; its options are called below", "pbd.State": "a record that set_state checks",
    **dict.fromkeys(("scenes.run", "scenes.compare", "scenes.film", "scenes.film_comparison", "scenes.export_usd",
                     "scenes.export_gltf", "scenes.export_mesh"), "runs; see scenes.Run"),
    "scenes.sweep": "starts processes",
    "rigid.build.save_mjcf": "writes a file",
    "scenes.register": "changes the registry", "scenes.Replay": "draws a recording",
}  # fmt: skip


@dataclass
class Call:
    """A public function, class or method.

    Args: label: with its package; name: with its class; function: d -> callable; parameters: {name: whether required}.
    """

    label: str
    name: str
    function: object
    parameters: dict

    def sample(self, d):
        """Arguments that are accepted, by name. Args: d: the descriptions."""
        names = [name for name, required in self.parameters.items() if required] + NEEDED.get(self.name, [])
        return {name: self.sample_of(name, d) for name in names}

    def sample_of(self, name, d):
        short = self.name.split(".")[-1]
        key = next((key for key in (f"{self.name}.{name}", f"{short}.{name}", name) if key in SAMPLES), None)
        asked = "add one to SAMPLES in tests/calls.py, or the class to RECORDS if only a Model or a function makes it"
        assert key is not None, f"argument {name!r} of {self.label} has no sample: {asked}"
        value = SAMPLES[key]
        return value(d) if inspect.isfunction(value) else value


@cache
def pendulum():
    return scenes.load("pendulum")


def state_of(model):
    model.bodies[2].mass, model.bodies[2].inertia = 1.0, np.eye(3)
    return model.initial_state()


def call_of(label, name, function, signature):
    parameters = {}
    for each in list(signature.parameters.values()):
        if each.name != "self" and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            parameters[each.name] = each.default is each.empty
    parameters |= {option: False for option in OPTIONS.get(name, ())}
    return Call(label, name, function, parameters)


def methods_of(owner, label, instance):
    """Calls of the public methods of a class that take arguments."""
    for name, method in inspect.getmembers(owner, inspect.isroutine):
        own = str(getattr(method, "__module__", "")).startswith(OWN)
        if not name.startswith("_") and own and len(inspect.signature(method).parameters) > 1:
            bound = lambda d, name=name: getattr(instance(d), name)  # noqa: E731
            of_class = inspect.signature(method)
            signature = of_class.replace(parameters=list(of_class.parameters.values())[1:])  # without the instance
            yield call_of(f"{label}.{name}", f"{owner.__name__}.{name}", bound, signature)


INSTANCES = {
    "Particles": lambda d: d.particles, "Model": lambda d: d.model, "Cylinder": lambda d: rigid.Cylinder(0.1, 0.5),
}  # fmt: skip


@cache
def public_calls():
    """All calls of the packages, by label."""
    found = {}
    for package in PACKAGES:
        public = getattr(package, "__all__", [name for name in vars(package) if not name.startswith("_")])
        for name in public:
            thing = getattr(package, name)
            label = f"{package.__name__}.{name}"
            module = str(getattr(thing, "__module__", ""))
            if name in RECORDS or not module.startswith(OWN) or module.startswith("pbd.core.validate"):
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[label] = call_of(label, name, lambda d, thing=thing: thing, inspect.signature(thing))
            if inspect.isclass(thing) and name in INSTANCES:
                found |= {each.label: each for each in methods_of(thing, label, INSTANCES[name])}
    for solver in rigid.SOLVERS:
        options = rigid.solver_class(solver).Options
        label = f"options of {solver}"
        found[label] = call_of(label, options.__name__, lambda d, options=options: options, inspect.signature(options))
    assert issubclass(options, SolverOptions)
    return {label: each for label, each in found.items() if label not in SKIPPED and each.parameters}
