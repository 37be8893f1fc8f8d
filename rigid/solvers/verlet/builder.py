"""From a model to particles: frames, the particles that joints share, and the constraints that joints are."""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

import pbd
from pbd.core.validate import indices
from rigid.collision.setup import refuse_turning_friction
from rigid.joint import Ball, Distance, Fixed, Hinge, Slider, Universal
from rigid.mass import second_moment
from rigid.names import GROUND
from rigid.rotation import rotate
from rigid.solvers.verlet import axes_frame
from rigid.solvers.verlet.frame import EDGES, make_frame
from rigid.solvers.verlet.joint_constraints import Joiner

# How far apart the particles of a hinge or a weld stand, in parts of the half width of a uniform box with the body's
# moments: at its surface.
REACH = 1.0


@dataclass
class Building:
    """A model as particles.

    Arguments:
        particles: pbd.Particles; a person's own come first.
        user_particles: how many those are.
        frames: a Frame for each body.
        members: indices of the particles of each body, in the order of its frame: four corners, then joint particles,
            then a counterweight.
        motors: of each joint that has one, by name, its constraint: kind, and which of that kind it is.
    """

    particles: pbd.Particles
    user_particles: int
    frames: list
    members: list
    motors: dict


def refuse_unsupported(model):
    """Say what this solver cannot do, rather than leave it out.

    That is soft joints, joints of a person's own, friction against rolling and spinning.
    """
    for joint in model.joints:
        if type(joint) not in (Ball, Distance, Fixed, Hinge, Slider, Universal):
            raise NotImplementedError(f'{joint.kind} {joint.name}: solver "verlet" has the joints of rigid.Model alone')
        if joint.soft is not None:
            raise NotImplementedError(
                f'{joint.kind} {joint.name!r} is soft: solver "verlet" has hard joints alone; leave soft= out, or use '
                'solver "impulse"'
            )
    refuse_turning_friction(model, "verlet")


def refuse_counterweights(model, frames, tied):
    """Refuse what turns a frame by its four corners, where a counterweight is as heavy as each of them.

    The four by themselves have other principal axes than the body. Of a long body they twist about its length as much
    as they turn, at every impulse, and the counterweight's sticks have to undo that: under load they do not get there,
    and the frame bursts. Arguments: frames; tied: bodies that Joiner's constraints act on.
    """
    for body in sorted(tied - {GROUND}):
        if len(frames[body].counterweights):
            raise NotImplementedError(
                f"body {model.bodies[body].name!r} has a counterweight in its frame along axes, and a joint with "
                "limits, friction, a motor, spring or gear, or a universal joint or slider, which act on corners: "
                'expected frame="tetrahedron", or balls, hinges, welds and distances without these'
            )


def joint_points(model, joint):
    """World points (n, 3) that the two bodies of a joint share: one of a ball and a universal joint, two on the line of
    a hinge, three of a weld, none of a slider."""
    anchor = joint.parent_anchor
    axes = joint.parent_axes
    if joint.parent != GROUND:
        body = model.bodies[joint.parent]
        anchor, axes = body.world_point(anchor), np.array([body.world_direction(axis) for axis in axes])
    if isinstance(joint, (Ball, Universal)):
        return anchor[None]
    if isinstance(joint, Slider):
        return np.zeros((0, 3))
    widths = []
    for index in (joint.parent, joint.child):
        if index != GROUND:
            body = model.bodies[index]
            moments = second_moment(body.inertia)
            local = np.array([body.local_direction(axis) for axis in axes])
            widths.append(np.sqrt(3 * np.einsum("ki,ij,kj->k", local, moments, local) / body.mass))
    reach = REACH * np.min(widths, axis=0)
    if isinstance(joint, Hinge):
        return anchor + np.outer((-reach[0], reach[0]), axes[0])
    return anchor + reach.min() * axes


def shared_points(model):
    """The particles that joints and springs add: [(bodies whose it is, point in the world at time zero (3,) [m])]."""
    shared = []
    for joint in model.joints:
        if isinstance(joint, Distance):
            parent, child = joint.parent_anchor, joint.child_anchor
            ends = [(joint.parent, parent), (joint.child, child)]
            shared += [([index], world_point(model, index, point)) for index, point in ends]
        else:
            shared += [([joint.parent, joint.child], point) for point in joint_points(model, joint)]
    for spring in model.springs:
        ends = [(spring.a, spring.anchor_a), (spring.b, spring.anchor_b)]
        shared += [([index], world_point(model, index, point)) for index, point in ends]
    return shared


def make_frames(models, kind="tetrahedron"):
    """A list of Frames, one for each body, of each model. Arguments: models, of one structure; kind of frame."""
    shared = [shared_points(model) for model in models]

    def frame(which, index, counterweight=False):
        body = models[which].bodies[index]
        points = [body.local_point(point) for bodies, point in shared[which] if index in bodies]
        return make_frame(body.name, body.mass, body.inertia, points, kind, counterweight)

    frames = [[frame(which, index) for index in range(len(model.bodies))] for which, model in enumerate(models)]
    # Worlds have the same particles: one that needs a counterweight gives it to all.
    for index, of_worlds in enumerate(zip(*frames)):
        weighted = [len(one.counterweights) > 0 for one in of_worlds]
        for which in np.flatnonzero(~np.array(weighted)) if any(weighted) else ():
            frames[which][index] = frame(which, index, counterweight=True)
    return frames


def build_particles(model, particles=None, attachments=(), alike=None, frames=None):
    """A model as particles: a Building.

    Arguments: model; particles: a pbd.Particles that live in the same world, such as a cloth, or None; attachments:
    pairs (particles' indices, body) that stay where they are on the body; alike: the models of all worlds, this one
    among them, which are to have the same constraints; None for this one alone; frames: of this model, by make_frames;
    None for tetrahedra.
    """
    shared = shared_points(model)
    own = [[k for k, (bodies, _) in enumerate(shared) if index in bodies] for index in range(len(model.bodies))]
    frames = make_frames([model])[0] if frames is None else frames

    particles = pbd.Particles(gravity=model.gravity) if particles is None else deepcopy(particles)
    count = len(particles)
    members = []
    for body, frame in zip(model.bodies, frames):
        arms = rotate(body.rotation, frame.corners)
        velocity = body.velocity + np.cross(body.angular_velocity, arms)
        members.append(particles.add_particles(body.position + arms, frame.corner_mass, velocity))
    added = []
    for bodies, point in shared:
        masses = [frames[index].joint_mass for index in bodies if index != GROUND]
        if GROUND in bodies:
            added.append(particles.add_particle(point, np.inf))
            continue
        velocities = [
            model.bodies[index].velocity
            + np.cross(model.bodies[index].angular_velocity, point - model.bodies[index].position)
            for index in bodies
        ]
        added.append(particles.add_particle(point, sum(masses), np.average(velocities, axis=0, weights=masses)))
    for index, (body, frame) in enumerate(zip(model.bodies, frames)):
        corners = members[index]
        hold(particles, corners, frame)
        arms = rotate(body.rotation, frame.counterweights)
        velocity = body.velocity + np.cross(body.angular_velocity, arms)
        behind = particles.add_particles(body.position + arms, frame.corner_mass, velocity)
        others = np.concatenate([[added[k] for k in own[index]], behind]).astype(int)
        particles.add_sticks(np.stack([np.repeat(others, 4), np.tile(corners, len(others))], axis=1))
        members[index] = np.concatenate([corners, others])

    place = iter(added)
    for joint in model.joints:
        if isinstance(joint, Distance):
            add_distance(particles, next(place), next(place), joint)
        else:
            for _ in joint_points(model, joint):
                next(place)
    joiner = Joiner(particles, model, frames, members, [model] if alike is None else alike)
    for index in range(len(model.springs)):
        joiner.add_point_spring(index, next(place), next(place))
    joiner.join()
    refuse_counterweights(model, frames, joiner.tied)
    for attached, body in attachments:
        index = model._body_index("body of an attachment", body)
        for particle in indices("attached particles", attached, count):
            point = model.bodies[index].local_point(particles.positions()[particle])
            particles.add_attachment([particle], [1.0], members[index][:4], frames[index].weights(point))
    particles.radii()[count:] = -1.0  # it is the bodies' shapes that meet others
    return Building(particles, count, frames, members, joiner.motors)


def hold(particles, corners, frame):
    """Keep a frame's corners (4,) together: six sticks, or three and the right angles between them."""
    if frame.kind == "tetrahedron":
        particles.add_sticks(corners[EDGES])
        return
    particles.add_sticks(corners[axes_frame.STICKS])
    ends = frame.corners[axes_frame.ANGLES]
    lengths = np.linalg.norm(ends[:, 1:] - ends[:, :1], axis=-1).max(axis=1)
    particles.add_constraints(axes_frame.RIGHT_ANGLE, corners[axes_frame.ANGLES], length=lengths)


def add_distance(particles, a, b, joint):
    """Sticks of a distance joint: rigid where its limits leave no play, one-sided where they leave some."""
    low, high = joint.limits
    if low == high:
        particles.add_stick(a, b, length=joint.length + low)
        return
    if np.isfinite(low):
        particles.add_stick(a, b, length=joint.length + low, bound="at_least")
    if np.isfinite(high):
        particles.add_stick(a, b, length=joint.length + high, bound="at_most")


def world_point(model, index, point):
    """A point of a body's own frame, or of the ground's, in the world at time zero (3,) [m]."""
    return np.asarray(point) if index == GROUND else model.bodies[index].world_point(point)
