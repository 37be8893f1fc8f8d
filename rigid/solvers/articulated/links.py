"""The arrays of trees: links, coordinates, speeds and what the sweeps along a tree leave; and poses as coordinates.

A link hangs on its parent by a joint frame. With P and C the frames of the joint in parent and child, one rotation of
the parent's axes to the world carries on to the child's:

    q_child = q_parent P Q C⁻¹,    x_child = x_parent + R_parent a + shift - R_child b

with a and b the joint's point in each, and Q the turn that the coordinates say. P's first axis is the joint's n_0. In a
tree that runs from a joint's child to its parent coordinates count the other way: Q⁻¹ is Q of -q, for a universal
joint with its axes exchanged.
"""

from typing import Any, NamedTuple

import numpy as np

from rigid.collision.data import array
from rigid.rotation import conjugate, from_matrix, multiply, normalised, rotate, rotate_back, to_matrix
from rigid.solvers.articulated.tree import (
    BALL,
    COORDINATES,
    FREE,
    FREEDOM,
    HINGE,
    SLIDER,
    UNIVERSAL,
    ends_of_trees,
    spanning_trees,
)


class Trees(NamedTuple):
    """L links of B bodies, with D speeds and Q coordinates in all; W worlds."""

    integers: Any  # (L, 11) i32: see below; only read
    link_of: Any  # (B + 1,) i32: each body's link, -1 for the ground, which is the last; only read
    numbers: Any  # (W, L, 14): see below; only read
    coordinates: Any  # (W, Q): of a hinge or slider q, of a universal joint two, of a ball a quaternion, of what
    # floats its position and a quaternion
    speeds: Any  # (W, 2, D): u, in stage 0 of a step, and the pseudo-speeds of stage 1
    axes: Any  # (W, D, 14): see below
    sums: Any  # (W, L, 33): see below


# Columns of `integers`: the body; the parent's link, -1 for the ground, and its body; the kind of joint; the first
# speed, how many, and the first coordinate; the tree's first link, the one behind its last, its first speed, how many.
BODY, PARENT, PARENT_BODY, KIND, SPEED, FREEDOMS, COORDINATE, TREE, TREE_END, TREE_SPEED, TREE_FREEDOMS = range(11)

# Columns of `numbers`: P; C⁻¹; the joint's point in parent and child.
FRAME, BACK, POINT_PARENT, POINT_CHILD = 0, 4, 8, 11

# Columns of `axes`, of each speed: s, the velocity it gives the body, linear and angular; U, the momentum that goes
# with it in the articulated body; 1/(sᵀU); sᵀp, of the momentum p that is to be shared out.
AXIS, MOMENTUM, INVERSE, SHARE = 0, 6, 12, 13

# Columns of `sums`, of each link, about its centre of mass: the articulated inertia (M, H, K), momentum, linear and
# angular, of what hangs on it; and the same for one impulse, or a velocity that goes down the tree.
INERTIA, SUM, TEST = 0, 21, 27


class LinkTable:
    """Links of models, one model for all worlds or one each, of one structure. `links` is rigid/solvers/articulated/tree.py's;
    `held` are the joints in the trees."""

    def __init__(self, models, worlds):
        self.models, self.worlds, self.links = models, worlds, spanning_trees(models[0])
        self.held = {link.joint for link in self.links if link.joint is not None}
        self.speeds = np.cumsum([0, *(FREEDOM[link.kind] for link in self.links)])
        self.coordinates = np.cumsum([0, *(COORDINATES[link.kind] for link in self.links)])
        self.ends = ends_of_trees(self.links)
        self.numbers = np.stack([self._numbers(model) for model in models])

    @property
    def most_speeds(self):
        """Speeds of the tree that has most, at least one."""
        return max([1, *(self.speeds[end] - self.speeds[first] for first, end in self.ends)])

    def _numbers(self, model):
        """Columns of `numbers` of all links (L, 14)."""
        found = np.zeros((len(self.links), POINT_CHILD + 3))
        found[:, [FRAME, BACK]] = 1.0
        for row, link in zip(found, self.links):
            if link.joint is None:
                continue
            joint = model.joints[link.joint]
            ends = [(joint.parent_axes, joint.parent_anchor), (joint.child_axes, joint.child_anchor)]
            if link.reversed:
                ends.reverse()
            frames = [np.transpose(axes) for axes, _ in ends]
            if link.reversed and link.kind == UNIVERSAL:
                frames = [frame[:, [1, 0, 2]] * (1, 1, -1) for frame in frames]
            row[FRAME:BACK], row[BACK:POINT_PARENT] = from_matrix(frames[0]), conjugate(from_matrix(frames[1]))
            row[POINT_PARENT:POINT_CHILD], row[POINT_CHILD:] = ends[0][1], ends[1][1]
        return found

    def integers(self):
        """Columns of `integers` (L, 11)."""
        found = []
        for k, (link, (first, end)) in enumerate(zip(self.links, self.ends)):
            parent = self.links[link.parent].body if link.parent >= 0 else len(self.models[0].bodies)
            speeds, start = FREEDOM[link.kind], self.speeds[first]
            found.append([link.body, link.parent, parent, link.kind, self.speeds[k], speeds, self.coordinates[k],
                          first, end, start, self.speeds[end] - start])  # fmt: skip
        return np.reshape(found, (-1, TREE_FREEDOMS + 1)).astype(np.int32)

    def upload(self):
        """Taichi arrays: a Trees, at the models' starting poses."""
        states = [model.initial_state() for model in self.models]
        poses = np.stack([np.concatenate([state.position, state.rotation], axis=-1) for state in states])
        link_of = np.full(len(self.models[0].bodies) + 1, -1, np.int32)
        for k, link in enumerate(self.links):
            link_of[link.body] = k
        count, speeds = len(self.links), self.speeds[-1]

        def each(numbers):
            return array(np.broadcast_to(numbers, (self.worlds, *numbers.shape[1:])))

        return Trees(
            array(self.integers()), array(link_of), each(self.numbers), each(self.coordinates_of(poses)),
            array(np.zeros((self.worlds, 2, speeds))), array(np.zeros((self.worlds, speeds, SHARE + 1))),
            array(np.zeros((self.worlds, count, TEST + 6))),
        )  # fmt: skip

    def coordinates_of(self, poses, before=None):
        """Coordinates of poses (worlds, bodies, 7): (worlds, Q); what the joints do not allow is left out of them.

        Arguments: before: coordinates whose turns angles count on from; None for (-π, π].
        """
        found = np.zeros((len(poses), max(self.coordinates[-1], 1)))
        numbers = self.numbers
        for k, link in enumerate(self.links):
            here = poses[:, link.body]
            parent = np.tile(np.eye(7)[3], (len(poses), 1))
            if link.parent >= 0:
                parent = poses[:, self.links[link.parent].body]
            columns = slice(self.coordinates[k], self.coordinates[k + 1])
            start = multiply(parent[:, 3:], numbers[:, k, FRAME:BACK])
            turn = multiply(conjugate(start), multiply(here[:, 3:], conjugate(numbers[:, k, BACK:POINT_PARENT])))
            if link.kind == FREE:
                found[:, columns] = here
            elif link.kind == BALL:
                found[:, columns] = normalised(turn)
            elif link.kind == HINGE:
                angle = 2 * np.arctan2(turn[:, 1], turn[:, 0])
                found[:, columns] = angle[:, None]
            elif link.kind == UNIVERSAL:
                m = to_matrix(normalised(turn))
                angles = np.arctan2(m[:, 2, 1], m[:, 1, 1]), np.arctan2(m[:, 0, 2], m[:, 0, 0])
                found[:, columns] = np.stack(angles, axis=-1)
            elif link.kind == SLIDER:
                a, b = (rotate(pose[:, 3:], point) + pose[:, :3] for pose, point in
                        ((parent, numbers[:, k, POINT_PARENT:POINT_CHILD]), (here, numbers[:, k, POINT_CHILD:])))
                found[:, columns] = rotate_back(start, b - a)[:, :1]
            if link.kind in (HINGE, UNIVERSAL):
                last = 0.0 if before is None else before[:, columns]
                turns = np.round((last - found[:, columns]) / (2 * np.pi))
                found[:, columns] += 2 * np.pi * turns
        return found
