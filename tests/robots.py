"""Robots of tests: bodies and joints of a Model beside those of MuJoCo's compiled model.

    PYTHONPATH=. python tests/robots.py DIRECTORY    the table of docs/guides/robots.md, for a directory
"""

import math
import re
import sys
import warnings
from pathlib import Path

import numpy as np

import rigid
from rigid import rotation
from rigid.build import load_mjcf
from rigid.build.mjcf import Reader, add_compiled, compiled_mjcf
from rigid.joints import NO_LIMITS
from rigid.names import GROUND

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint

UNMOVED = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])  # pose of a file's origin

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


def moving(path):
    """MuJoCo's mjModel of a file with a keyframe "moving": the start of a Model, with random velocities."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(path))
    start = Reader(spec.compile()).data
    qvel = np.random.default_rng(4).normal(size=start.qvel.size, scale=0.5)
    spec.add_key(name="moving", qpos=start.qpos, qvel=qvel)
    return spec.compile()


def motion_error(path, name, h, duration, keyframe=None, reference_step=5e-4, **options):
    """The largest distance of a body from where MuJoCo's Runge-Kutta takes it [m], and how far it moved [m].

    Both are without contacts, limits, dry friction and loops, which are soft in MuJoCo, and without what load_mjcf
    leaves out.

    Args: path: of an MJCF file; name: of a solver; h: its step [s]; duration: [s]; keyframe: where both start, "moving"
    for that of `moving`; reference_step: of MuJoCo [s]; options: of the solver.
    """
    compiled = moving(path) if keyframe == "moving" else compiled_mjcf(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = add_compiled(compiled, path, None, pose=UNMOVED, merge=False, link_mass=LIGHT[name], keyframe=keyframe)
    start = Reader(compiled, keyframe=keyframe).data
    before, expected = reference_motion(compiled, start, duration, reference_step)
    names = {compiled.joint(j).name for j in range(compiled.njnt)}
    model.gears.clear()
    model.joints[:] = [joint for joint in model.joints if joint.name in names or not joint.collide]
    for joint in model.joints:
        joint.friction = 0.0
        for limits in joint.limit_names:
            setattr(joint, limits, NO_LIMITS)
        if joint.kind == "ball":
            joint.swing_limit, joint.twist_limits = math.inf, NO_LIMITS
    solver = rigid.solver(name, model, dt=h, contacts=False, **options)
    solver.step(round(duration / h))
    found = solver.state().position
    errors = [np.linalg.norm(found[index] - expected[k]) for index, k in bodies_in_both(model, compiled)]
    ways = [np.linalg.norm(expected[k] - before[k]) for k in expected]
    return max(errors), max(ways)


def reference_motion(compiled, start, duration, step):
    """Centres of mass of all bodies before and after a motion by MuJoCo's Runge-Kutta: two dicts {body: (3,) [m]}."""
    import mujoco

    m, flags = compiled, mujoco.mjtDisableBit
    m.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_EQUALITY
    m.opt.density, m.opt.viscosity = 0.0, 0.0
    m.tendon_stiffness[:], m.tendon_damping[:] = 0.0, 0.0
    many = np.isin(m.jnt_type[m.dof_jntid], (FREE, BALL))
    m.dof_armature[many] = 0.0
    m.dof_damping[m.jnt_type[m.dof_jntid] == FREE] = 0.0
    loose = Reader(m).loose
    for k in range(m.nu):
        if (m.actuator(k).name or f"actuator {k}") in loose:
            m.actuator_gainprm[k], m.actuator_biasprm[k] = 0.0, 0.0
    mujoco.mj_setConst(m, mujoco.MjData(m))
    before, runge_kutta, good = integrated(m, start, duration, step, mujoco.mjtIntegrator.mjINT_RK4)
    if good:
        return before, runge_kutta
    # Dampers are too stiff for an explicit method. The implicit one is of first order, and here extrapolated.
    implicit = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    coarse, fine = (integrated(m, start, duration, h, implicit)[1] for h in (step, step / 2))
    return before, {k: 2 * fine[k] - coarse[k] for k in fine}


def integrated(compiled, start, duration, step, integrator):
    """Centres of mass before and after a motion by one of MuJoCo's integrators, and whether it was stable."""
    import mujoco

    m, centres = compiled, []
    m.opt.integrator, m.opt.timestep = integrator, step
    data = mujoco.MjData(m)
    data.qpos[:], data.qvel[:], data.ctrl[:] = start.qpos, start.qvel, start.ctrl
    for steps in (0, round(duration / step)):
        mujoco.mj_step(m, data, nstep=steps)
        mujoco.mj_kinematics(m, data)
        centres.append({k: centre_of(m, data, k) for k in np.unique(m.body_weldid)[1:]})
    return *centres, not data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number


def agreement(path, poses=10, seed=3):
    """Compare an MJCF file with MuJoCo; the number of joints is checked.

    Args: poses: how many; seed: of the random joint positions.

    Returns: the Model; what its warning says; the relative errors of masses and inertias, and of poses.
    """
    import mujoco

    model, said = loaded(path, merge=False, link_mass=1e-6)
    compiled, random = compiled_mjcf(path), np.random.default_rng(seed)
    start = Reader(compiled).data.qpos.copy()
    data = mujoco.MjData(compiled)
    data.qpos[:] = start
    mujoco.mj_kinematics(compiled, data)
    inertia = inertia_error(model, compiled, data)
    names = {compiled.joint(j).name for j in range(compiled.njnt)}
    in_tree = [joint for joint in model.joints if joint.name in names or not joint.collide]
    assert len(in_tree) == np.count_nonzero(compiled.jnt_type != FREE)
    pose = 0.0
    for _ in range(poses):
        data.qpos[:] = random_positions(compiled, random)
        mujoco.mj_kinematics(compiled, data)
        pose = max(pose, pose_error(model, compiled, data, moved_poses(model, compiled, data.qpos, start)))
    return model, said, inertia, pose


def public_models(directory):
    """MJCF files of a directory that MuJoCo compiles and that have joints, sorted."""
    import mujoco

    found = []
    for path in sorted(Path(directory).rglob("*.xml")):
        try:
            compiled = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:  # a part of a model
            continue
        if compiled.njnt:
            found.append(path)
    return found


def table(directory):
    """Print the table of docs/guides/robots.md for all models of a directory."""
    import taichi as ti

    ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
    for path in public_models(directory):
        model, said, inertia, pose = agreement(path)
        left_out = re.search(r"left out: (.*?)(\. approximated|\. welded|$)", said)
        armature, motors = (sum(bool(getattr(j, name)) for j in model.joints) for name in ("armature", "motor"))
        runs = [motion_error(path, "articulated", h, 1.0, "moving", 2e-4) for h in (0.002, 0.001, 0.0005)]
        row = [path.relative_to(directory), len(model.joints), armature, motors, f"{inertia:.0e}", f"{pose:.0e}",
               *(f"{1000 * error:.2g}" for error, _ in runs), f"{runs[0][1]:.2g}",
               left_out.group(1) if left_out else ""]  # fmt: skip
        sys.stdout.write(f"| {' | '.join(map(str, row))} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    table(sys.argv[1])
