"""Solver "verlet": bodies as frames of particles, joints as particles that two frames share, on pbd.

Two bodies that share one particle have a ball joint; two particles on a line, a hinge; three, a weld. A joint with the
ground shares pinned particles. What moves them is `pbd.ParticleSystem`; poses and velocities are read back by best fit.
"""

import numpy as np

import pbd
from rigid.frames.frame import EDGES, fit_pose, make_frame, second_moments
from rigid.joint import Ball, Distance, Fixed, Hinge
from rigid.names import GROUND
from rigid.rotation import from_matrix, logarithm, rotate, to_matrix
from rigid.state import State

# How far apart the particles of a hinge or a weld stand, in parts of the half width of a uniform box with the body's
# moments: at its surface.
REACH = 1.0


class FrameSolver:
    """A Model as frames of particles.

    Arguments:
        model: a Model, or a list of several of one structure, each a world.
        dt, worlds, options: of pbd.ParticleSystem. `direction` is "start" here unless given: second order, and it keeps
            angular momentum.
        contacts: must be False as yet, see below; it says that one knows that bodies will pass through one another.

    Limitations: ball, hinge, fixed and distance joints without limits, friction, springs and motors, undamped springs
    between points, and bodies that do not touch, are what it can do so far; anything else in a model is refused, by
    name. Bodies are as rigid as sweeps make their sticks. Velocities are those of the middle of the last step. A flat
    body has no tetrahedron.

    Source: Jakobsen, Advanced Character Physics (2001), sections 5 and 6.
    """

    def __init__(self, model, dt=0.01, worlds=1, contacts=True, **options):
        models = list(model) if isinstance(model, (list, tuple)) else [model]
        for each in models:
            refuse_what_is_missing(each, contacts)
        if any(each.structure() != models[0].structure() for each in models):
            raise ValueError("models of several structures: expected the same bodies and joints in each world")
        self.model = models[0]
        particles, self.frames, members = zip(*(describe(each) for each in models))
        self.members = members[0]  # of each body; the same in all worlds, unlike the frames
        options = {"direction": "start", "iterations": 30, **options}
        self.system = pbd.ParticleSystem(particles, dt=dt, worlds=worlds, **options)

    @property
    def time(self):
        """Time since the start [s]."""
        return self.system.time

    def step(self, count=1):
        """Make steps of dt. Arguments: count. Errors: pbd.Diverged."""
        self.system.step(count)

    def statistics(self):
        """Sweeps, residual [m] and contacts of the last step: a pbd.Statistics."""
        return self.system.statistics()

    def energy(self):
        """Kinetic, potential and total energy at the middle of the last step: a pbd.Energy.

        Of the particles, which is that of the bodies to the extent that the frames are rigid.
        """
        return self.system.energy()

    def state(self):
        """Poses at the end of the last step, and velocities over it: a rigid.State."""
        snapshot = self.system.state()
        h = self.system.dt / self.system.substeps
        now, turn = self._poses(snapshot.positions)
        before, turn_before = self._poses(snapshot.previous)
        spin = logarithm(from_matrix(turn @ np.swapaxes(turn_before, -1, -2))) / h
        return State(now, from_matrix(turn), (now - before) / h, spin, self.time)

    def _poses(self, positions):
        """Positions (..., bodies, 3) and rotation matrices of all bodies, from those of the particles."""
        several = positions.ndim == 3
        found = []
        for k, members in enumerate(self.members):
            worlds = []
            for w, world in enumerate(positions if several else positions[None]):
                frame = self.frames[min(w, len(self.frames) - 1)][k]
                worlds.append(fit_pose(frame.points, frame.masses, world[members]))
            found.append([np.stack(part) for part in zip(*worlds)])
        places, turns = (np.stack(part, axis=1) for part in zip(*found))
        return (places, turns) if several else (places[0], turns[0])

    def set_state(self, state):
        """Put bodies elsewhere. Arguments: a rigid.State; shared particles go to the mean of where their bodies have
        them."""
        shape = self.system.positions().shape
        positions, velocities, weights = np.zeros(shape), np.zeros(shape), np.zeros(shape[:-1])
        pinned = self.system.inverse_masses() == 0
        several = len(shape) == 3
        for k, members in enumerate(self.members):
            for w in range(shape[0] if several else 1):
                at = (w,) if several else ()
                frame = self.frames[min(w, len(self.frames) - 1)][k]
                arms = rotate(state.rotation[(*at, k)], frame.points)
                places = (*at, members)
                positions[places] += frame.masses[:, None] * (state.position[(*at, k)] + arms)
                moved = state.velocity[(*at, k)] + np.cross(state.angular_velocity[(*at, k)], arms)
                velocities[places] += frame.masses[:, None] * moved
                weights[places] += frame.masses
        kept = self.system.positions()
        held = weights > 0
        positions = np.where(held[..., None], positions / np.where(held, weights, 1.0)[..., None], kept)
        velocities = np.where(held[..., None], velocities / np.where(held, weights, 1.0)[..., None], 0.0)
        self.system.set_positions(np.where(pinned[..., None], kept, positions))
        self.system.set_velocities(np.where(pinned[..., None], 0.0, velocities))

    def joint_positions(self):
        """Angle of each hinge [rad], in (-π, π]: {name: number, or (worlds,)}."""
        state = self.state()
        found = {}
        for joint in self.model.joints:
            if isinstance(joint, Hinge):
                # The child's second axis, seen in the parent's first two across the hinge.
                n = axes_in_world(state, joint.parent, joint.parent_axes)
                across = axes_in_world(state, joint.child, joint.child_axes)[..., 1, :]
                sine, cosine = (np.einsum("...i,...i->...", across, n[..., k, :]) for k in (2, 1))
                found[joint.name] = np.arctan2(sine, cosine)
        return found


def axes_in_world(state, body, axes):
    """Axes (3, 3) of a body's frame, as rows in the world (..., 3, 3)."""
    if body == GROUND:
        return np.broadcast_to(axes, (*state.position.shape[:-2], 3, 3))
    return np.einsum("...ij,kj->...ki", to_matrix(state.rotation[..., body, :]), axes)


def refuse_what_is_missing(model, contacts):
    """Say what this solver cannot do as yet, rather than leave it out."""
    for joint in model.joints:
        if not isinstance(joint, (Ball, Hinge, Fixed, Distance)):
            raise NotImplementedError(f'{joint.kind} {joint.name}: solver "verlet" has ball, hinge, fixed and distance')
        for what in ("friction", "spring", "motor"):
            if getattr(joint, what, None):
                raise NotImplementedError(f'{joint.kind} {joint.name} has {what}: solver "verlet" has none as yet')
        limits = [getattr(joint, name, np.inf) for name in ("swing_limit", "twist_limits", "limits")]
        if not isinstance(joint, Distance) and np.isfinite(np.concatenate([np.ravel(limit) for limit in limits])).any():
            raise NotImplementedError(f'{joint.kind} {joint.name} has limits: solver "verlet" has none as yet')
    if model.gears:
        raise NotImplementedError(f'gear {model.gears[0].name}: solver "verlet" has none as yet')
    for spring in model.springs:
        if spring.damping:
            raise NotImplementedError(f'spring {spring.name} has damping: solver "verlet" has none as yet')
    pairs = ((a, b) for a in range(len(model.shapes)) for b in range(a))
    if contacts and any(model.may_touch(a, b) for a, b in pairs):
        raise NotImplementedError('solver "verlet" has no contacts as yet; contacts=False lets bodies pass through')


def joint_points(model, joint):
    """World points (n, 3) that the two bodies of a joint share."""
    anchor = joint.parent_anchor
    axes = joint.parent_axes
    if joint.parent != GROUND:
        body = model.bodies[joint.parent]
        anchor, axes = body.world_point(anchor), np.array([body.world_direction(axis) for axis in axes])
    if isinstance(joint, (Ball, Distance)):
        return anchor[None]
    widths = []
    for index in (joint.parent, joint.child):
        if index != GROUND:
            body = model.bodies[index]
            moments = second_moments(body.inertia)
            local = np.array([body.local_direction(axis) for axis in axes])
            widths.append(np.sqrt(3 * np.einsum("ki,ij,kj->k", local, moments, local) / body.mass))
    reach = REACH * np.min(widths, axis=0)
    if isinstance(joint, Hinge):
        return anchor + np.outer((-reach[0], reach[0]), axes[0])
    return anchor + reach.min() * axes


def describe(model):
    """A model as pbd.Particles.

    Returns: the Particles; a Frame for each body; and the particles of each body, in the order of its frame.
    """
    shared = []  # (body points by body index) of each particle that joints add
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

    own = [[k for k, (bodies, _) in enumerate(shared) if index in bodies] for index in range(len(model.bodies))]
    frames = []
    for index, body in enumerate(model.bodies):
        points = [body.local_point(shared[k][1]) for k in own[index]]
        frames.append(make_frame(body.name, body.mass, body.inertia, points))

    particles = pbd.Particles(gravity=model.gravity)
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
    for index in range(len(model.bodies)):
        corners = members[index]
        particles.add_sticks(corners[EDGES])
        joints = np.array([added[k] for k in own[index]], int)
        particles.add_sticks(np.stack([np.repeat(joints, 4), np.tile(corners, len(joints))], axis=1))
        members[index] = np.concatenate([corners, joints])

    place = iter(added)
    for joint in model.joints:
        if isinstance(joint, Distance):
            add_distance(particles, next(place), next(place), joint)
        else:
            for _ in joint_points(model, joint):
                next(place)
    for spring in model.springs:
        a, b = next(place), next(place)
        if spring.stiffness > 0:
            particles.add_stick(a, b, length=spring.rest_length, compliance=1 / spring.stiffness)
    return particles, frames, members


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
