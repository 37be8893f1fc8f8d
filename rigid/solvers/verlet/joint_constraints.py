"""From joints, springs and gears to constraints between frames: which kinds, and with what numbers."""

import math

import numpy as np

from rigid.joint import Ball, Hinge, Slider, Universal
from rigid.names import GROUND
from rigid.solvers.verlet.frame import CORNERS
from rigid.solvers.verlet.joint_types import ANGLE, ANGLE_LIMIT, BALL_LIMIT, DAMPED_STICK, SHIFT, force, limit
from rigid.solvers.verlet.locks import BALL_FORCE, RIGHT_ANGLE, RIGHT_HANDED, SLIDER, gear

# No limit, and no bound on an effort: far beyond anything, and its square is still a number in 32 bits.
NONE = 1e18

# What of its volume a frame keeps in a joint that may throw it about.
LEAST_VOLUME = 0.5

# Limits wider than this are counted past full turns: in what is left of the circle a joint that is beyond one of them
# could not be told from one beyond the other.
WIDEST = 2 * math.pi - 0.1


class Joiner:
    """Adds constraints between frames to particles.

    Arguments: particles: a pbd.Particles with the bodies' particles in it; model; frames: a Frame for each body;
    members: of each body; alike: the models of all worlds, each of which has a constraint where any one has.
    """

    def __init__(self, particles, model, frames, members, alike):
        self.particles, self.model, self.frames, self.members, self.alike = particles, model, frames, members, alike
        self.ground = None
        self.tied = set()  # bodies
        self.motors = {}  # joint: its constraint's kind, and which one of that kind it is

    def join(self):
        """Add what all joints and gears of the model are, but the particles that bodies share."""
        for index, joint in enumerate(self.model.joints):
            all_worlds = [model.joints[index] for model in self.alike]
            if isinstance(joint, Ball):
                self.add_ball(joint, all_worlds)
            elif isinstance(joint, Universal):
                axes = self.axes(joint.parent, joint.parent_axes[:1]), self.axes(joint.child, joint.child_axes[1:2])
                self.add(RIGHT_ANGLE, (joint.parent, joint.child), (*axes, self.anchors(joint)[1]))
            elif isinstance(joint, Slider):
                numbers = self.axes(joint.parent, joint.parent_axes), self.axes(joint.child, joint.child_axes)
                self.add(SLIDER, (joint.parent, joint.child), (*numbers, *self.anchors(joint)))
            for k, (coordinate, bodies, numbers) in enumerate(self.coordinates(joint)):
                self.add_forces(coordinate, bodies, numbers, joint, all_worlds)
                limits = [one.coordinate_limits()[k] for one in all_worlds]
                self.add_limits(coordinate, bodies, numbers, joint.coordinate_limits()[k], limits)
        for one in self.model.gears:
            self.add_gear(one)
        for body in sorted(self.tied - {GROUND}):
            corners, members = self.frame(body)
            volume = np.linalg.det(corners[[0, 2, 3]] - corners[1]) / 6
            self.particles.add_constraints(RIGHT_HANDED, members[None, [1, 0, 2, 3]], volume=LEAST_VOLUME * volume)

    # Numbers ------------------------------------------------------------------------------------------------------

    def frame(self, body):
        """Corners of a body in its frame (4, 3), and which particles they are, the frame's longest side first.

        Those of the ground are pinned, at ±1 m on each axis.
        """
        if body == GROUND:
            if self.ground is None:
                self.ground = self.particles.add_particles(CORNERS, math.inf)
            return CORNERS, self.ground
        return self.frames[body].corners, self.members[body][:4]

    def axes(self, body, directions):
        """Directions (n, 3) of a body's frame, as combinations of its triad (rigid/solvers/verlet/relative_rotation.py), (3 n,)."""
        u = CORNERS.T @ self.frame(body)[0]
        e_0 = u[0] / np.linalg.norm(u[0])
        across = u[1] - u[1] @ e_0 * e_0
        e_1 = across / np.linalg.norm(across)
        return np.ravel(directions @ np.stack([e_0, e_1, np.cross(e_0, e_1)]).T)

    def anchors(self, joint):
        """The joint's points from the centres of the parent's and the child's corners, likewise, two (3,)."""
        ends = ((joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor))
        return [self.axes(body, anchor - self.frame(body)[0].mean(axis=0)) for body, anchor in ends]

    def coordinates(self, joint):
        """The coordinates of a hinge, universal or slider: [(Coordinate, its two bodies, its numbers)]."""
        bodies = joint.parent, joint.child
        m, n = joint.parent_axes, joint.child_axes
        if not isinstance(joint, (Hinge, Universal, Slider)):
            return []
        if isinstance(joint, Slider):
            return [(SHIFT, bodies, (self.axes(joint.parent, m[:1]), *self.anchors(joint)))]
        at_parent, at_child = self.anchors(joint)
        about_first = self.axes(joint.parent, m[1:]), self.axes(joint.child, n[1:2]), at_child
        if isinstance(joint, Hinge):
            return [(ANGLE, bodies, about_first)]
        about_second = self.axes(joint.child, n[[0, 2]]), self.axes(joint.parent, m[:1]), at_parent
        return [(ANGLE, bodies, about_first), (ANGLE, bodies[::-1], about_second)]

    def add(self, kind, bodies, numbers, compliance=0.0):
        """Add one constraint of a kind.

        Arguments: bodies, whose corners it ties; its numbers, in order, in pieces; what it remembers begins with zero.
        """
        self.tied |= set(bodies)
        members = np.concatenate([self.frame(body)[1] for body in bodies])
        numbers = np.concatenate([np.ravel(piece) for piece in numbers])
        numbers = dict(zip(kind.parameters, [*numbers, *[0.0] * kind.state_size], strict=True))
        self.particles.add_constraints(kind, members[None], compliance=compliance, **numbers)

    # Joints -------------------------------------------------------------------------------------------------------

    def add_forces(self, coordinate, bodies, numbers, joint, all_worlds):
        """Friction, motor and spring along a coordinate."""
        kind = force(coordinate)
        if any(one.friction > 0 for one in all_worlds):
            self.add(kind, bodies, (*numbers, (0.0, 0.0, 0.0, joint.friction, 0.0)), compliance(0.0))
        if any(one.motor for one in all_worlds):
            before = self.particles.constraint_sets.get((kind, True))
            number = sum(map(len, before.members)) if before else 0
            self.motors[joint.name] = kind.compliant, number
            self.add(kind, bodies, (*numbers, drive(joint.motor)), compliance(0.0))
        if any(acts(one.spring) for one in all_worlds):
            stiffness, damping, rest = strength(joint.spring)
            self.add(kind, bodies, (*numbers, (0.0, rest, 0.0, 0.0, damping)), compliance(stiffness))

    def add_limits(self, coordinate, bodies, numbers, limits, limits_of_worlds):
        """Add the limits (low, high) of a coordinate. Args: limits_of_worlds: those of all worlds."""
        if not np.isfinite(limits_of_worlds).any():
            return
        low, high = limits
        if coordinate.turns and max(end - begin for begin, end in limits_of_worlds) < WIDEST:
            middle, half = (low + high) / 2, (high - low) / 2
            m = turned(np.reshape(numbers[0], (2, 3)), middle)
            self.add(ANGLE_LIMIT, bodies, (m, *numbers[1:], cosine_and_sine(half)))
        else:
            self.add(limit(coordinate), bodies, (*numbers, (max(low, -NONE), min(high, NONE))))

    def add_ball(self, joint, all_worlds):
        """Cone and twist, friction and spring of a ball joint."""
        bodies = joint.parent, joint.child
        if np.isfinite([(one.swing_limit, *one.twist_limits) for one in all_worlds]).any():
            low, high = np.clip(joint.twist_limits, -math.pi, math.pi)
            m = np.reshape(self.axes(joint.parent, joint.parent_axes), (3, 3))
            n = np.reshape(self.axes(joint.child, joint.child_axes), (3, 3))
            widths = cosine_and_sine(joint.swing_limit), cosine_and_sine((high - low) / 2)
            numbers = m[0], n[0], turned(m[1:], (low + high) / 2), n[1], self.anchors(joint)[1], *widths
            self.add(BALL_LIMIT, bodies, numbers)
        # The child's triad as it stands at time zero, in both: a cone that is tilted is none of the spring's.
        n = joint.child_axes
        m = self.model.body(joint.parent).local_direction(self.model.body(joint.child).world_direction(n))
        numbers = self.axes(joint.parent, m), self.axes(joint.child, n), self.anchors(joint)[1]
        if any(one.friction > 0 for one in all_worlds):
            self.add(BALL_FORCE, bodies, (*numbers, (joint.friction, 0.0)), compliance(0.0))
        if any(acts(one.spring) for one in all_worlds):
            stiffness, damping, _ = strength(joint.spring)
            self.add(BALL_FORCE, bodies, (*numbers, (0.0, damping)), compliance(stiffness))

    def add_gear(self, one):
        """A gear between two joints of one coordinate each, which may share bodies."""
        (a, of_a, numbers_a), (b, of_b, numbers_b) = (
            self.coordinates(self.model.joints[index])[0] for index in (one.joint_a, one.joint_b)
        )
        bodies = list(dict.fromkeys((*of_a, *of_b)))
        kind = gear(a, b, tuple(bodies.index(body) for body in (*of_a, *of_b)))
        self.add(kind, bodies, (*numbers_a, *numbers_b, (one.ratio,)))

    def add_point_spring(self, index, a, b):
        """A spring between two particles. Arguments: its index in the model; the particles."""
        all_worlds = [model.springs[index] for model in self.alike]
        one = self.model.springs[index]
        if any(each.damping > 0 for each in all_worlds):
            numbers = {"length": one.rest_length, "damping": one.damping}
            self.particles.add_constraints(DAMPED_STICK, [(a, b)], compliance=compliance(one.stiffness), **numbers)
        elif any(each.stiffness > 0 for each in all_worlds):
            self.particles.add_stick(a, b, length=one.rest_length, compliance=compliance(one.stiffness))


def compliance(stiffness):
    """1/k, and one so large that nothing is stored for k = 0: only what has a compliance keeps λ over the sweeps."""
    return 1 / max(stiffness, 1e-30)


def drive(motor):
    """Speed, position, rate, effort and damping of a motor, or None."""
    if motor is None:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    if motor.position is None:
        return motor.speed, 0.0, 0.0, min(motor.max_effort, NONE), 0.0
    return 0.0, motor.position, motor.position_gain, min(motor.max_effort, NONE), 0.0


def acts(one):
    """Whether a joint's spring, or None, does anything."""
    return one is not None and (one.stiffness > 0 or one.damping > 0)


def strength(one):
    """Stiffness, damping and rest of a joint's spring, or None."""
    return (0.0, 0.0, 0.0) if one is None else (one.stiffness, one.damping, one.rest)


def cosine_and_sine(width):
    """Those of half the width of limits, at most π; exactly (-1, 0) where that is no limit at all."""
    return (-1.0, 0.0) if width >= math.pi else (math.cos(width), math.sin(width))


def turned(m, by):
    """Axes m_1 and m_2 (2, 3) turned by an angle from the first to the second."""
    return np.array([[math.cos(by), math.sin(by)], [-math.sin(by), math.cos(by)]]) @ m
