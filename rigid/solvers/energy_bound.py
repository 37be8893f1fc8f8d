"""The energy of passive bodies: it is watched in every substep, and bounded.

Without motors, forces, paths, grab springs and changes of gravity the energy E of a world cannot grow. A substep begins
with its rows written at the present poses, so the energy that springs and soft rows store is known there. Velocities
are half a step behind the poses. Gravity has not yet accelerated them, which makes up for that to first order:

    E = Σ (m v²/2 + ω·Iω/2 + h m v·g/2 - m g·x) + stored

The rise of E over its lowest value is measured in parts of a scale S, the weight times the size of all bodies and
joints, and the energy of motion and of springs at the start. Bodies that are free of joints and springs cannot raise E.
The kinetic energy K of the others pays for a rise above MOST_RISE:

    V *= √(1 - (E - lowest - MOST_RISE S)/K)    or 0,   so that E <= lowest + MOST_RISE S wherever K suffices

A common factor keeps J V = 0. So no error of a method can accumulate to more than that, but what is lost this way is
lost motion. Substeps are divided further before it comes to this (adaptive_substeps.py). If E has risen by more than
WARNED_RISE at the start of a substep nevertheless, there is a UserWarning, and Diverged is raised above LARGEST_RISE
(energy_warning.py).

Source: ours. Su, Sheth and Fedkiw, Energy conservation for the simulation of deformable bodies (2013), and Dinev and
others, FEPR: fast energy projection for real-time simulation of deformable objects (2018), project velocities onto
the energy, too.
"""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import Columns, Real, count, load_quaternion, load_vector
from pbd.core.quaternions import rotate_back
from rigid.constraints.joints.rotors import rotor_energy, scale_rotors
from rigid.kernels.matrices import multiply_symmetric
from rigid.kernels.motion import ANGULAR, MASS, POSE, VELOCITY, gravity_on
from rigid.names import GROUND
from rigid.solvers.report import REPORT

# Rises of the energy over its lowest value, in parts of the scale: which the kinetic energy pays for,
# of which a warning tells, and at which the run is given up.
MOST_RISE, WARNED_RISE, LARGEST_RISE = 0.02, 0.04, 10.0

# Values of `step.watched`: nothing is watched; energy and gaps of joints are; gaps alone are, as contacts store energy;
# motors with a position are, by the solver "penalty" (rigid/solvers/penalty/runaway.py).
UNWATCHED, WATCHED, GAPS_WATCHED, MOTORS_WATCHED = range(4)

# The gap of a joint of which a warning tells, in parts of the mean distance of joints.
WARNED_GAP = 0.1

# The lowest energy [J]; the scale [J], 0 before the first substep; the rise at the start of the last part of a substep,
# in parts of the scale, and the largest gap of a joint then, in parts of the mean distance of joints; how often parts
# are halved because of them, and for how many substeps they were small; both at the start of the part before.
WATCH = Columns(lowest=1, scale=1, rise=1, gap=1, halvings=1, calm=1, last_rise=1, last_gap=1)


class Division(NamedTuple):
    """Rules by which a solver divides substeps into parts (adaptive_substeps.py)."""

    most_halvings: int  # how often at most parts are halved where the energy rises; -1 if substeps are not divided
    by_gaps: bool = True  # whether they are halved where joints open, too

    def divides(self):
        """Whether substeps are divided."""
        return self.most_halvings >= 0


# Joints that are springs store energy in rows that scale with the pose, so shorter parts help them less.
UNDIVIDED, OF_IMPULSES, OF_SPRINGS = Division(-1), Division(8), Division(4, by_gaps=False)


def is_bounded(features):
    """Whether velocities are reduced, and substeps divided further, where the energy rises: not with contacts."""
    return features.division.divides() and not features.contacts


# Size of all bodies and joints together [m]; mean size of a body between joints [m].
LENGTH = Columns(size=1, link=1)

# ω²/g of a body that swings about a joint, see `swings` [1/m]; 1 if no joint and no spring acts on a body.
OF_BODY = Columns(swing=1, free=1)


class Watch(NamedTuple):
    """The energy of each world, as long as it is passive."""

    numbers: Real(count.worlds, WATCH, kept=True)
    lengths: Real(count.worlds, LENGTH)
    bodies: Real(count.worlds, count.bodies, OF_BODY)


def watch_values(models, worlds, radii):
    """Numbers of a Watch.

    Args: models: one for all worlds, or one for each; worlds; radii: of bodies that may touch [m].
    """
    lengths = [(extent(each) + np.sum(radii), link_lengths(each) / max(len(each.joints), 1)) for each in models]
    bodies = [np.column_stack([swings(each), free_bodies(each)]) for each in models]
    return {
        "lengths": np.array(np.broadcast_to(lengths, (worlds, LENGTH.total)), float),
        "bodies": np.array(np.broadcast_to(bodies, (worlds, len(models[0].bodies) + 1, OF_BODY.total)), float),
    }


def extent(model):
    """Length of the way through all bodies, from joint to joint [m], and what springs give way under their weight.

    Bodies that turn about their centres count by their radii of gyration. Args: a rigid.Model.
    """
    weight = model.masses.sum() * np.linalg.norm(model.gravity)
    soft = [joint.soft for joint in model.joints if joint.soft is not None]
    sag = sum(weight / each.stiffness for each in [*model.springs, *soft] if each.stiffness > 0)
    sag += sum(np.linalg.norm(model.gravity) / (2 * np.pi * each.frequency) ** 2 for each in soft if each.frequency)
    ends = [np.linalg.norm(end) for spring in model.springs for end in (spring.anchor_a, spring.anchor_b)]
    gyration = sum(radius_of_gyration(body) for body in model.bodies if model.joints)
    return max(link_lengths(model), gyration) + sum(ends) + sum(spring.rest_length for spring in model.springs) + sag


def link_lengths(model):
    """Sum of the distances of joints from the centres of mass of their bodies [m]. Args: a rigid.Model."""
    ends = [end for joint in model.joints for end in ends_of(joint)]
    return sum(np.linalg.norm(anchor) for body, anchor in ends if body != GROUND)


def radius_of_gyration(body):
    """The largest of a body, √(I/m) [m]."""
    return np.sqrt(np.linalg.eigvalsh(body.inertia)[-1] / body.mass)


def swings(model):
    """ω²/g of each body that swings about a joint, d/(d² + I/m), and zero for the ground (bodies + 1,) [1/m].

    d is the distance of the joint from the centre of mass. The largest moment I counts, as that is the slowest swing.
    """
    found = np.zeros(len(model.bodies) + 1)
    for joint in model.joints:
        for body, anchor in ends_of(joint):
            if body != GROUND and model.bodies[body].path is None:
                distance, gyration = np.linalg.norm(anchor), radius_of_gyration(model.bodies[body])
                found[body] = max(found[body], distance / (distance**2 + gyration**2))
    return found


def free_bodies(model):
    """1 for each body without joints and springs, and zero for the ground (bodies + 1,)."""
    found = np.ones(len(model.bodies) + 1, int)
    found[len(model.bodies)] = 0
    for joint in model.joints:
        found[[joint.parent, joint.child]] = 0
    for spring in model.springs:
        found[[spring.a, spring.b]] = 0
    return found


def ends_of(joint):
    """Bodies and anchors of a joint."""
    return (joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor)


@ti.func
def is_trouble(rise, gap):
    """Whether a warning tells of these."""
    return rise > WARNED_RISE or gap > WARNED_GAP


@ti.func
def watch_energy(s: ti.template(), stored, gap, world):
    """Measure the energy at the start of a substep or a part, and bound it.

    Args: stored: by rows, written at the poses [J]; gap: the largest of a joint [m].
    """
    n = ti.static(s.watch.numbers)
    if s.step.watched == WATCHED:
        kinetic, total, weight = energy_of_bodies(s, world)
        total += stored
        scale = n[world, WATCH.scale]
        if scale == 0.0:
            scale = weight * s.watch.lengths[world, LENGTH.size] + kinetic + stored
            n[world, WATCH.scale], n[world, WATCH.lowest] = scale, total
        lowest = ti.min(n[world, WATCH.lowest], total)
        n[world, WATCH.lowest] = lowest
        n[world, WATCH.rise] = 0.0
        if scale > 0.0:
            n[world, WATCH.rise] = (total - lowest) / scale
        if ti.static(is_bounded(s.features)):
            pay(s, total - lowest - MOST_RISE * scale, world)
    if s.step.watched != UNWATCHED:
        n[world, WATCH.gap] = 0.0
        if s.watch.lengths[world, LENGTH.link] > 0.0:
            n[world, WATCH.gap] = gap / s.watch.lengths[world, LENGTH.link]


@ti.func
def pay(s: ti.template(), excess, world):
    """Reduce all velocities of bodies with joints or springs by a common factor. Args: excess: energy to take [J]."""
    if excess > 0.0:
        kinetic = rotor_energy(s, world)
        for body in range(s.bodies.pose.shape[1] - 1):
            if s.watch.bodies[world, body, OF_BODY.free] == 0.0:
                kinetic += kinetic_energy(s, body, world)
        factor = 0.0
        if kinetic > excess:
            factor = ti.sqrt(1.0 - excess / kinetic)
        scale_rotors(s, factor, world)
        for body in range(s.bodies.pose.shape[1] - 1):
            if s.watch.bodies[world, body, OF_BODY.free] == 0.0:
                for k in ti.static(range(2 * ANGULAR)):
                    s.bodies.velocity[world, body, k] = factor * s.bodies.velocity[world, body, k]


@ti.func
def report_rise(s: ti.template(), world):
    """Report how far the energy had risen, and joints were open, at the start of the last part."""
    n = ti.static(s.watch.numbers)
    if s.step.watched != UNWATCHED:
        rise = n[world, WATCH.rise]
        if not rise <= s.report[world, REPORT.rise]:  # true if it is not finite
            s.report[world, REPORT.rise] = rise
        s.report[world, REPORT.gap] = ti.max(s.report[world, REPORT.gap], n[world, WATCH.gap])


@ti.func
def kinetic_energy(s: ti.template(), body, world):
    """Kinetic energy of a body at its present velocity, half a step behind its pose [J]."""
    v = load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
    q = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
    w = rotate_back(q, load_vector(s.bodies.velocity, body, VELOCITY.angular, world))
    angular_momentum = multiply_symmetric(s.bodies.mass, body, MASS.inertia, w, world)
    return 0.5 * (s.bodies.mass[world, body, MASS.mass] * v.norm_sqr() + w.dot(angular_momentum))


@ti.func
def energy_of_bodies(s: ti.template(), world):
    """Kinetic energy and that with the potential energy, at the time of the poses [J], and the weight of all [N]."""
    kinetic, potential, weight = rotor_energy(s, world), 0.0, 0.0
    for body in range(s.bodies.pose.shape[1] - 1):
        m, gravity = s.bodies.mass[world, body, MASS.mass], gravity_on(s, body, world)
        v = load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
        kinetic += kinetic_energy(s, body, world) + 0.5 * s.step.h * m * v.dot(gravity)
        potential -= m * gravity.dot(load_vector(s.bodies.pose, body, POSE.position, world))
        weight += m * gravity.norm()
    return kinetic, kinetic + potential, weight
