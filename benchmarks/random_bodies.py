"""Random models of rigid bodies: trees, loops, stacks, heaps and wheels. See benchmarks/random_scenes.py.

Args of all kinds: seed: a whole number; length: of a body [m]; ratio: largest ratio of two densities; gravity [m/s²].
All return a rigid.Model.
"""

import math

import numpy as np

import rigid
from benchmarks.chains import DENSITY, random_chain
from rigid.rotation import from_axis_angle, multiply, rotate

SHAPES = ("box", "sphere", "capsule", "cylinder", "hull")
JOINTS = ("ball", "hinge", "universal", "slider", "fixed")  # that carry a body of a tree
Z = (0.0, 0.0, 1.0)
SPACING = 1.1  # of bodies that are dropped, in lengths
SMALLEST = 0.4  # of a body's extents, in lengths


def chain(seed, length, ratio, gravity):
    """A chain with limits."""
    return random_chain(seed, length, ratio, limits=True, gravity=gravity)


def tree(seed, length, ratio, gravity):
    """A tree that hangs from the ground."""
    random, model = start(seed, gravity)
    for _ in range(random.integers(3, 11)):
        grow(model, random, SHAPES[random.integers(len(SHAPES))], length, ratio)
    add_extras(model, random, length, gravity)
    return model


def falling_tree(seed, length, ratio, gravity):
    """A free tree of two or more of each shape above the ground."""
    random, model = start(seed, gravity)
    for shape in two_of_each(random):
        grow(model, random, shape, length, ratio, free=True)
    lowest = min(body.position[2] for body in model.bodies)
    model.add_ground(lowest - SPACING * length, friction=random.uniform(0.2, 1.0))
    return model


def loop(seed, length, ratio, gravity):
    """Three to seven rods from one point of the ground to another."""
    random, model = start(seed, gravity)
    axis = random_direction(random)
    flat, count = random.uniform() < 0.5, int(random.integers(3, 8))
    corners = [np.zeros(3)]
    while len(corners) <= count:
        along = random_direction(random)
        if flat:
            along -= along @ axis * axis
            along /= np.linalg.norm(along)
        corner = corners[-1] + length * along
        if min(np.linalg.norm(corner - each) for each in corners) > SMALLEST * length:
            corners.append(corner)
    parent = rigid.GROUND
    for k, (first, last) in enumerate(zip(corners, corners[1:])):
        rod = add_solid(model, random, "box", length, ratio, (first + last) / 2, along=last - first)
        if flat:
            model.add_hinge(parent, rod, first, axis, name=f"hinge {k}")
        else:
            model.add_ball(parent, rod, first, name=f"ball {k}")
        parent = rod
    if flat:
        model.add_hinge(rigid.GROUND, parent, corners[-1], axis, name="end")
    else:
        model.add_ball(rigid.GROUND, parent, corners[-1], name="end")
    return model


def stack(seed, length, ratio, gravity):
    """Four to eight boxes and cylinders on the ground, two or more of each."""
    random, model = start(seed, gravity)
    friction = random.uniform(0.3, 1.0)
    model.add_ground(friction=friction)
    shapes = ["box", "box", "cylinder", "cylinder", *random.choice(["box", "cylinder"], random.integers(0, 5))]
    height = 0.0
    for shape in random.permutation(shapes):
        thickness = length * random.uniform(SMALLEST, 0.8)
        width = length * random.uniform(0.8, 1.0)
        mass = DENSITY * length**3 * ratio ** random.uniform()
        aside = 0.03 * length * random.normal(size=2).clip(-1, 1)
        placement = {"mass": mass, "position": (*aside, height + thickness / 2), "friction": friction}
        turn = from_axis_angle(Z, random.uniform(0, 2 * math.pi))
        if shape == "box":
            model.add_box((width, width, thickness), rotation=turn, **placement)
        else:
            model.add_cylinder(width / 2, thickness, rotation=turn, **placement)
        height += thickness
    return model


def heap(seed, length, ratio, gravity):
    """Ten to fourteen bodies above the ground, two or more of each shape."""
    random, model = start(seed, gravity)
    friction = random.uniform(0.2, 1.0)
    model.add_ground(friction=friction)
    for k, shape in enumerate(two_of_each(random)):
        layer, place = divmod(k, 4)
        cell = np.array([place % 2, place // 2, layer + 0.6])
        cell[:2] += 0.2 * (layer % 2)  # layers meet edge to edge
        place = length * (SPACING * cell + 0.02 * random.uniform(-1, 1, 3))
        add_solid(model, random, shape, length, ratio, place, friction=friction)
    return model


def wheels(seed, length, ratio, gravity):
    """One to three discs that roll on the ground, with or without slip."""
    random, model = start(seed, gravity)
    for k in range(random.integers(1, 4)):
        radius, lean, heading = length / 2, random.uniform(-0.3, 0.3), random.uniform(0, 2 * math.pi)
        forward = np.array([math.cos(heading), math.sin(heading), 0.0])
        axis = rotate(from_axis_angle(forward, lean), np.cross(Z, forward))
        up = np.cross(forward, axis)  # from the lowest point of the rim to the hub
        hub = np.array([3 * k * length, 0.0, radius * up[2]])
        spin = random.uniform(0.5, 2.0) * math.sqrt(gravity / length)
        density = DENSITY * ratio ** random.uniform()
        disc = model.add_cylinder(
            radius, 0.2 * length, density=density, position=hub, rotation=turn_to(axis), angular_velocity=spin * axis,
            velocity=spin * radius * np.cross(axis, up),
        )  # fmt: skip
        friction = random.uniform(0.3, 1.0) if random.uniform() < 0.5 else None
        model.add_wheel(disc, axis, radius, friction=friction)
    return model


# Parts ----------------------------------------------------------------------------------------------------------------


def start(seed, gravity):
    """A generator of random numbers, and a rigid.Model without bodies."""
    return np.random.default_rng((seed, 0)), rigid.Model(gravity=(0, 0, -gravity))


def two_of_each(random):
    """Ten to fourteen of SHAPES in random order, two or more of each."""
    more = random.choice(SHAPES, random.integers(0, 5))
    return [str(shape) for shape in random.permutation([*SHAPES, *SHAPES, *more])]


def random_direction(random):
    """A random direction (3,)."""
    direction = random.normal(size=3)
    return direction / np.linalg.norm(direction)


def turn_to(axis):
    """A rotation (w, x, y, z) of z to an axis (3,) of length one that is not -z."""
    return np.array([1.0 + axis[2], -axis[1], axis[0], 0.0]) / math.sqrt(2.0 * (1.0 + axis[2]))


def add_solid(model, random, shape, length, ratio, position, along=None, **options):
    """Add a body within a ball of the diameter `length`, or a box along a line of that length.

    Args: shape: one of SHAPES; position: (3,) [m]; along: of the box (3,); None for a random rotation; options: of
    add_shape. Returns: its index.
    """
    x, y, z = extents = length * random.uniform(SMALLEST, 0.57, 3)  # √3 of it is just within the ball
    turn = random.normal(size=4)
    placement = {"position": position, "rotation": turn / np.linalg.norm(turn), **options}
    density = DENSITY * ratio ** random.uniform()
    if along is not None:
        forward = along / np.linalg.norm(along)
        twist = from_axis_angle(forward, random.uniform(0, math.pi))
        placement["rotation"] = multiply(twist, turn_to(forward))
        return model.add_box((0.5 * x, 0.5 * y, length), density=density, **placement)
    if shape == "box":
        return model.add_box(extents, density=density, **placement)
    if shape == "sphere":
        return model.add_sphere(0.8 * x, density=density, **placement)
    if shape == "capsule":
        return model.add_capsule(x / 2, 0.7 * z, density=density, **placement)
    if shape == "cylinder":
        return model.add_cylinder(x / 2, z, density=density, **placement)
    corners = [random_direction(random) for _ in range(8)]
    points = 0.45 * length * np.array([*corners, *(-each for each in corners)])
    triangles = rigid.ConvexHull(points)
    return model.add_mesh((triangles.vertices, triangles.triangles), density=density, **placement)


def grow(model, random, shape, length, ratio, free=False):
    """Add a body to a tree, on a random joint halfway to one of its bodies, clear of the others.

    Args: shape: one of SHAPES; free: whether the first body has no joint.
    """
    if not model.bodies:
        child = add_solid(model, random, shape, length, ratio, np.zeros(3))
        if not free:
            arm = length / 2 * random_direction(random)
            add_random_joint(model, random, rigid.GROUND, child, arm, length)
        return
    while True:
        parent = int(random.integers(len(model.bodies)))
        here, direction = model.bodies[parent].position, random_direction(random)
        place = here + length * direction
        if all(np.linalg.norm(place - each.position) > 0.999 * length for each in model.bodies):
            break
    child = add_solid(model, random, shape, length, ratio, place)
    add_random_joint(model, random, parent, child, (here + place) / 2, length)


def add_random_joint(model, random, parent, child, point, length):
    """Add one of JOINTS, with limits, friction and a spring at random. The ground gets no fixed joint."""
    kind = JOINTS[random.integers(len(JOINTS) - (parent == rigid.GROUND))]
    axis, across = np.linalg.qr(random.normal(size=(3, 2)))[0].T
    low, high = random.uniform(0.2, 1.5, 2)
    torque = model.bodies[child].mass * -model.gravity[2] * length
    limited, rubs, sprung = random.uniform(size=3) < (0.5, 0.3, 0.2)
    unit = 1.0 if kind != "slider" else length
    given = {"friction": 0.05 * torque / unit} if rubs else {}
    if sprung:
        given["spring"] = rigid.Spring(torque / unit**2)
    if kind == "ball":
        if limited:
            given |= {"swing_limit": low, "twist_limits": (-low, low)}
        model.add_ball(parent, child, point, **given)
    elif kind == "universal":
        if limited:
            given |= {"parent_limits": (-low, high), "child_limits": (-high, low)}
        model.add_universal(parent, child, point, axis, across, **given)
    elif kind == "fixed":
        model.add_fixed(parent, child, point)
    else:
        add = model.add_hinge if kind == "hinge" else model.add_slider
        limits = (-low * unit, high * unit) if limited or kind == "slider" else None
        add(parent, child, point, axis, limits=limits, **given)


def add_extras(model, random, length, gravity):
    """Add a distance, a spring or a gear to a tree at random."""
    count, (tied, sprung, geared) = len(model.bodies), random.uniform(size=3) < (0.4, 0.4, 0.3)
    a, b = (int(k) for k in random.choice(count, 2, replace=False))
    stiffness = model.masses.sum() * gravity / length
    if tied:
        model.add_distance(a, b, limits=((0.0, 0.0), (-math.inf, 0.0))[random.integers(2)])
    if sprung:
        model.add_spring(rigid.GROUND, a, (0.0, 0.0, 2 * length), stiffness=stiffness)
    hinges = [k for k, joint in enumerate(model.joints) if joint.kind == "hinge"]
    if geared and len(hinges) > 1:
        model.add_gear(*hinges[:2], random.choice((-2.0, -1.0, 0.5, 1.0)))
