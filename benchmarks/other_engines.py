"""Rapier and Box3D, as references from outside. They are in the extra `peers`; without them their modules are None.

Both hold bodies of one shape each at its middle: spheres, capsules, boxes, and the ground as a plane or a slab. Rapier
joins them by balls and hinges; of Box3D's joints Python has no balls. They make small steps with soft rows, four in a
step by default, in 32 bits. Nothing sleeps.
"""

import numpy as np

from pbd.core.rotation import IDENTITY
from pbd.core.shapes import Box, Capsule, Plane, Sphere
from rigid.joints import Ball, Hinge
from rigid.names import GROUND
from rigid.rotation import from_matrix, logarithm
from rigid.state import State

try:
    import rapier3d
except ImportError:
    rapier3d = None
try:
    import robox3d
except ImportError:
    robox3d = None

SLAB = (500.0, 500.0, 5.0)  # half edges of Box3D's ground, which has no plane [m]


class RapierSolver:
    """A model in Rapier, with the methods of a solver that benchmarks use.

    Args: model: a rigid.Model; dt [s]; substeps: small steps of a step.

    Raises: ValueError for a model that it does not hold, see the head of this file.
    """

    def __init__(self, model, dt, substeps=4):
        self.dt, self.time = dt, 0.0
        self._world = world = rapier3d.PhysicsWorld(gravity=tuple(model.gravity))
        world.set_num_threads(1)
        world.integration_parameters.dt = dt
        world.integration_parameters.num_solver_iterations = substeps
        self._handles = []
        for piece in ground_shapes(model):
            normal = tuple(piece.shape.normal)
            builder = rapier3d.Collider.halfspace(normal).translation(tuple(piece.position))
            world.add_collider(self._with_surface(builder, piece))
        for body, piece in bodies_with_shapes(model):
            builder = rapier3d.RigidBody.dynamic().translation(tuple(body.position)).can_sleep(False)
            builder = builder.rotation(tuple(logarithm(body.rotation)))
            builder = builder.linvel(tuple(body.velocity)).angvel(tuple(body.angular_velocity))
            collider = self._with_surface(self._collider(piece.shape), piece).mass(body.mass)
            self._handles.append(world.add_body(builder, [collider]))
        ground = world.add_body(rapier3d.RigidBody.fixed(), [])
        for joint in model.joints:
            ends = (ground if body == GROUND else self._handles[body] for body in (joint.parent, joint.child))
            world.impulse_joints.insert(*ends, self._joint(joint), True)

    @staticmethod
    def _collider(shape):
        if isinstance(shape, Sphere):
            return rapier3d.Collider.ball(shape.radius)
        if isinstance(shape, Capsule):
            return rapier3d.Collider.capsule_z(shape.length / 2, shape.radius)
        return rapier3d.Collider.cuboid(*(np.asarray(shape.size) / 2))

    @staticmethod
    def _with_surface(builder, piece):
        return builder.friction(piece.friction).restitution(piece.restitution)

    @staticmethod
    def _joint(joint):
        """A joint with its limits. Those of a ball are for each axis: limits on coupled axes, its cone, do not hold."""
        if not isinstance(joint, (Ball, Hinge)):
            raise ValueError(f"joint {joint.name!r} is a {type(joint).__name__}: expected balls and hinges")
        if joint.friction or joint.armature or joint.spring or getattr(joint, "motor", None):
            raise ValueError(f"joint {joint.name!r} has friction, a spring, a motor or an armature: expected none")
        axes, masks = rapier3d.JointAxis, rapier3d.JointAxesMask
        if isinstance(joint, Hinge):
            locked, limits = masks.LOCKED_REVOLUTE_AXES, [(axes.ANG_X, *joint.limits)]
        else:
            swing = -joint.swing_limit, joint.swing_limit
            limits = [(axes.ANG_X, *joint.twist_limits), (axes.ANG_Y, *swing), (axes.ANG_Z, *swing)]
            locked = masks.LOCKED_SPHERICAL_AXES
        builder = rapier3d.GenericJoint.builder(
            locked, contacts_enabled=joint.collide,
            local_frame1=isometry(joint.parent_anchor, joint.parent_axes),
            local_frame2=isometry(joint.child_anchor, joint.child_axes),
        )  # fmt: skip
        for axis, low, high in limits:
            if np.isfinite([low, high]).any():
                builder = builder.limits(axis, low, high)
        return builder.build()

    def step(self, count=1):
        """Make steps of dt. Args: count."""
        for _ in range(count):
            self._world.step()
        self.time += count * self.dt

    def state(self):
        """Poses of the bodies: a rigid.State without velocities."""
        bodies = [self._world.rigid_bodies[handle] for handle in self._handles]
        position = np.array([tuple(body.translation) for body in bodies])
        rotation = np.array([(q.w, q.i, q.j, q.k) for q in (body.rotation for body in bodies)])
        return State(position, rotation, np.zeros_like(position), np.zeros_like(position), self.time)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses."""
        return self.state().digest()


class Box3DSolver:
    """A model in Box3D, see RapierSolver."""

    def __init__(self, model, dt, substeps=4):
        self.dt, self.time = dt, 0.0
        self._world = robox3d.World(gravity=tuple(model.gravity), substeps=substeps)
        for piece in ground_shapes(model):
            if tuple(piece.shape.normal) != (0.0, 0.0, 1.0):
                raise ValueError(f"ground with the normal {piece.shape.normal}: expected (0, 0, 1)")
            below = tuple(piece.position - np.array([0.0, 0.0, SLAB[2]]))
            self._world.create_body(below, kind="static").add_box(SLAB, friction=piece.friction)
        if model.joints:
            raise ValueError("a model with joints: expected free bodies")
        self._bodies = []
        for body, piece in bodies_with_shapes(model):
            w, x, y, z = body.rotation
            made = self._world.create_body(tuple(body.position), (x, y, z, w))
            surface = {"friction": piece.friction, "restitution": piece.restitution, "density": 1.0}
            if isinstance(piece.shape, Sphere):
                made.add_sphere(piece.shape.radius, **surface)
            elif isinstance(piece.shape, Capsule):
                half = piece.shape.length / 2
                made.add_capsule((0, 0, -half), (0, 0, half), piece.shape.radius, **surface)
            else:
                made.add_box(np.asarray(piece.shape.size) / 2, **surface)
            made.set_mass_data(body.mass, (0, 0, 0), np.asarray(body.inertia))
            made.linear_velocity, made.angular_velocity = body.velocity, body.angular_velocity
            self._bodies.append(made)

    def step(self, count=1):
        """Make steps of dt. Args: count."""
        self._world.step_n(count, self.dt)
        self.time += count * self.dt

    def state(self):
        """Poses of the bodies: a rigid.State without velocities."""
        position = np.array([body.position for body in self._bodies])
        rotation = np.array([body.rotation for body in self._bodies])[:, [3, 0, 1, 2]]
        return State(position, rotation, np.zeros_like(position), np.zeros_like(position), self.time)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses."""
        return self.state().digest()


class SideBySide:
    """Solvers of models of one structure, moved one after another. Args: solvers."""

    def __init__(self, solvers):
        self._solvers, self.dt = list(solvers), solvers[0].dt

    def step(self, count=1):
        """Make steps of dt in each world. Args: count. Raises: pbd.Diverged where a solver says so."""
        for solver in self._solvers:
            solver.step(count)

    def state(self):
        """Poses of the bodies: a rigid.State without velocities, with a leading axis for several worlds."""
        states = [solver.state() for solver in self._solvers]
        if len(states) == 1:
            return states[0]
        names = ("position", "rotation", "velocity", "angular_velocity")
        return State(*(np.stack([getattr(state, name) for state in states]) for name in names), states[0].time)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses."""
        return self.state().digest()


ENGINES = {"Rapier": (rapier3d, RapierSolver), "Box3D": (robox3d, Box3DSolver)}


def ground_shapes(model):
    """The planes of the ground. Args: model: a rigid.Model. Raises: ValueError for other shapes of the ground."""
    pieces = [piece for piece in model.shapes if piece.body == GROUND]
    for piece in pieces:
        if not isinstance(piece.shape, Plane):
            raise ValueError(f"ground with a {type(piece.shape).__name__}: expected planes")
    return pieces


def bodies_with_shapes(model):
    """Each body with its shape. Args: model: a rigid.Model. Raises: ValueError unless each has one, at its middle."""
    shapes = [[piece for piece in model.shapes if piece.body == k] for k in range(len(model.bodies))]
    for body, found in zip(model.bodies, shapes):
        piece = found[0] if len(found) == 1 and isinstance(found[0].shape, (Sphere, Capsule, Box)) else None
        if piece is None or np.any(piece.position) or np.any(piece.rotation != IDENTITY):
            raise ValueError(f"body {body.name!r}: expected one sphere, capsule or box, at its middle and not turned")
    if model.springs:
        raise ValueError("a model with springs: expected none")
    return [(body, found[0]) for body, found in zip(model.bodies, shapes)]


def isometry(anchor, axes):
    """A frame in Rapier. Args: anchor (3,) [m]; axes: rows (3, 3)."""
    turn = logarithm(from_matrix(np.transpose(axes)))
    rotation = rapier3d.Rotation3.from_scaled_axis(rapier3d.Vec3(*map(float, turn)))
    return rapier3d.Isometry3(rapier3d.Vec3(*map(float, anchor)), rotation)
