"""Builds particles from a model: frames for bodies, shared particles and constraints for joints."""

from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import numpy as np

import pbd
from pbd.build.rod import ENDS
from pbd.core.validate import indices
from pbd.description import rods
from rigid.collision.upload import refuse_rolling_and_spinning_friction
from rigid.mass import second_moment
from rigid.names import GROUND
from rigid.rotation import rotate
from rigid.solvers.verlet import axes_frame
from rigid.solvers.verlet.frame import EDGES, make_frame
from rigid.solvers.verlet.joint_constraints import JointConstraints

# Distance of the particles of a hinge or a weld from its point, in parts of the half width of a uniform box with the
# body's moments: they are at its surface.
JOINT_WIDTH = 1.0


@dataclass
class Building:
    """A model as particles.

    Attributes:
        particles: pbd.Particles. The user's own come first.
        user_particles: how many those are.
        frames: a Frame for each body.
        members: indices of the particles of each body, in the order of its frame: four corners, joint particles, a
            counterweight.
        motors: {name of a joint: (constraint type, number of the motor's constraint among those of its type)}.
        rotors: likewise, of joints with armature.
        springs: particles at the ends of each spring between points (springs, 2).
        of_joints, angles: constraints of each joint, see JointConstraints.
    """

    particles: pbd.Particles
    user_particles: int
    frames: list
    members: list
    motors: dict
    rotors: dict
    springs: np.ndarray
    of_joints: list
    angles: list


def build_particles(model, particles=None, attachments=(), models=None, frames=None, rows=False, clamps=()):
    """Build a model from particles.

    Args:
        model: a rigid.Model.
        particles: a pbd.Particles in the same world, such as a cloth, or None.
        attachments: pairs (indices of such particles, body): these particles stay where they are on the body.
        clamps: triples (Rod, "start" or "end", body): the end keeps its place and its rotation on the body.
        models: those of all worlds, which get the same constraints; None for this one alone.
        frames: of this model, from `make_frames`; None for tetrahedra.
        rows: see JointConstraints.

    Returns: a Building.
    """
    refuse_clamps(particles, clamps)
    frames = make_frames([model])[0] if frames is None else frames
    particles = pbd.Particles(gravity=model.gravity) if particles is None else deepcopy(particles)
    count = len(particles)
    shared = joint_particles(model)
    refuse_paths_of_worlds(model, models)
    members = [add_corners(particles, body, frame) for body, frame in zip(model.bodies, frames)]
    added = [add_joint_particle(particles, model, frames, bodies, point) for bodies, point in shared]
    for index, (body, frame) in enumerate(zip(model.bodies, frames)):
        corners = members[index]
        if body.path is None:
            add_frame_constraints(particles, corners, frame)
        joints = [particle for particle, (bodies, _) in zip(added, shared) if index in bodies]
        others = np.concatenate([joints, add_counterweights(particles, body, frame)]).astype(int)
        if body.path is None:
            particles.add_sticks(np.stack([np.repeat(others, 4), np.tile(corners, len(others))], axis=1))
        members[index] = np.concatenate([corners, others])
        if body.path is not None:
            add_body_path(particles, body, members[index], frame.points)
    models = [model] if models is None else models
    constraints = add_joints(particles, model, frames, members, iter(added), models, rows)
    for attached, body in attachments:
        index = index_of_holder(model, "body of an attachment", body)
        for particle in indices("attached particles", attached, count):
            weights = weights_at(model.bodies[index], frames[index], particles.positions()[particle])
            particles.add_attachment([particle], [1.0], members[index][:4], weights)
    for rod, end, body in clamps:
        index = index_of_holder(model, "body of a clamp", body)
        weights_of = partial(weights_at, model.bodies[index], frames[index])
        rods.clamp_to(particles, rod, ENDS[end], members[index][:4], weights_of)
    particles.radii()[count:] = -1.0  # the bodies' shapes have the contacts, not these particles
    springs = np.reshape(added[len(added) - 2 * len(model.springs) :], (-1, 2)).astype(int)
    found = constraints.motors, constraints.rotors, springs, constraints.of_joints, constraints.angles
    return Building(particles, count, frames, members, *found)


def index_of_holder(model, what, body):
    """Index of a body that holds particles. Raises: ValueError for the ground, which pins and clamps hold to."""
    index = model._body_index(what, body)
    if index == GROUND:
        raise ValueError(f"{what} is rigid.GROUND: expected a body; pins and clamps of particles hold them in place")
    return index


def refuse_clamps(particles, clamps):
    """Raise ValueError for ends that no body can hold. Args: particles: a pbd.Particles or None; clamps: see above."""
    held = []
    for rod, end, _ in clamps:
        if particles is None or not any(each is rod for each in particles.built):
            raise ValueError("rod in clamps is none of particles=: expected one that pbd.build.rod added to them")
        if len(rod.segments) == len(rod.particles):
            raise ValueError(f"{end} of a rod in clamps, which is closed: expected a rod with ends")
        if end in rod.clamps or any(each is rod and other == end for each, other in held):
            raise ValueError(f"{end} of a rod in clamps is clamped twice: expected one clamp")
        held.append((rod, end))


def weights_at(body, frame, position):
    """Weights of a body's corners at a position (3,) [m] of the world."""
    return frame.weights(body.local_point(position))


# What the solver does not support -------------------------------------------------------------------------------------


def refuse_unsupported(model):
    """Raise NotImplementedError for soft joints, joints between bodies on paths, wheels with friction, and rolling and
    spinning friction."""
    for joint in model.joints:
        if joint.soft is not None:
            raise NotImplementedError(
                f'{joint.kind} {joint.name!r} is soft: solver "verlet" has hard joints alone; leave soft= out, or use '
                'solver "impulse"'
            )
        if all(model.body(body).path is not None for body in (joint.parent, joint.child)):
            raise NotImplementedError(
                f"{joint.kind} {joint.name!r} joins {model.body(joint.parent).name!r} and "
                f"{model.body(joint.child).name!r}, which both follow paths: solver 'verlet' has no such joints, and "
                "they have no effect; leave it out"
            )
        if joint.type.special == "wheel" and joint.friction is not None:
            raise NotImplementedError(
                f'{joint.kind} {joint.name!r} has friction: solver "verlet" has ideal wheels alone; leave friction= '
                'out, or use solver "impulse"'
            )
    refuse_rolling_and_spinning_friction(model, "verlet")


def refuse_counterweights(model, frames, bodies):
    """Raise NotImplementedError for constraints that rotate a frame by its corners, if it has a counterweight.

    The corners alone have other principal axes than the body. Each impulse twists those of a long body about its length
    as much as it rotates them, and the counterweight's sticks have to undo that. Under load they do not, and the frame
    breaks up.

    Args: frames: a Frame for each body; bodies: those that such constraints act on.
    """
    for body in sorted(bodies - {GROUND}):
        if len(frames[body].counterweights):
            raise NotImplementedError(
                f"body {model.bodies[body].name!r} has a counterweight in its frame along axes, and a joint with "
                "limits, friction, a motor, spring or gear, or a universal joint or slider, which act on corners: "
                'expected frame="tetrahedron", or balls, hinges, welds and distances without these'
            )


def refuse_paths_of_worlds(model, models):
    """Raise NotImplementedError if a body follows a path and worlds have different models."""
    if models is not None and len(models) > 1 and any(body.path is not None for body in model.bodies):
        name = next(body.name for body in model.bodies if body.path is not None)
        raise NotImplementedError(
            f'body {name!r} follows a path, and worlds have models of their own: solver "verlet" has paths for copies '
            "of one model alone; give worlds= and one model"
        )


# Particles ------------------------------------------------------------------------------------------------------------


def make_frames(models, kind="tetrahedron"):
    """Make the frames of all bodies.

    Args: models: of one structure; kind: "tetrahedron" or "axes".

    Returns: for each model, a list of a Frame for each body.
    """
    shared = [joint_particles(model) for model in models]

    def frame(which, index, counterweight=False):
        body = models[which].bodies[index]
        points = [body.local_point(point) for bodies, point in shared[which] if index in bodies]
        return make_frame(body.name, body.mass, body.inertia, points, kind, counterweight)

    frames = [[frame(which, index) for index in range(len(model.bodies))] for which, model in enumerate(models)]
    # Worlds have the same particles. If one world needs a counterweight, all have it.
    for index, of_worlds in enumerate(zip(*frames)):
        weighted = [len(one.counterweights) > 0 for one in of_worlds]
        for which in np.flatnonzero(~np.array(weighted)) if any(weighted) else ():
            frames[which][index] = frame(which, index, counterweight=True)
    return frames


def joint_particles(model):
    """The particles that joints and springs add: [(bodies that have it, point in the world at time zero (3,) [m])].

    Those of a joint that breaks belong to its parent alone (broken_joints.py).
    """
    shared = []
    for joint in model.joints:
        if joint.type.special == "distance":
            ends = [(joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor)]
            shared += [([index], world_point(model, index, point)) for index, point in ends]
        else:
            bodies = [joint.parent] if joint.breaks else [joint.parent, joint.child]
            shared += [(bodies, point) for point in joint_points(model, joint)]
    for spring in model.springs:
        ends = [(spring.a, spring.anchor_a), (spring.b, spring.anchor_b)]
        shared += [([index], world_point(model, index, point)) for index, point in ends]
    return shared


def joint_points(model, joint):
    """Points that the two bodies of a joint share, in the world (n, 3) [m].

    A joint that slides and a wheel have none, a ball and a universal joint one, a hinge two on its line, a fixed joint
    three.
    """
    anchor = joint.parent_anchor
    axes = joint.parent_axes
    if joint.parent != GROUND:
        body = model.bodies[joint.parent]
        anchor, axes = body.world_point(anchor), np.array([body.world_direction(axis) for axis in axes])
    right_angles = joint.type.right_angles
    if joint.type.slides:
        return np.zeros((0, 3))
    if len(right_angles) < 2:
        return anchor[None]
    widths = []
    for index in (joint.parent, joint.child):
        if index != GROUND:
            body = model.bodies[index]
            moments = second_moment(body.inertia)
            local = np.array([body.local_direction(axis) for axis in axes])
            widths.append(np.sqrt(3 * np.einsum("ki,ij,kj->k", local, moments, local) / body.mass))
    width = JOINT_WIDTH * np.min(widths, axis=0)
    if len(right_angles) == 3:
        return anchor + width.min() * axes
    k = right_angles[0][1]  # the axis that stays
    return anchor + np.outer((-width[k], width[k]), axes[k])


def world_point(model, index, point):
    """A point of a body's frame, or of the ground's, in the world at time zero (3,) [m]."""
    return np.asarray(point) if index == GROUND else model.bodies[index].world_point(point)


def add_corners(particles, body, frame):
    """Add the corners of a frame. Returns: their indices (4,)."""
    return add_with_body(particles, body, frame.corners, frame.corner_mass)


def add_counterweights(particles, body, frame):
    """Add the counterweight of a frame, if it has one. Returns: indices (0 or 1,)."""
    return add_with_body(particles, body, frame.counterweights, frame.corner_mass)


def add_with_body(particles, body, points, mass):
    """Add particles that move with a body. Args: points: in its frame (n, 3) [m]; mass: of each. Returns: indices."""
    arms = rotate(body.rotation, points)
    velocity = body.velocity + np.cross(body.angular_velocity, arms)
    return particles.add_particles(body.position + arms, mass, velocity, gravity_scale=body.gravity_scale)


def add_body_path(particles, body, members, points):
    """Move all particles of a body along its path, with those that it shares. Args: points: in its frame (n, 3) [m]."""

    def positions(time):
        pose = body.pose_at(time)
        return pose[:3] + rotate(pose[3:], points)

    particles.add_path(members, positions)


def add_joint_particle(particles, model, frames, bodies, point):
    """Add a particle that bodies share; the ground's are pinned. Args: bodies; point (3,) [m]. Returns: its index."""
    if GROUND in bodies:
        return particles.add_particle(point, np.inf)
    masses = [frames[index].joint_mass for index in bodies]
    joined = [model.bodies[index] for index in bodies]
    velocities = [body.velocity + np.cross(body.angular_velocity, point - body.position) for body in joined]
    scale = np.average([body.gravity_scale for body in joined], weights=masses)
    return particles.add_particle(
        point, sum(masses), np.average(velocities, axis=0, weights=masses), gravity_scale=scale
    )


# Constraints ----------------------------------------------------------------------------------------------------------


def add_frame_constraints(particles, corners, frame):
    """Keep a frame's corners (4,) together: by six sticks, or by three sticks and the right angles between them."""
    if frame.kind == "tetrahedron":
        particles.add_sticks(corners[EDGES])
        return
    particles.add_sticks(corners[axes_frame.STICKS])
    ends = frame.corners[axes_frame.ANGLES]
    lengths = np.linalg.norm(ends[:, 1:] - ends[:, :1], axis=-1).max(axis=1)
    particles.add_constraints(axes_frame.RIGHT_ANGLE, corners[axes_frame.ANGLES], length=lengths)


def add_joints(particles, model, frames, members, added, models, rows):
    """Add the constraints of all joints, springs and gears.

    Args: added: iterator over the particles of `joint_particles`; models: those of all worlds; rows: see
    JointConstraints.

    Returns: the JointConstraints.
    """
    constraints = JointConstraints(particles, model, frames, members, models, rows)
    for index, joint in enumerate(model.joints):
        if joint.type.special == "distance":
            ends = [(next(added), next(added))]
            for length, bound in bounds_of_distance(joint):
                constraints.add_sticks(index, ends, length, bound)
        else:
            points = [next(added) for _ in joint_points(model, joint)]
            if joint.breaks and points:
                corners = np.tile(members[joint.child][:4], len(points))
                constraints.add_sticks(index, np.column_stack([np.repeat(points, 4), corners]))
    for index in range(len(model.springs)):
        constraints.add_spring(index, next(added), next(added))
    constraints.add_joints()
    refuse_counterweights(model, frames, constraints.bodies)
    return constraints


def bounds_of_distance(joint):
    """The sticks of a distance joint: one, or one-sided ones if its limits leave play. Returns: [(length, bound)]."""
    low, high = joint.limits
    if low == high:
        return [(joint.length + low, "equal")]
    limits = (low, "at_least"), (high, "at_most")
    return [(joint.length + limit, bound) for limit, bound in limits if np.isfinite(limit)]
