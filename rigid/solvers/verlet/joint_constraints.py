"""Adds constraints between frames for the joints, springs and gears of a model."""

import math

import numpy as np

from rigid.joints.joint_type import Angle, Shift
from rigid.names import GROUND
from rigid.solvers.verlet.broken_joints import UNLIMITED, joint_stick
from rigid.solvers.verlet.frame import CORNERS
from rigid.solvers.verlet.joint_coordinates import ANGLE, FREE_ANGLE, SHIFT, TURN_COUNTER
from rigid.solvers.verlet.joint_drives import BALL_DRIVE, DAMPED_STICK, coordinate_drive, rotor_drive
from rigid.solvers.verlet.joint_limits import BALL_LIMIT, angle_limit, coordinate_limit
from rigid.solvers.verlet.joint_locks import FREE_RIGHT_ANGLE, RIGHT_ANGLE, RIGHT_HANDED, SLIDER, gear
from rigid.solvers.verlet.rolling_wheel import NO_SLIP, RIM
from rigid.solvers.verlet.vector_product import VECTOR_PRODUCT, products_of
from rigid.spring import has_effect, spring_numbers

# Least part of its volume that a frame keeps in a joint.
LEAST_VOLUME = 0.5

# Wider limits are counted over full turns. In the rest of the circle a joint beyond one limit could not be told from a
# joint beyond the other.
WIDEST = 2 * math.pi - 0.1

# Special types whose coordinates _coordinates leaves out. `_add_ball` adds what acts along those of a ball, builder.py
# adds sticks for a distance, and a wheel has no coordinates. The classes of these types have no motors.
SEPARATE = ("ball", "distance", "wheel")

# Names of the types in the order in which they are projected, whatever the order of the joints. Kernels are compiled
# for the types in their order, so models with the same kinds of joints share one.
ORDER = (
    "right angle", "slider", "damped spring", "torque", "rotor torque", "rim", "no slip", "ball torque", "ball limit",
    "angle limit", "counted angle limit", "vector product", "force", "rotor force", "shift limit", "gear",
    "right-handed", "turn counter",
)  # fmt: skip


class JointConstraints:
    """Adds constraints between frames to particles.

    If a joint of any world has a limit, a motor and so on, the joint has its constraint in all worlds.

    Args:
        particles: a pbd.Particles with the particles of the bodies.
        model: the rigid.Model of this world.
        frames: a Frame for each body.
        members: indices of the particles of each body.
        models: those of all worlds.
        rows: whether joints are scalar equalities where they can be, for the direct solve: what shared particles leave
            open as products of vectors; motors without a bound; limits without play.

    Attributes:
        bodies: those that constraints act on.
        motors: {name of a joint: (constraint type, number of the motor's constraint among those of its type)}.
        rotors: likewise, of joints with armature.
        of_joints: for each joint, a list of (constraint type, number of the constraint among those of its type).
        angles: for each joint, {place of a counted angle in its coordinates: a list}: (constraint type, number, name of
            the parameter) where full turns are counted.
    """

    def __init__(self, particles, model, frames, members, models, rows=False):
        self.particles, self.model, self.frames, self.members, self.models = particles, model, frames, members, models
        self.rows, self.bodies, self.motors, self.rotors = rows, set(), {}, {}
        self.of_joints, self._joint = [[] for _ in model.joints], None
        self.angles, self._counters = [{k: [] for k in joint.type.angles} for joint in model.joints], None
        self._ground = None

    def add_joints(self):
        """Add the constraints of all joints and gears. Particles that bodies share are not added here."""
        for index, joint in enumerate(self.model.joints):
            of_worlds, self._joint = [model.joints[index] for model in self.models], index
            if joint.type.special == "ball":
                self._add_ball(joint, of_worlds)
            elif joint.type.special == "wheel":
                self._add_wheel(joint)
            elif joint.type.special not in (None, "distance"):  # builder.py adds the sticks of a distance
                given = f"joint {joint.name!r} is a {joint.type.special!r}"
                raise NotImplementedError(f"{given}: solver 'verlet' has no constraints for this special type")
            if joint.type.translations or joint.type.right_angles:
                self._add_locks(joint)
            for k, (coordinate, bodies, numbers) in enumerate(self._coordinates(joint)):
                self._counters = self.angles[index].get(k)
                drives = [one.type.coordinates[k].drives(one) for one in of_worlds]
                own = joint.type.coordinates[k].drives(joint)
                self._add_drives(coordinate, bodies, numbers, own, drives, joint, of_worlds)
                limits = [one.coordinate_limits()[k] for one in of_worlds]
                self._add_limits(coordinate, bodies, numbers, joint.coordinate_limits()[k], limits, joint.breaks)
                if self._counters == []:
                    self._add(TURN_COUNTER, bodies, numbers)
                self._counters = None
        self._joint = None
        for one in self.model.gears:
            self._add_gear(one)
        for body in sorted(self.bodies - {GROUND}):
            corners, members = self._corners(body)
            volume = np.linalg.det(corners[[0, 2, 3]] - corners[1]) / 6
            self.particles.add_constraints(RIGHT_HANDED, members[None, [1, 0, 2, 3]], volume=LEAST_VOLUME * volume)
        sets = self.particles.constraint_sets
        ordered = sorted(sets.items(), key=lambda each: place_of(*each[0]))
        sets.clear()
        sets.update(ordered)

    def add_sticks(self, index, pairs, length=None, bound="equal"):
        """Add sticks of a joint. Args: index; pairs of particles (n, 2); length: None for the present [m]; bound."""
        if not self.model.joints[index].breaks:
            self.particles.add_sticks(pairs, length=length, bound=bound)
            return
        if length is None:
            length = np.linalg.norm(np.diff(self.particles.positions()[pairs], axis=1)[:, 0], axis=1)
        self._joint = index
        self._add_constraints(joint_stick(bound), pairs, {"length": length, "whole": 1.0})

    def add_spring(self, index, a, b):
        """Add a spring between two particles. Args: index: of the spring in the model; a, b: particles."""
        of_worlds = [model.springs[index] for model in self.models]
        spring = self.model.springs[index]
        if any(each.damping > 0 for each in of_worlds):
            numbers = {"length": spring.rest_length, "damping": spring.damping}
            self.particles.add_constraints(DAMPED_STICK, [(a, b)], compliance=compliance(spring.stiffness), **numbers)
        elif any(each.stiffness > 0 for each in of_worlds):
            self.particles.add_stick(a, b, length=spring.rest_length, compliance=compliance(spring.stiffness))

    # Numbers of constraints -------------------------------------------------------------------------------------------

    def _corners(self, body):
        """Corners of a body in its frame (4, 3) [m], and which particles they are.

        The ground's are pinned, at ±1 m on each axis.
        """
        if body == GROUND:
            if self._ground is None:
                self._ground = self.particles.add_particles(CORNERS, math.inf)
            return CORNERS, self._ground
        return self.frames[body].corners, self.members[body][:4]

    def _fixed(self, body, vectors):
        """Vectors (n, 3) of a body's frame as combinations of the frame axes (3 n,), see relative_rotation.py."""
        u = CORNERS.T @ self._corners(body)[0]
        e_0 = u[0] / np.linalg.norm(u[0])
        across = u[1] - u[1] @ e_0 * e_0
        e_1 = across / np.linalg.norm(across)
        return np.ravel(vectors @ np.stack([e_0, e_1, np.cross(e_0, e_1)]).T)

    def _anchors(self, joint):
        """The joint's points from the centres of the parent's and the child's corners, likewise, two (3,)."""
        ends = ((joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor))
        return [self._fixed(body, anchor - self._corners(body)[0].mean(axis=0)) for body, anchor in ends]

    def _coordinates(self, joint):
        """The coordinates of a joint that its type declares: [(Coordinate, its two bodies, its numbers)].

        Raises: NotImplementedError for one without a Coordinate here, because its limits and drives would be lost.
        """
        if joint.type.special in SEPARATE or not joint.type.coordinates:
            return []
        found, bodies, (at_parent, at_child) = [], (joint.parent, joint.child), self._anchors(joint)
        m, n, angle = joint.parent_axes, joint.child_axes, FREE_ANGLE if joint.type.slides else ANGLE
        for coordinate in joint.type.coordinates:
            if isinstance(coordinate, Shift):
                axis = self._fixed(joint.parent, m[[coordinate.axis]])
                found.append((SHIFT, bodies, (axis, at_parent, at_child)))
                continue
            if not isinstance(coordinate, Angle):
                given = f"joint {joint.name!r} has a coordinate {type(coordinate).__name__}"
                raise NotImplementedError(f"{given}: solver 'verlet' has shifts and angles alone")
            (a, b), (a_sine, b_sine) = coordinate.cosine, coordinate.sine
            if b == b_sine:  # the angle of the child's axis between two of the parent
                axes = self._fixed(joint.parent, m[[a, a_sine]]), self._fixed(joint.child, n[[b]])
                found.append((angle, bodies, (*axes, at_parent, at_child)))
            else:  # of the parent's axis between two of the child
                axes = self._fixed(joint.child, n[[b, b_sine]]), self._fixed(joint.parent, m[[a]])
                found.append((angle, bodies[::-1], (*axes, at_child, at_parent)))
        return found

    # Constraints ------------------------------------------------------------------------------------------------------

    def _add_locks(self, joint):
        """Add what a joint's type keeps closed, as far as shared particles leave it open (builder.py: joint_points)."""
        of_type, bodies = joint.type, (joint.parent, joint.child)
        if not of_type.slides and len(of_type.right_angles) != 1:
            return
        m, n, anchors = joint.parent_axes, joint.child_axes, self._anchors(joint)
        if self.rows or joint.breaks:
            self._add_products(joint)
        elif of_type.translations == (1, 2) and len(of_type.right_angles) == 3:
            self._add(SLIDER, bodies, (self._fixed(joint.parent, m), self._fixed(joint.child, n), *anchors))
        else:
            for a, b in of_type.right_angles:
                axes = self._fixed(joint.parent, m[[a]]), self._fixed(joint.child, n[[b]])
                self._add(FREE_RIGHT_ANGLE if of_type.slides else RIGHT_ANGLE, bodies, (*axes, *anchors))
            for a in of_type.translations if of_type.slides else ():
                self._add(coordinate_limit(SHIFT), bodies, (self._fixed(joint.parent, m[[a]]), *anchors, (0.0, 0.0)))

    def _add_products(self, joint):
        """Add what a joint's type keeps closed as products of vectors."""
        (at_parent, parents), (at_child, children) = self._corners(joint.parent), self._corners(joint.child)
        numbers = products_of(at_parent, at_child, joint)
        members = np.tile(np.concatenate([parents, children]), (len(numbers), 1))
        self._add_constraints(VECTOR_PRODUCT, members, dict(zip(VECTOR_PRODUCT.parameters, numbers.T)))
        self.bodies |= {joint.parent, joint.child}

    def _add(self, constraint_type, bodies, numbers, compliance=0.0):
        """Add one constraint.

        Args: constraint_type; bodies: whose corners it acts on; numbers: of the constraint in order, in pieces, without
        those that it updates itself, which begin with zero; compliance.
        """
        if not constraint_type.sensor:
            self.bodies |= set(bodies)
        if self._counters is not None and "last" in constraint_type.parameters:
            of_type = constraint_type.compliant if compliance > 0 else constraint_type
            self._counters.append((of_type, self._count(constraint_type, compliance > 0), "last"))
        members = np.concatenate([self._corners(body)[1] for body in bodies])
        numbers = np.concatenate([np.ravel(piece) for piece in numbers])
        numbers = dict(zip(constraint_type.parameters, [*numbers, *[0.0] * constraint_type.state_size], strict=True))
        self._add_constraints(constraint_type, members[None], numbers, compliance)

    def _add_constraints(self, constraint_type, members, numbers, compliance=0.0):
        """Add constraints of one type, and note whose they are. Args: see Particles.add_constraints."""
        if self._joint is not None:
            first, compliant = self._count(constraint_type, compliance > 0), constraint_type.compliant
            of_type = compliant if compliance > 0 else constraint_type
            self.of_joints[self._joint] += [(of_type, first + k) for k in range(len(members))]
        self.particles.add_constraints(constraint_type, members, compliance=compliance, **numbers)

    def _add_drives(self, coordinate, bodies, numbers, drives, drives_of_worlds, joint, of_worlds):
        """Add friction, motor and spring of a coordinate, and its armature.

        Args: drives, drives_of_worlds: Drives, here and in each world; joint, of_worlds: the joint, likewise.
        """
        constraint_type = coordinate_drive(coordinate)
        if any(one.friction > 0 for one in drives_of_worlds):
            given = 0.0, 0.0, 0.0, drives.friction, 0.0, UNLIMITED
            self._add(constraint_type, bodies, (*numbers, given), compliance(0.0))
        if any(one.motor for one in drives_of_worlds):
            bounded = not self.rows or joint.breaks or any(is_bounded(one.motor) for one in drives_of_worlds)
            number = self._count(constraint_type, bounded)
            self.motors[joint.name] = constraint_type.compliant if bounded else constraint_type, number
            given = compliance(motor_stiffness(drives.motor)) if bounded else 0.0
            self._add(constraint_type, bodies, (*numbers, motor_numbers(drives.motor)), given)
        if any(has_effect(one.spring) for one in drives_of_worlds):
            stiffness, damping, rest = spring_numbers(drives.spring)
            given = 0.0, rest, 0.0, 0.0, damping, UNLIMITED
            self._add(constraint_type, bodies, (*numbers, given), compliance(stiffness))
        if any(one.armature > 0 for one in of_worlds):
            rotor = rotor_drive(coordinate)
            self.rotors[joint.name] = rotor.compliant, self._count(rotor, True)
            self._add(rotor, bodies, (*numbers, (joint.armature,)), compliance(0.0))

    def _count(self, constraint_type, compliant):
        """How many constraints of a type there are already."""
        before = self.particles.constraint_sets.get((constraint_type, compliant))
        return sum(map(len, before.members)) if before else 0

    def _add_limits(self, coordinate, bodies, numbers, limits, limits_of_worlds, breaks):
        """Add the limits (low, high) of a coordinate. Args: limits_of_worlds: those of all worlds; breaks."""
        if not np.isfinite(limits_of_worlds).any():
            return
        low, high = limits
        if self.rows and not breaks and all(begin == end for begin, end in limits_of_worlds):
            # A servo without a bound that reaches its position within the step.
            given = 0.0, low, UNLIMITED, UNLIMITED, 0.0, UNLIMITED
            self._add(coordinate_drive(coordinate), bodies, (*numbers, given))
        elif coordinate.turns and max(end - begin for begin, end in limits_of_worlds) < WIDEST:
            middle, half = (low + high) / 2, (high - low) / 2
            m = rotated_axes(np.reshape(numbers[0], (2, 3)), middle)
            self._add(angle_limit(coordinate), bodies, (m, *numbers[1:], cosine_and_sine(half)))
        else:
            self._add(coordinate_limit(coordinate), bodies, (*numbers, (max(low, -UNLIMITED), min(high, UNLIMITED))))

    def _add_ball(self, joint, of_worlds):
        """Add swing and twist limits, friction and spring of a ball joint. Args: see `_add_drives`."""
        bodies = joint.parent, joint.child
        if np.isfinite([(one.swing_limit, *one.twist_limits) for one in of_worlds]).any():
            low, high = np.clip(joint.twist_limits, -math.pi, math.pi)
            m = np.reshape(self._fixed(joint.parent, joint.parent_axes), (3, 3))
            n = np.reshape(self._fixed(joint.child, joint.child_axes), (3, 3))
            widths = cosine_and_sine(joint.swing_limit), cosine_and_sine((high - low) / 2)
            numbers = m[0], n[0], rotated_axes(m[1:], (low + high) / 2), n[1], *self._anchors(joint), *widths
            self._add(BALL_LIMIT, bodies, numbers)
        # The spring is at rest at time zero, so both frames have the child's axes of time zero, not a tilted cone's.
        n = joint.child_axes
        m = self.model.body(joint.parent).local_direction(self.model.body(joint.child).world_direction(n))
        numbers = self._fixed(joint.parent, m), self._fixed(joint.child, n), self._anchors(joint)[1]
        if any(one.friction > 0 for one in of_worlds):
            self._add(BALL_DRIVE, bodies, (*numbers, (joint.friction, 0.0)), compliance(0.0))
        if any(has_effect(one.spring) for one in of_worlds):
            stiffness, damping, _ = spring_numbers(joint.spring)
            self._add(BALL_DRIVE, bodies, (*numbers, (0.0, damping)), compliance(stiffness))

    def _add_wheel(self, joint):
        """Add the constraints of a wheel on the corners of its frame."""
        frame, (normal, *tangents) = self.frames[joint.child], joint.parent_axes
        axes, hub = frame.weights(joint.child_axes) - frame.weights(np.zeros(3)), frame.weights(joint.child_anchor)
        plane = normal, [joint.parent_anchor @ normal, joint.radius]
        self._add(RIM, (joint.child,), (hub, axes[0], *plane))
        for tangent in tangents:
            self._add(NO_SLIP, (joint.child,), (hub, axes, normal, [joint.radius], tangent))

    def _add_gear(self, one):
        """Add a gear between two joints of one coordinate each. The joints may share bodies."""
        (a, bodies_a, numbers_a), (b, bodies_b, numbers_b) = (
            self._coordinates(self.model.joints[index])[0] for index in (one.joint_a, one.joint_b)
        )
        bodies = list(dict.fromkeys((*bodies_a, *bodies_b)))
        constraint_type = gear(a, b, tuple(bodies.index(body) for body in (*bodies_a, *bodies_b)))
        for coordinate, joint, last in ((a, one.joint_a, "last_a"), (b, one.joint_b, "last_b")):
            if coordinate.turns:
                self.angles[joint][0].append((constraint_type, self._count(constraint_type, False), last))
        self._add(constraint_type, bodies, (*numbers_a, *numbers_b, (one.ratio,)))


def compliance(stiffness):
    """1/k [m/N or rad/(N m)]. For k = 0 it is so large that no energy is stored.

    Friction and motors have a compliance, too, because only constraints with a compliance accumulate λ.
    """
    return 1 / max(stiffness, 1e-30)


def motor_numbers(motor):
    """Speed, position, position gain, effort, damping and largest speed of a Motor or None, as `coordinate_drive` has
    them."""
    if motor is None or (motor.is_compliant and motor.max_effort == 0.0):
        return 0.0, 0.0, 0.0, 0.0, 0.0, UNLIMITED
    if motor.torque is not None:
        return *torque_numbers(motor.torque).values(), 0.0, UNLIMITED
    target, effort = (motor.speed or 0.0, motor.position or 0.0), min(motor.max_effort, UNLIMITED)
    if motor.is_compliant:
        return *target, 0.0, -effort, motor.damping or 0.0, UNLIMITED
    gain = 0.0 if motor.position is None else motor.position_gain
    return *target, gain, effort, 0.0, min(motor.max_speed, UNLIMITED)


def motor_stiffness(motor):
    """Stiffness of a compliant motor that has an effort, zero for others and for None."""
    return 0.0 if motor is None or motor.max_effort == 0.0 else motor.stiffness or 0.0


def is_bounded(motor):
    """Whether a motor is not an equality: its effort is bounded or given, or there is none. Args: a Motor or None."""
    return motor is None or motor.torque is not None or motor.is_compliant or motor.max_effort < UNLIMITED


def place_of(constraint_type, compliant):
    """Sort key of a type of constraints: pbd's own and the user's come first, as they were added, then ORDER."""
    name = getattr(constraint_type, "name", None)  # pbd's own types are names
    return (ORDER.index(name), compliant) if name in ORDER else (-1, False)


def torque_numbers(torque):
    """Numbers of a motor with a constant torque, or arrays of them: the effort that it always has on the way to a speed
    that it never reaches."""
    zero = np.zeros_like(torque)
    return {
        "speed": np.copysign(UNLIMITED, torque), "position": zero, "gain": zero, "effort": np.abs(torque),
    }  # fmt: skip


def cosine_and_sine(half):
    """Cosine and sine of half the width of limits, at most π; exactly (-1, 0) if there is no limit."""
    return (-1.0, 0.0) if half >= math.pi else (math.cos(half), math.sin(half))


def rotated_axes(m, angle):
    """Axes m_1 and m_2 (2, 3), rotated by an angle from the first to the second."""
    return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]) @ m
