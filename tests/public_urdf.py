"""URDF files of the package example-robot-data: bodies of a Model beside those of pinocchio.

    PYTHONPATH=. python tests/public_urdf.py    the table of docs/guides/robots.md

It needs the packages pin, example-robot-data and pycollada.
"""

import re
import sys
from pathlib import Path

import numpy as np
from robots import loaded

from rigid import rotation
from rigid.build import load_urdf
from rigid.names import GROUND

# Words of the warning about masses and inertias that are not those of the file.
REPLACED = re.compile("inertias that no body can have|links without mass|links without inertia")


def public_robots():
    """Pairs of the path of a robot and the packages that it needs, sorted. Files without links are parts of others."""
    for directory in (Path(entry) / "cmeel.prefix/share/example-robot-data" for entry in dict.fromkeys(sys.path)):
        for path in sorted(directory.rglob("*.urdf")):
            if re.search(r"<link\s", path.read_text(encoding="utf-8")):
                yield path, {"example-robot-data": directory}


def agreement(path, packages, poses=5, seed=1):
    """Compare a URDF file with pinocchio. Args: path; packages: of load_urdf; poses: how many; seed: of random ones.

    Returns: the Model; what its warning says; pinocchio's number of joints; relative errors of masses and inertias, and
    of poses. Links without mass have neither in pinocchio and count for the joints alone.
    """
    import pinocchio

    model, said = loaded(path, load_urdf, packages=packages, floating=False)
    reference = pinocchio.buildModelFromUrdf(str(path))
    data, random = reference.createData(), np.random.default_rng(seed)
    start = {joint.name: start_of(reference, joint.name) for joint in model.joints}
    inertia = pose = 0.0
    for _ in range(poses):
        moved = {name: random.uniform(-1, 1) for name in start}
        pinocchio.forwardKinematics(reference, data, positions(reference, start, moved))
        size = 1e-9 + max((np.abs(each.translation).max() for each in data.oMi), default=0.0)
        for joint, (x, q) in moved_poses(model, moved):
            k = reference.getJointId(joint.name)
            given, body = reference.inertias[k], model.bodies[joint.child]
            if given.mass == 0:
                continue
            pose = max(pose, np.abs(x - data.oMi[k].act(given.lever)).max() / size)
            R, Q = rotation.to_matrix(q), data.oMi[k].rotation
            difference = np.abs(R @ body.inertia @ R.T - Q @ given.inertia @ Q.T).max() / np.abs(body.inertia).max()
            inertia = max(inertia, difference, abs(body.mass / given.mass - 1))
    return model, said, reference.njoints - 1, inertia, pose


def start_of(reference, name):
    """Position of a joint at the start of the Model: zero, or the nearest end of its range."""
    joint = reference.joints[reference.getJointId(name)]
    low, high = (limits[joint.idx_q] for limits in (reference.lowerPositionLimit, reference.upperPositionLimit))
    return 0.0 if joint.nq == 2 or low == high else float(np.clip(0.0, low, high))


def positions(reference, start, moved):
    """pinocchio's positions of all joints. It has the cosine and sine of joints without limits."""
    import pinocchio

    q = pinocchio.neutral(reference)
    for name, value in moved.items():
        joint = reference.joints[reference.getJointId(name)]
        angle = start[name] + value
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
    return q


def moved_poses(model, moved):
    """Pairs of a joint and its child's pose, by the definitions in rigid/joint.py. Args: moved: {joint: position}."""
    poses, joints = {GROUND: (np.zeros(3), rotation.IDENTITY)}, {joint.child: joint for joint in model.joints}
    for index, body in enumerate(model.bodies):
        joint = joints[index]
        x, q = poses[joint.parent]
        axis, value = joint.parent_axes[0], moved[joint.name]
        shift, turn = np.zeros(3), rotation.IDENTITY
        if joint.kind == "slider":
            shift = value * axis
        else:
            turn = rotation.from_axis_angle(axis, value)
        before = rotation.multiply(rotation.conjugate(model.body(joint.parent).rotation), body.rotation)
        q_child = rotation.multiply(q, rotation.multiply(turn, before))
        point = x + rotation.rotate(q, joint.parent_anchor + shift)
        poses[index] = point - rotation.rotate(q_child, joint.child_anchor), q_child
        yield joint, poses[index]


if __name__ == "__main__":
    for path, packages in public_robots():
        model, said, joints, inertia, pose = agreement(path, packages)
        row = [path.stem, len(model.joints), joints, len(model.gears), sum(bool(j.motor) for j in model.joints),
               len(model.shapes), f"{model.masses.sum():.3g}", "" if REPLACED.search(said) else f"{inertia:.0e}",
               f"{pose:.0e}", said.partition(": ")[2]]  # fmt: skip
        sys.stdout.write(f"| {' | '.join(map(str, row))} |\n")
