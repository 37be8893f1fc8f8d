"""Bodies within a step: pose and inertia read from a frame's particles, and the particles moved as a rigid body."""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_quaternion, store_vector
from pbd.core.quaternions import from_columns, rotate, rotate_back
from pbd.direct.mobility import multiply_symmetric
from pbd.integrate import position
from rigid.solvers.verlet.data import FRAME, MOTION, SIZE

# Iterations of the polar decomposition. Each one squares the frame's strain, which is at most some hundredths.
POLAR_ITERATIONS = 3
# So many are enough for frames of thin plates, which a substep may strain by more than their thickness.
MANY_ITERATIONS = 10
# Impulses move particles along their tangents, so a frame that they turn by θ in a substep grows by θ²/2. Sticks
# restore it in the next one; until then its pose is uncertain by as much.
STRAINED = 0.01
# A frame has this part of its volume at least. Below the second one its rotation is not known.
LEAST_VOLUME, FLAT = 0.5, 0.05


@ti.func
def corner(s: ti.template(), body, k):
    """The particle at corner k of a body."""
    return s.hooked.members[s.hooked.first_member[body] + k]


@ti.func
def weighted_point(s: ti.template(), array: ti.template(), body, weights, world):
    """The point Σ c_k x_k of a body's corners (3,) [m]. Args: array: of positions; weights: the c_k (4,)."""
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        x = array[corner(s, body, k), world]
        result += weights[k] * ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def read_pose(s: ti.template(), body, world):
    """Write the pose of a body at the start of the step, and its contact margin."""
    origin, a, b, c = pose_of(s, s.particles.previous_position, POLAR_ITERATIONS, body, world)
    farthest = 0.0
    for k in ti.static(range(4)):
        i = corner(s, body, k)
        farthest = ti.max(farthest, (position(s, i, world) - s.particles.previous_position[i, world]).norm_sqr())
    q = from_columns(a, b, c)
    store_vector(s.hooked.poses, body, 0, origin, world)
    store_quaternion(s.hooked.poses, body, 3, q, world)
    # A point of the body is at most about twice as far out as a corner, and moves at most twice as far.
    s.hooked.margins[body, world] = 2.0 * ti.sqrt(farthest) + s.hooked.frames[world, body, FRAME.margin]


@ti.func
def pose_of(s: ti.template(), array: ti.template(), iterations: ti.template(), body, world):
    """Origin of a body [m], and its axes (3,) each.

    The corners are at F y + origin, with y their positions in the body's frame. The body's rotation is the polar part
    of F, by Higham's iteration R <- (R + R⁻ᵀ)/2 (Computing the polar decomposition, 1986).

    Args: array: of positions; iterations: how many.
    """
    origin, a, b, c = map_of(s, array, body, world)
    for _ in ti.static(range(iterations)):
        u, v, w = b.cross(c), c.cross(a), a.cross(b)
        over = 1.0 / a.dot(u)
        a, b, c = 0.5 * (a + over * u), 0.5 * (b + over * v), 0.5 * (c + over * w)
    return origin, a, b, c


@ti.func
def map_of(s: ti.template(), array: ti.template(), body, world):
    """Origin of a body [m], and the columns of F, see `pose_of`. Args: array: of positions."""
    frames = ti.static(s.hooked.frames)
    origin, a, b, c = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(4))]
    for k in ti.static(range(4)):
        q = array[corner(s, body, k), world]
        x = ti.Vector([q[0], q[1], q[2]])
        a += frames[world, body, FRAME.map + 3 * k] * x
        b += frames[world, body, FRAME.map + 3 * k + 1] * x
        c += frames[world, body, FRAME.map + 3 * k + 2] * x
        origin += frames[world, body, FRAME.origin + k] * x
    return origin, a, b, c


@ti.func
def at_start_of_step(s: ti.template(), body, x, world):
    """Where the point of a body that is at x now was at the start of the step (3,) [m]."""
    origin, a, b, c = map_of(s, s.particles.position, body, world)
    poses = ti.static(s.hooked.poses)
    arm = x - origin
    local = ti.Vector([a.dot(arm), b.dot(arm), c.dot(arm)])
    return load_vector(poses, body, 0, world) + rotate(load_quaternion(poses, body, 3, world), local)


@ti.func
def direction_now(s: ti.template(), body, direction, world):
    """A direction in a body on a path, from the start of the step to now (3,)."""
    _, a, b, c = map_of(s, s.particles.position, body, world)
    local = rotate_back(load_quaternion(s.hooked.poses, body, 3, world), direction)
    return local[0] * a + local[1] * b + local[2] * c


@ti.func
def read_inertia(s: ti.template(), array: ti.template(), body, world):
    """Write the centre of mass, inverse mass and inverse inertia of a body's particles; clear pending impulses.

    A joint's particle counts with all its mass. A pinned particle does not count, and a body on a path has infinite
    mass.

    Args: array: of positions.
    """
    mass, centre = 0.0, ti.Vector([0.0, 0.0, 0.0])
    for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
        i = s.hooked.members[m]
        w = s.particles.position[i, world][3]
        if w > 0.0:
            x = array[i, world]
            mass += 1.0 / w
            centre += ti.Vector([x[0], x[1], x[2]]) / w
    if mass > 0.0:
        centre /= mass
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
        i = s.hooked.members[m]
        w = s.particles.position[i, world][3]
        if w > 0.0:
            x = array[i, world]
            r = ti.Vector([x[0], x[1], x[2]]) - centre
            xx += r[0] * r[0] / w
            yy += r[1] * r[1] / w
            zz += r[2] * r[2] / w
            xy += r[0] * r[1] / w
            xz += r[0] * r[2] / w
            yz += r[1] * r[2] / w
    # I = tr(S) E - S, and its inverse by cofactors
    a, b, c, d, e, f = yy + zz, xx + zz, xx + yy, -xy, -xz, -yz
    A, B, C = b * c - f * f, a * c - e * e, a * b - d * d
    D, E, F = e * f - d * c, d * f - e * b, d * e - a * f
    over, inverse_mass = 0.0, 0.0
    if mass > 0.0:  # a body on a path has pinned particles alone
        over, inverse_mass = 1.0 / (a * A + d * D + e * E), 1.0 / mass
    s.hooked.motion[world, body, MOTION.inverse_mass] = inverse_mass
    store_vector(s.hooked.motion, body, MOTION.centre, centre, world)
    store_vector(s.hooked.motion, body, MOTION.inverse_inertia, ti.Vector([A, B, C]) * over, world)
    store_vector(s.hooked.motion, body, MOTION.inverse_inertia + 3, ti.Vector([D, E, F]) * over, world)
    clear_impulses(s, body, world)


@ti.func
def rotation_by(s: ti.template(), body, angular_impulse, world):
    """The rotation (3,) [rad] that an angular impulse on positions [kg m²] makes: I⁻¹ times it."""
    p = load_vector(s.hooked.motion, body, MOTION.inverse_inertia, world)
    q = load_vector(s.hooked.motion, body, MOTION.inverse_inertia + 3, world)
    return multiply_symmetric(p, q, angular_impulse)


@ti.func
def clear_impulses(s: ti.template(), body, world):
    """Clear the displacement and rotation of a body by pending contact impulses."""
    for k in ti.static(range(6)):
        s.hooked.motion[world, body, MOTION.linear + k] = 0.0


@ti.func
def move_particles(s: ti.template(), array: ti.template(), arms: ti.template(), body, sign, world):
    """Move a body's particles by the pending contact impulses, and clear these.

    Args: array: positions that are moved; arms: the positions that `read_inertia` read; sign: 1 or -1.
    """
    linear = load_vector(s.hooked.motion, body, MOTION.linear, world)
    angular = load_vector(s.hooked.motion, body, MOTION.angular, world)
    if linear.norm_sqr() + angular.norm_sqr() > 0.0:
        centre = load_vector(s.hooked.motion, body, MOTION.centre, world)
        for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
            i = s.hooked.members[m]
            if s.particles.position[i, world][3] > 0.0:
                y = arms[i, world]
                step = sign * (linear + angular.cross(ti.Vector([y[0], y[1], y[2]]) - centre))
                x = array[i, world]
                for k in ti.static(range(3)):
                    x[k] += step[k]
                array[i, world] = x
    clear_impulses(s, body, world)


@ti.func
def restore_frame(s: ti.template(), body, world):
    """Remove the strain of a body's frame if it is flat or inside out, or its sides are strained: see STRAINED.

    The centre of mass stays where it is, and the rotation of a frame that is not flat. A flat one has that of the start
    of the substep.
    """
    _, a, b, c = map_of(s, s.particles.position, body, world)
    volume = a.dot(b.cross(c))
    mobile = s.particles.position[corner(s, body, 0), world][3] > 0.0
    if mobile and (volume < LEAST_VOLUME or is_strained(s, body, world)):
        q = load_quaternion(s.hooked.poses, body, 3, world)
        if volume > FLAT:
            _, a, b, c = pose_of(s, s.particles.position, MANY_ITERATIONS, body, world)
            q = from_columns(a, b, c)
        centre, middle = centre_and_middle(s, body, world)
        for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
            i = s.hooked.members[m]
            w = s.particles.position[i, world][3]
            if w > 0.0:
                x = centre + rotate(q, load_vector(s.hooked.points_in_frames, m, 0, world) - middle)
                s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], w])


@ti.func
def is_strained(s: ti.template(), body, world):
    """Whether a side of a body's frame is longer or shorter than it should be by more than STRAINED of it."""
    result = False
    first = s.hooked.first_member[body]
    for k in ti.static(range(1, 4)):
        way = position(s, s.hooked.members[first + k], world) - position(s, s.hooked.members[first], world)
        points = ti.static(s.hooked.points_in_frames)
        length = (load_vector(points, first + k, 0, world) - load_vector(points, first, 0, world)).norm()
        result = result or ti.abs(way.norm() - length) > STRAINED * length
    return result


@ti.func
def centre_and_middle(s: ti.template(), body, world):
    """Centre of mass of a body's particles now, and of their places in its frame (3,) each [m]."""
    mass, centre, local = 0.0, ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
        i = s.hooked.members[m]
        w = s.particles.position[i, world][3]
        if w > 0.0:
            mass += 1.0 / w
            centre += position(s, i, world) / w
            local += load_vector(s.hooked.points_in_frames, m, 0, world) / w
    return centre / mass, local / mass


# All bodies in contact ------------------------------------------------------------------------------------------------


@ti.func
def read_inertias(s: ti.template(), array: ti.template(), world):
    """Read the inertia of all bodies in contact. Args: array: positions of particles."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        if s.hooked.motion[world, body, MOTION.in_contact] > 0.0:
            read_inertia(s, array, body, world)


@ti.func
def move_bodies(s: ti.template(), array: ti.template(), arms: ti.template(), sign, world):
    """Move all bodies in contact by their pending impulses. Args: array, arms, sign: see `move_particles`."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        if s.hooked.motion[world, body, MOTION.in_contact] > 0.0:
            move_particles(s, array, arms, body, sign, world)
