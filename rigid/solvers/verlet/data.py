"""Arrays of bodies that are frames of particles: `s.hooked` in kernels, beside the arrays of pbd/data.py."""

from typing import NamedTuple

import numpy as np

from pbd.core.kernels import Columns, Integer, NoArrays, Real, Vector, allocate, count
from rigid.collision.contact_cache import ContactCache
from rigid.collision.data import PAIR, POINT, Points, Scratch, Shapes
from rigid.collision.upload import collision_arrays, default_capacity
from rigid.mass import second_moment

# Contact margin of a body at rest, in parts of its smallest half width.
MARGIN = 0.02

# A body's frame, constant. Its corners x_k are at y_k in the body's frame. `map` holds the b_k and `origin` the c_k for
# which F = Σ x_k b_kᵀ maps from the body's frame, and Σ c_k x_k is its origin: a point p of the body's frame is at
# Σ (c_k + b_k·p) x_k. `margin` is the body's contact margin at rest [m]. Gravity acts on it
# with `gravity_scale`.
FRAME = Columns(map=12, origin=4, margin=1, gravity_scale=1)

# A body's particles at the start of the step: centre of mass [m], inverse mass, inverse inertia (xx, yy, zz, xy, xz,
# yz) about it. Then the displacement and rotation by contact impulses that the particles do not have yet [m, rad], and
# whether the body has a contact, and whether it bears loads of a direct solve.
MOTION = Columns(centre=3, inverse_mass=1, inverse_inertia=6, linear=3, angular=3, in_contact=1, bears_load=1)

# A contact, see rigid/solvers/verlet/contacts.py: its normal n and tangent t; the contact point from the centres of
# mass of A and B, and as weights of their corners; the offset of A's point from B's at the start of the step; the
# effective masses along n, t and n × t; the impulses along these [kg m]; friction and restitution coefficients; the
# approach speed [m/s]; the relative displacement without pending impulses [m]; the gap of the constraint [m]; the
# rolling axis (rigid/solvers/verlet/rolling.py); the impulse of restitution [kg m]; whether it is a loaded contact.
CONTACT = Columns(
    normal=3, tangent=3, arm_a=3, arm_b=3, weights_a=4, weights_b=4, start=3, effective_mass=3, impulse=3, friction=1,
    restitution=1, approach_speed=1, displacement=3, gap=1, rolling_axis=3, restitution_impulse=1,
    is_loaded=1,
)  # fmt: skip

# An external force and torque in the world [N, N m]; the weights c_k with which the force acts at Σ c_k x_k of the
# corners.
FORCE = Columns(force=3, torque=3, weights=4)

# How many of the system's particles are the user's own, and how many bodies there are.
SIZE = Columns(particles=1, bodies=1)


# What is read of a contact after the step: its point; its normal and tangent; its impulses along these and across, and
# that of restitution [kg m].
READ = POINT.extend(axes=6, impulses=4)


class InLanes(NamedTuple):
    """Arrays of contacts for worlds in lanes, which share the places of contacts.

    In each part of a substep places are found anew, also for worlds that wait for others. So what can be read of a
    world's contacts is copied when it is done.
    """

    active: Real(count.worlds)  # 1 while a world takes part, 0 while it waits
    touching: Real(count.worlds)  # how many contacts have an impulse
    count: Real(count.worlds)  # contacts that are copied
    pairs: Integer(count.worlds, count.readings, PAIR)
    numbers: Real(count.worlds, count.readings, READ)


class Loaded(NamedTuple):
    """Loaded contacts, see rigid/solvers/verlet/loaded_contacts.py. Each has three rows: a normal and two tangents."""

    count: Integer(count.worlds)
    contact: Integer(count.worlds, count.loaded)  # which of all contacts each one is
    pushes: Real(count.worlds, count.loaded)
    resistance: Real(count.worlds, count.loaded)  # c, of friction against slip [kg]
    factorings: Real(count.worlds)  # how often A had been factored when S was made
    field: Vector(3, count.all_particles, count.worlds)  # displacements by an impulse [m]
    free: Real(count.worlds, count.loaded_rows)  # diagonal of Gᵀ W G [1/kg]
    answers: Real(count.worlds, count.loaded_rows, count.direct_rows)  # x of each column, pbd/direct/response.py
    response: Real(count.worlds, count.loaded_rows, count.loaded_rows)  # S
    unknown: Integer(count.worlds, count.loaded_rows)  # the rows of S whose impulse is not zero
    lower: Real(count.worlds, count.loaded_rows, count.loaded_rows)  # L of its factor L D Lᵀ
    scaled: Real(count.worlds, count.loaded_rows, count.loaded_rows)  # L D
    right: Real(count.worlds, count.loaded_rows)
    impulse: Real(count.worlds, count.loaded_rows)  # R [kg m]


class External(NamedTuple):
    """External forces on bodies."""

    numbers: Real(count.worlds, count.bodies, FORCE, kept=True)


class BodyArrays(NamedTuple):
    """Everything that the step hooks of rigid/solvers/verlet/step.py read and write besides the particles."""

    sizes: Integer(SIZE)
    first_member: Integer(count.body_ends)  # where a body's particles begin in `members`
    members: Integer(count.members)  # particles of each body: four corners, then those of joints, then a counterweight
    points_in_frames: Real(count.worlds, count.members, 3)  # where `members` are in their bodies' frames [m]
    solved_directly: Integer(count.user_particles)  # whether a particle of the user's is
    attached_to: Integer(count.user_particles)  # body to which a particle is attached, which it does not touch
    frames: Real(count.worlds, count.bodies, FRAME)
    motion: Real(count.worlds, count.bodies, MOTION)
    poses: Real(count.worlds, count.bodies, 7)  # position [m] and rotation (w, x, y, z) at the start of the step
    margins: Real(count.bodies, count.worlds)  # contact margins [m]
    contacts: Real(count.worlds, count.contacts, CONTACT)
    in_lanes: NoArrays
    loaded: NoArrays
    external: External
    cache: ContactCache  # impulses of the last step's contacts [kg m]
    shapes: Shapes
    points: Points
    scratch: Scratch


# The same for worlds in lanes, and with loaded contacts.
BodiesInLanes = NamedTuple("BodiesInLanes", list({**BodyArrays.__annotations__, "in_lanes": InLanes}.items()))
LoadedBodies = NamedTuple("LoadedBodies", list({**BodyArrays.__annotations__, "loaded": Loaded}.items()))

# Most loaded contacts in a world. Others are projected between direct solves, and said if they bear much.
MOST_LOADED = 64


def may_touch(model, particles=None):
    """Whether anything can touch: two shapes, or a shape and particles.

    Args: model: a rigid.Model; particles: a pbd.Particles or None.
    """
    if len(model.shapes) and any(touching_parts(particles)):
        return True
    shapes = range(len(model.shapes))
    return any(model.may_touch(a, b) for a in shapes for b in range(a))


def touching_parts(particles):
    """Whether particles have radii, and whether they have surfaces. Args: particles: a pbd.Particles or None."""
    if particles is None:
        return False, False
    return bool((particles.radii() > 0).any()), len(particles.surfaces) > 0


def allocate_bodies(models, buildings, worlds, external, of_particles, capacity=None, lanes=1, system=None):
    """Make the arrays of bodies.

    Args:
        models: of one structure, one for all worlds or one for each.
        buildings: their Buildings (rigid/solvers/verlet/builder.py).
        worlds: how many.
        external: an External.
        of_particles: arrays of the user's particles (user particles,), see BodyArrays: {name: values}.
        capacity: most contact points in a world; None for an estimate.
        lanes: how many worlds are in the lanes of a vector.
        system: the pbd.ParticleSystem that moves them, if they have loaded contacts.

    Returns: a BodyArrays, BodiesInLanes or LoadedBodies.
    """
    first = buildings[0]
    if capacity is None:
        touching = int((first.particles.radii()[: first.user_particles] > 0).sum())
        touching += sum(len(surface.members) for surface in first.particles.surfaces)
        capacity = default_capacity(models[0]) + 2 * touching
    shapes, points, scratch = collision_arrays(models, worlds, capacity, lanes)
    members = np.concatenate([np.zeros(0, int), *first.members])  # there may be no bodies
    places = np.stack([np.concatenate([np.zeros((0, 3)), *(f.points for f in each.frames)]) for each in buildings])
    frames = np.stack([frame_numbers(model, each) for model, each in zip(models, buildings)])
    bodies = len(first.members)
    loaded = {}
    if system is not None:
        most = min(capacity, MOST_LOADED)
        rows = len(system.direct.rows)
        loaded = {"loaded": most, "loaded_rows": 3 * most, "direct_rows": rows, "all_particles": system.count}
    return allocate(
        LoadedBodies if loaded else BodiesInLanes if lanes > 1 else BodyArrays,
        {
            "sizes": np.array([first.user_particles, bodies]),
            "first_member": np.cumsum([0, *map(len, first.members)]),
            "members": members,
            "points_in_frames": np.repeat(places, worlds // len(models), axis=0),
            **of_particles,
            "frames": np.repeat(frames, worlds // len(models), axis=0),
            "external": external,
            "shapes": shapes,
            "points": points,
            "scratch": scratch,
        },
        worlds=worlds,
        lanes=lanes,
        bodies=bodies,
        body_ends=bodies + 1,
        members=len(members),
        user_particles=first.user_particles,
        contacts=points.integers.shape[1],
        readings=points.integers.shape[1],
        shapes=len(models[0].shapes),
        **loaded,
    )


def frame_numbers(model, building):
    """Numbers of the frames of one world (bodies, FRAME). Args: model; building: its Building."""
    rows = np.zeros((len(model.bodies), FRAME.total))
    for row, body, frame in zip(rows, model.bodies, building.frames):
        origin, *axes = frame.weights([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        row[FRAME["map"]] = (np.array(axes) - origin).T.ravel()  # b_k of each corner k
        row[FRAME["origin"]], row[FRAME.gravity_scale] = origin, body.gravity_scale
        least = np.linalg.eigvalsh(second_moment(body.inertia))[0]
        row[FRAME.margin] = MARGIN * np.sqrt(3 * least / body.mass)
    return rows
