"""The energy of passive bodies: it is watched in every substep, and bounded.

Without motors, forces, paths, grab springs and changes of gravity the energy E of a world cannot grow. A substep begins
with its rows written at the present poses, so the energy that springs and soft rows store is known there. Velocities
are half a step behind the poses. Gravity has not yet accelerated them, which makes up for that to first order:

    E = Σ (m v²/2 + ω·Iω/2 + h m v·g/2 - m g·x) + stored

The rise of E over its lowest value is measured in parts of a scale S, the weight times the size of all bodies and
joints, and the energy of motion and of springs at the start. Kinetic energy K pays for a rise above MOST_RISE:

    V *= √(1 - (E - lowest - MOST_RISE S)/K)    or 0,   so that E <= lowest + MOST_RISE S wherever K suffices

A common factor keeps J V = 0. So no error of a method can accumulate to more than that, but what is lost this way is
lost motion. Substeps are divided further before it comes to this (parts.py). What is above WARNED_RISE nevertheless is
a UserWarning, and what is above LARGEST_RISE raises Diverged.

Source: ours. Su, Sheth and Fedkiw, Energy conservation for the simulation of deformable bodies (2013), and Dinev and
others, FEPR: fast energy projection for real-time simulation of deformable objects (2018), project velocities onto
the energy, too.
"""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.arrays import Columns, Integer, Real, count
from rigid.constraints.joints.gaps import joint_gaps
from rigid.kernels.motion import ANGULAR, MASS, POSE, VELOCITY, gravity_of, multiply_inertia
from rigid.kernels.vectors import load_quaternion, load_vector
from rigid.names import GROUND
from rigid.solvers.report import REPORT

# Rises of the energy over its lowest value, in parts of the scale: which the kinetic energy pays for,
# of which a warning tells, and at which the run is given up.
MOST_RISE, WARNED_RISE, LARGEST_RISE = 0.02, 0.04, 10.0

# The gap of a joint of which a warning tells, in parts of the mean distance of joints.
WARNED_GAP = 0.1

# The lowest energy [J]; the scale [J], 0 before the first substep; the largest rise in the last substep, in parts of
# the scale, and the largest gap of a joint then, in parts of the mean distance of joints; how often substeps are halved
# because of them, and for how many substeps in turn they were small.
WATCH = Columns(lowest=1, scale=1, rise=1, gap=1, halvings=1, calm=1)


class Watch(NamedTuple):
    """The energy of each world, as long as it is passive."""

    numbers: Real(count.worlds, WATCH, kept=True)
    zero: Integer(count.worlds)  # see rigid/solvers/parts.py
    size: Real(count.worlds)  # of all bodies and joints together [m]
    link: Real(count.worlds)  # mean size of a body between joints [m]
    swing: Real(count.worlds, count.bodies)  # ω²/g of a body that swings about a joint, see `swings` [1/m]


def watch_values(models, worlds, radii):
    """Numbers of a Watch. Args: models: one for all worlds, or one for each; worlds; radii: of bodies that
    may touch [m]."""
    size = np.broadcast_to([extent(model) + np.sum(radii) for model in models], worlds)
    link = np.broadcast_to([link_lengths(model) / max(len(model.joints), 1) for model in models], worlds)
    found = np.broadcast_to([swings(model) for model in models], (worlds, len(models[0].bodies) + 1))
    return {"size": np.array(size, float), "link": np.array(link, float), "swing": np.array(found, float)}


def extent(model):
    """Length of the way through all bodies, from joint to joint [m], and what springs give way under their weight.

    Args: a rigid.Model.
    """
    weight = model.masses.sum() * np.linalg.norm(model.gravity)
    soft = [joint.soft for joint in model.joints if joint.soft is not None]
    sag = sum(weight / each.stiffness for each in [*model.springs, *soft] if each.stiffness > 0)
    sag += sum(np.linalg.norm(model.gravity) / (2 * np.pi * each.frequency) ** 2 for each in soft if each.frequency)
    ends = [np.linalg.norm(end) for spring in model.springs for end in (spring.anchor_a, spring.anchor_b)]
    return link_lengths(model) + sum(ends) + sum(spring.rest_length for spring in model.springs) + sag


def link_lengths(model):
    """Sum of the distances of joints from the centres of mass of their bodies [m]. Args: a rigid.Model."""
    ends = [end for joint in model.joints for end in ends_of(joint)]
    return sum(np.linalg.norm(anchor) for body, anchor in ends if body != GROUND)


def swings(model):
    """ω²/g of each body that swings about a joint, d/(d² + I/m), and zero for the ground (bodies + 1,) [1/m].

    d is the distance of the joint from the centre of mass. The largest moment I counts, as that is the slowest swing.
    """
    found = np.zeros(len(model.bodies) + 1)
    for joint in model.joints:
        for body, anchor in ends_of(joint):
            if body != GROUND and model.bodies[body].path is None:
                gyration = np.linalg.eigvalsh(model.bodies[body].inertia)[-1] / model.bodies[body].mass
                distance = np.linalg.norm(anchor)
                found[body] = max(found[body], distance / (distance**2 + gyration))
    return found


def ends_of(joint):
    """Bodies and anchors of a joint."""
    return (joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor)


def is_driven(model):
    """Whether something in a model may do work: a motor, or a body on a path. Args: a rigid.Model."""
    motors = [joint.motor for joint in model.joints if joint.motor is not None]
    return bool(motors) or any(body.path is not None for body in model.bodies)


def trouble_of(solver, report):
    """What a warning says about a launch, "" if its energy and joints are as they should be.

    Args: solver: a RowSolver; report: of its last launch (worlds, REPORT).
    """
    rises, gaps = report[:, REPORT.rise], report[:, REPORT.gap]
    if not (rises.max() > WARNED_RISE or gaps.max() > WARNED_GAP):
        return ""
    world = int(np.argmax(np.maximum(rises / WARNED_RISE, gaps / WARNED_GAP)))
    said = f"energy has risen by {rises[world]:.2g} of its scale without a drive"
    if gaps[world] / WARNED_GAP > rises[world] / WARNED_RISE:
        said = f"a joint is open by {gaps[world]:.2g} of a link"
    time = solver.time + solver.dt / solver.substeps * max(report[world, REPORT.risen_substep], 0)
    with np.errstate(over="ignore", invalid="ignore"):
        state = solver._snapshot_of(world)
        of_joints = np.nan_to_num(joint_gaps(solver.model, state)) if state else np.zeros(0)
    if of_joints.any():
        said += f", mostly {solver.model.joints[int(of_joints.argmax())].name!r}"
    return f'solver "{solver.name}", world {world}, {time:.6g} s: {said}: expected a shorter step or more iterations'


@ti.func
def is_trouble(rise, gap):
    """Whether a warning tells of these."""
    return rise > WARNED_RISE or gap > WARNED_GAP


@ti.func
def watch_energy(s: ti.template(), stored, gap, world):
    """Measure the energy at the start of a substep, and bound it.

    Args: stored: by rows, written at the poses [J]; gap: the largest of a joint [m].
    """
    if s.step.watched == 1:
        n = ti.static(s.watch.numbers)
        kinetic, potential, weight = energy_of_bodies(s, world)
        total = kinetic + potential + stored
        scale = n[world, WATCH.scale]
        if scale == 0.0:
            scale = weight * s.watch.size[world] + kinetic + stored
            n[world, WATCH.scale], n[world, WATCH.lowest] = scale, total
        lowest = ti.min(n[world, WATCH.lowest], total)
        n[world, WATCH.lowest] = lowest
        rise = 0.0
        if scale > 0.0:
            rise = (total - lowest) / scale
        if not (rise <= s.report[world, REPORT.rise]):
            s.report[world, REPORT.rise] = rise
        excess = total - lowest - MOST_RISE * scale
        if ti.static(not s.features.bounded):
            excess = 0.0
        if excess > 0.0:
            factor = 0.0
            if kinetic > excess:
                factor = ti.sqrt(1.0 - excess / kinetic)
            for body in range(s.bodies.pose.shape[1] - 1):
                for k in ti.static(range(2 * ANGULAR)):
                    s.bodies.velocity[world, body, k] = factor * s.bodies.velocity[world, body, k]
        opened = 0.0
        if s.watch.link[world] > 0.0:
            opened = gap / s.watch.link[world]
        n[world, WATCH.rise] = ti.max(n[world, WATCH.rise], rise)
        n[world, WATCH.gap] = ti.max(n[world, WATCH.gap], opened)
        s.report[world, REPORT.gap] = ti.max(s.report[world, REPORT.gap], opened)


@ti.func
def energy_of_bodies(s: ti.template(), world):
    """Kinetic energy at the time of the poses, and potential energy [J], and the weight [N], of all bodies."""
    gravity = gravity_of(s, world)
    kinetic, potential, weight = 0.0, 0.0, 0.0
    for body in range(s.bodies.pose.shape[1] - 1):
        m = s.bodies.mass[world, body, MASS.mass]
        v = load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
        w = load_vector(s.bodies.velocity, body, VELOCITY.angular, world)
        q = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
        kinetic += 0.5 * (m * v.norm_sqr() + w.dot(multiply_inertia(s.bodies, body, q, w, world)))
        kinetic += 0.5 * s.step.h * m * v.dot(gravity)
        potential -= m * gravity.dot(load_vector(s.bodies.pose, body, POSE.position, world))
        weight += m * gravity.norm()
    return kinetic, potential, weight
