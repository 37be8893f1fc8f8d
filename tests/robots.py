"""Robots of tests: bodies and joints of a Model beside those of MuJoCo's compiled model."""

import math
import warnings

import numpy as np

import rigid
from rigid import rotation
from rigid.build import load_mjcf
from rigid.build.mjcf import Reader, compiled_mjcf
from rigid.joint import NO_LIMITS
from rigid.names import GROUND

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint

# Parts of the mass in light bodies with which each solver converges.
LIGHT = {"articulated": 1e-6, "impulse": 0.02, "penalty": 0.02, "verlet": 0.02}


def loaded(path, loader=load_mjcf, **options):
    """The Model of a file, and what its warning says, "" for none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = loader(path, **options)
    said = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    assert len(said) <= 1, said
    return model, "".join(said)


def random_positions(compiled, random):
    """Random qpos of all joints within their ranges, and of free joints."""
    qpos = compiled.qpos0.copy()
    for j, place in enumerate(compiled.jnt_qposadr):
        kind = compiled.jnt_type[j]
        if kind in (SLIDE, HINGE):
            limited = compiled.jnt_limited[j]
            qpos[place] = random.uniform(*compiled.jnt_range[j]) if limited else random.uniform(-2, 2)
        else:
            first = place + 3 * (kind == FREE)
            turn = random.normal(size=4)
            qpos[first : first + 4] = turn / np.linalg.norm(turn)
            qpos[place:first] = random.normal(size=first - place)
    return qpos


def moved_poses(model, compiled, qpos, start):
    """Poses of a Model's bodies at joint positions of MuJoCo, by the definitions of the joints in rigid/joint.py.

    Args: model: loaded with merge=False; compiled; qpos: of MuJoCo; start: qpos of the Model's start. Joints are found
    by name, and free bodies move as their free joints do.

    Returns: {body: (position of the centre of mass, rotation)}.
    """
    poses = {GROUND: (np.zeros(3), rotation.IDENTITY)}
    joints, ids = {joint.child: joint for joint in model.joints}, dict(bodies_in_both(model, compiled))
    for index, body in enumerate(model.bodies):
        if index not in joints:
            poses[index] = free_pose(body, compiled.jnt_qposadr[compiled.body_jntadr[ids[index]]], qpos, start)
            continue
        joint = joints[index]
        place = compiled.jnt_qposadr[compiled.joint(joint.name).id]
        x, q = poses[joint.parent]
        shift, turn = np.zeros(3), rotation.IDENTITY
        parent = model.body(joint.parent)
        if joint.kind == "ball":  # the child's frame of before, then the rotation since the start
            axes = rotation.to_matrix(rotation.multiply(rotation.conjugate(parent.rotation), body.rotation))
            turn = rotation.multiply(rotation.conjugate(start[place : place + 4]), qpos[place : place + 4])
            turn = rotation.from_matrix(axes @ rotation.to_matrix(turn) @ axes.T)
        elif joint.kind == "slider":
            shift = (qpos[place] - start[place]) * joint.parent_axes[0]
        else:
            turn = rotation.from_axis_angle(joint.parent_axes[0], qpos[place] - start[place])
        turned = rotation.multiply(turn, rotation.multiply(rotation.conjugate(parent.rotation), body.rotation))
        q_child = rotation.multiply(q, turned)
        point = x + rotation.rotate(q, joint.parent_anchor + shift)
        poses[index] = point - rotation.rotate(q_child, joint.child_anchor), q_child
    return poses


def free_pose(body, place, qpos, start):
    """Pose of a free body. Args: place: of its free joint in qpos."""
    before, after = start[place : place + 7], qpos[place : place + 7]
    turn = rotation.multiply(after[3:], rotation.conjugate(before[3:]))
    return after[:3] + rotation.rotate(turn, body.position - before[:3]), rotation.multiply(turn, body.rotation)


def bodies_in_both(model, compiled):
    """Bodies that are not light ones between joints, with their indices in MuJoCo: the topmost of bodies welded."""
    heavy = [index for index, body in enumerate(model.bodies) if not body.name.endswith(" link")]
    return list(zip(heavy, np.unique(compiled.body_weldid)[1:], strict=True))


def pose_error(model, compiled, data, poses):
    """The largest difference of poses from MuJoCo's: of centres of mass relative to the model's size, of rotations.

    A centre of mass is that of all bodies welded together.
    """
    size, errors = 1e-9 + np.abs(data.xipos).max(), []
    for index, k in bodies_in_both(model, compiled):
        x, q = poses[index]
        errors.append(np.abs(x - centre_of(compiled, data, k)).max() / size)
        errors.append(np.abs(rotation.to_matrix(q) - data.xmat[k].reshape(3, 3)).max())
    return max(errors, default=0.0)


def centre_of(compiled, data, k):
    """Centre of mass of a body with all that is welded to it (3,) [m]."""
    welded = np.flatnonzero(compiled.body_weldid == k)
    return compiled.body_mass[welded] @ data.xipos[welded] / compiled.body_mass[welded].sum()


def inertia_error(model, compiled, data):
    """The largest difference of a body's mass or inertia from MuJoCo's, with what is welded to it, in parts of it.

    Light bodies between joints count for the body behind them. Args: data: at the Model's start.
    """
    errors, next_body = [], 0
    for index, k in bodies_in_both(model, compiled):
        parts, next_body = model.bodies[next_body : index + 1], index + 1
        turns = [rotation.to_matrix(part.rotation) for part in parts]
        found = sum(R @ part.inertia @ R.T for R, part in zip(turns, parts))
        welded = np.flatnonzero(compiled.body_weldid == k)
        masses = compiled.body_mass[welded]
        centre, expected = centre_of(compiled, data, k), np.zeros((3, 3))
        for each, m in zip(welded, masses):
            R, d = data.ximat[each].reshape(3, 3), data.xipos[each] - centre
            expected += R @ np.diag(compiled.body_inertia[each]) @ R.T + m * (d @ d * np.eye(3) - np.outer(d, d))
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
        errors.append(abs(sum(part.mass for part in parts) / masses.sum() - 1))
    return max(errors, default=0.0)


def motion_error(path, name, h, duration, keyframe=None, **options):
    """The largest distance of a body from where MuJoCo's integrator takes it without limits, contacts and friction [m].

    Args: path: of an MJCF file; name: of a solver; h: its step [s]; duration: [s]; keyframe: where
    both start; options: of the solver.
    """
    import mujoco

    model, _ = loaded(path, merge=False, link_mass=LIGHT[name], keyframe=keyframe)
    for joint in model.joints:
        joint.friction = 0.0
        for limits in joint.limit_names:
            setattr(joint, limits, NO_LIMITS)
        if joint.kind == "ball":
            joint.swing_limit, joint.twist_limits = math.inf, NO_LIMITS
    compiled = compiled_mjcf(path)
    flags = mujoco.mjtDisableBit
    compiled.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    data = mujoco.MjData(compiled)
    start = Reader(compiled, keyframe=keyframe).data
    data.qpos[:], data.qvel[:], data.ctrl[:] = start.qpos, start.qvel, start.ctrl
    while data.time < duration - 1e-9:
        mujoco.mj_step(compiled, data)
    mujoco.mj_kinematics(compiled, data)
    solver = rigid.solver(name, model, dt=h, contacts=False, **options)
    solver.step(round(duration / h))
    found, errors = solver.state().position, []
    for index, k in bodies_in_both(model, compiled):
        errors.append(np.linalg.norm(found[index] - centre_of(compiled, data, k)))
    return max(errors)
