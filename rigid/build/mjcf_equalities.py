"""Equality constraints of a compiled MuJoCo model as joints and gears of a Model.

    connect   ball, if both points coincide at the start
    weld      fixed, if both frames do
    joint     gear, if it is linear: q_1 = c_1 q_2, counted from the starting pose
"""

import numpy as np

from rigid.build.mjcf_joints import BALL, TOGETHER
from rigid.names import GROUND
from rigid.rotation import multiply

CONNECT, WELD, OF_JOINTS = range(3)  # mjtEq
OF_BODIES = 1  # mjtObj


def add_equality(reader, k):
    """Add equality constraint k to a Model. Args: reader: a rigid.build.mjcf.Reader. Returns: whether it was added."""
    m = reader.compiled
    if not m.eq_active0[k]:
        return False
    if m.eq_type[k] == OF_JOINTS:
        return add_gear(reader, k)
    if m.eq_type[k] not in (CONNECT, WELD) or m.eq_objtype[k] != OF_BODIES:
        return False
    return join(reader, k)


def join(reader, k):
    """Join two bodies at a point of both, or at a frame."""
    m, data, given = reader.compiled, reader.data, reader.compiled.eq_data[k]
    ids = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    parent, child = (reader.index_of(body) for body in ids)
    local = (given[:3], given[3:6]) if m.eq_type[k] == CONNECT else (given[3:6], given[:3])
    points = [data.xpos[body] + data.xmat[body].reshape(3, 3) @ point for body, point in zip(ids, local)]
    if np.abs(points[0] - points[1]).max() > TOGETHER:
        return False
    if m.eq_type[k] == WELD:
        turned = multiply(data.xquat[ids[0]], given[6:10])
        if 1 - abs(turned @ data.xquat[ids[1]]) > TOGETHER:
            return False
    if parent == child:
        return True
    if child == GROUND:
        parent, child = child, parent
    add = reader.model.add_ball if m.eq_type[k] == CONNECT else reader.model.add_fixed
    add(parent, child, points[1], collide=True, name=reader.name_of("equality", k))
    return True


def add_gear(reader, k):
    """Add an equality constraint of two joints as a gear."""
    m = reader.compiled
    joints = [int(m.eq_obj1id[k]), int(m.eq_obj2id[k])]
    constant, ratio, *higher = map(float, m.eq_data[k, :5])
    if joints[1] < 0 or any(higher) or not ratio:
        return False
    first, second = (reader.data.qpos[place] - m.qpos0[place] for place in m.jnt_qposadr[joints])
    single = [reader.joints.get(joint) for joint in joints]
    if None in single or BALL in m.jnt_type[joints] or abs(first - constant - ratio * second) > TOGETHER:
        return False
    reader.model.add_gear(single[1], single[0], ratio, name=reader.name_of("equality", k))
    return True
