"""Moves all of a compiled MuJoCo model to another place, before it is read."""

import numpy as np

from pbd.core.validate import finite_vector, unit_quaternion
from rigid.build.mjcf_equalities import CONNECT, OF_BODIES, WELD
from rigid.build.mjcf_joints import FREE
from rigid.rotation import conjugate, multiply, rotate


def checked_pose(position, rotation):
    """Position (3,) [m] and rotation (w, x, y, z) of a file's origin. Raises: TypeError or ValueError."""
    return finite_vector("position", position), unit_quaternion("rotation", rotation)


def place(compiled, position, rotation):
    """Move and rotate what a model has in the world: bodies, geoms, free joints, keyframes, equality constraints.

    Args: compiled: an mjModel, which changes; position (3,) [m], rotation (w, x, y, z): of the file's origin.
    """
    m = compiled

    def move(points, turns=None):
        """Move views of points (n, 3) and quaternions (n, 4) in place."""
        points[:] = position + rotate(rotation, points)
        if turns is not None:
            turns[:] = multiply(rotation, turns)

    for of, parents in (("body", m.body_parentid), ("geom", m.geom_bodyid), ("site", m.site_bodyid)):
        points, turns = getattr(m, f"{of}_pos"), getattr(m, f"{of}_quat")
        for k in np.flatnonzero(parents == 0):
            if of == "body" and k == 0:  # the world
                continue
            move(points[k : k + 1], turns[k : k + 1])
            if of != "body":
                getattr(m, f"{of}_sameframe")[k] = 0  # it is no longer at the origin
    for j in np.flatnonzero(m.jnt_type == FREE):
        first, dof = m.jnt_qposadr[j], m.jnt_dofadr[j]
        for qpos in (m.qpos0[None], m.key_qpos):
            move(qpos[:, first : first + 3], qpos[:, first + 3 : first + 7])
        m.key_qvel[:, dof : dof + 3] = rotate(rotation, m.key_qvel[:, dof : dof + 3])  # the spin is in the body's frame
    for k in range(m.nmocap):
        move(m.key_mpos[:, 3 * k : 3 * k + 3], m.key_mquat[:, 4 * k : 4 * k + 4])
    for k in np.flatnonzero(np.isin(m.eq_type, (CONNECT, WELD)) & (m.eq_objtype == OF_BODIES)):
        move_equality(m, k, move, rotation)


def move_equality(compiled, k, move, rotation):
    """Move what equality constraint k has in the frame of the world. Args: move: function of points; rotation."""
    m, given = compiled, compiled.eq_data[k]
    weld = m.eq_type[k] == WELD
    if m.eq_obj1id[k] == 0:
        move(given[None, 3:6] if weld else given[None, :3])
        if weld:
            given[6:10] = multiply(rotation, given[6:10])
    if m.eq_obj2id[k] == 0:
        move(given[None, :3] if weld else given[None, 3:6])
        if weld:
            given[6:10] = multiply(given[6:10], conjugate(rotation))
