"""The arrays of trees: links, coordinates, speeds, and scratch memory; coordinates from poses.

A link hangs on its parent by a joint. P and C are the joint's frames in parent and child. One rotation Q of the
parent's axes in the world gives the child's:

    q_child = q_parent P Q C⁻¹,    x_child = x_parent + R_parent a + shift - R_child b

a and b are the joint's point in each body, Q is the rotation by the coordinates, and the shift is along axes of P
(rigid/joints/joint_type.py). If a tree runs from a joint's child to its parent, angles count the other way: Q⁻¹ is Q of
-q, and with two angles the axes are exchanged. Shifts are then along the child's axes, so only joints whose type
reverses (JointType) are in such trees.
"""

from typing import NamedTuple

import numpy as np

from pbd.core.kernels import Columns, Integer, Real, allocate, count
from rigid.rotation import conjugate, from_matrix, multiply, normalised, rotate, rotate_back, to_matrix
from rigid.solvers.articulated.spanning_trees import LinkKind, spanning_trees, tree_ends
from rigid.solvers.sequential.gained_energy import FREE_ENERGY

# Integers of a link: its body; the parent's link, -1 for the ground, and body; its LinkKind; its first speed, how many,
# and its first coordinate; of its tree the first link, the one behind the last, the first speed, and how many.
LINK = Columns(
    body=1, parent=1, parent_body=1, kind=1, first_speed=1, speeds=1, first_coordinate=1, tree=1, tree_end=1,
    tree_first_speed=1, tree_speeds=1,
)  # fmt: skip

# P; C⁻¹; the joint's point in parent and child [m].
LINK_FRAMES = Columns(frame=4, inverse_child_frame=4, point_parent=3, point_child=3)

# Of each speed: s, the velocity that it gives the body, linear and angular; U, the momentum of the articulated body for
# it; d⁻¹ = 1/(sᵀU); sᵀp of the momentum p.
AXIS = Columns(linear=3, angular=3, momentum=3, angular_momentum=3, inverse=1, projection=1)

# A speed of a link with declared coordinates: its kind, a SpeedKind; its axis.
MOTION = Columns(kind=1, axis=1)

# The rotor of a speed: its row, -1 for none; -1 if the speed counts against the joint's coordinate, else 1.
ROTOR = Columns(row=1, sign=1)

# Scratch memory of each link, about its centre of mass: the articulated inertia in blocks M, H and K, of which M and K
# are symmetric; the momentum of what hangs on it, linear and angular; the momentum of a test impulse, or a velocity
# that is passed outward; and its rotation in a substep of the variational integrator, a quaternion.
ARTICULATED = Columns(M=6, H=9, K=6, momentum=3, angular_momentum=3, test=6, turn=4)

# Of each body for joint forces: its pose at the start of the substep, and the velocity that it would have if it were
# free, linear and angular.
START = Columns(position=3, rotation=4, linear=3, angular=3)

# Arrays of speeds: u; pseudo-speeds of position correction, before it scratch memory; two of variational.py.
STAGES = 4


class SpeedKind:
    """Kinds of speeds of links with declared coordinates: a slide along an axis of the parent; a turn about one; the
    turn after it, about an axis of the child."""

    SLIDE, TURN, SECOND_TURN = range(3)


class Trees(NamedTuple):
    """Links of all bodies."""

    links: Integer(count.links, LINK)
    link_of: Integer(count.bodies)  # the link of each body, -1 for the ground
    frames: Real(count.worlds, count.links, LINK_FRAMES)
    coordinates: Real(count.worlds, count.tree_coordinates, kept=True)  # see Link.coordinates
    speeds: Real(count.worlds, STAGES, count.speeds, kept=True)
    axes: Real(count.worlds, count.speeds, AXIS, kept=True)
    motions: Integer(count.speeds, MOTION)
    rotors: Integer(count.speeds, ROTOR)
    articulated: Real(count.worlds, count.links, ARTICULATED)
    starts: Real(count.worlds, count.bodies, START)
    # By a tree's first link: 1 if its velocities are those at the time of the poses, see variational.py.
    synchronous: Integer(count.worlds, count.links, kept=True)
    solved: Integer(count.worlds, count.links)  # likewise 1 if its speeds are those of chords
    energy: Real(count.worlds, count.links, FREE_ENERGY, kept=True)  # likewise


class TreeBuilder:
    """The trees of models. Args: models: one for all worlds, or one for each, of one structure; worlds.

    Attributes: links: list of Link; closed: indices of the joints that become coordinates.
    """

    def __init__(self, models, worlds):
        self.models, self.worlds, self.links = models, worlds, spanning_trees(models[0])
        self.closed = {link.joint for link in self.links if link.joint is not None}
        self.first_speeds = np.cumsum([0, *(link.speeds for link in self.links)])
        self.first_coordinates = np.cumsum([0, *(link.coordinates for link in self.links)])
        self.ends = tree_ends(self.links)
        self.frames = np.stack([self.frames_of(model) for model in models])

    @property
    def most_speeds(self):
        """Speeds of the tree that has most, at least one."""
        return max([1, *(self.first_speeds[end] - self.first_speeds[first] for first, end in self.ends)])

    def frames_of(self, model):
        """LINK_FRAMES of all links (links, 14)."""
        found = np.zeros((len(self.links), LINK_FRAMES.total))
        found[:, [LINK_FRAMES.frame, LINK_FRAMES.inverse_child_frame]] = 1.0
        for row, link in zip(found, self.links):
            if link.joint is None:
                continue
            joint = model.joints[link.joint]
            ends = [(joint.parent_axes, joint.parent_anchor), (joint.child_axes, joint.child_anchor)]
            if link.reversed:
                ends.reverse()
            frames = [np.transpose(axes) for axes, _ in ends]
            if link.reversed and len(joint.type.angles) == 2:
                frames = [frame[:, [1, 0, 2]] * (1, 1, -1) for frame in frames]
            row[LINK_FRAMES["frame"]] = from_matrix(frames[0])
            row[LINK_FRAMES["inverse_child_frame"]] = conjugate(from_matrix(frames[1]))
            row[LINK_FRAMES["point_parent"]], row[LINK_FRAMES["point_child"]] = ends[0][1], ends[1][1]
        return found

    def integers(self):
        """LINK of all links (links, 11)."""
        found = []
        for k, (link, (first, end)) in enumerate(zip(self.links, self.ends)):
            parent = self.links[link.parent].body if link.parent >= 0 else len(self.models[0].bodies)
            start = self.first_speeds[first]
            found.append([link.body, link.parent, parent, link.kind, self.first_speeds[k], link.speeds,
                          self.first_coordinates[k], first, end, start, self.first_speeds[end] - start])  # fmt: skip
        return np.reshape(found, (-1, LINK.total)).astype(np.int32)

    def motions(self):
        """MOTION of all speeds (speeds, 2)."""
        found = np.zeros((int(self.first_speeds[-1]), MOTION.total), np.int32)
        for first, link in zip(self.first_speeds, self.links):
            turn = SpeedKind.TURN
            for k, coordinate in enumerate(link.declared if link.kind == LinkKind.COORDINATES else ()):
                found[first + k] = SpeedKind.SLIDE, coordinate.axis
                if coordinate.counted:
                    found[first + k, MOTION.kind], turn = turn, SpeedKind.SECOND_TURN
        return found

    def allocate(self):
        """Make the Taichi arrays, a Trees, at the models' starting poses."""
        states = [model.initial_state() for model in self.models]
        poses = np.stack([np.concatenate([state.position, state.rotation], axis=-1) for state in states])
        link_of = np.full(len(self.models[0].bodies) + 1, -1, np.int32)
        for k, link in enumerate(self.links):
            link_of[link.body] = k
        coordinates = self.coordinates_of(poses)
        values = {
            "links": self.integers(),
            "motions": self.motions(),
            "link_of": link_of,
            "frames": np.broadcast_to(self.frames, (self.worlds, *self.frames.shape[1:])),
            "coordinates": np.broadcast_to(coordinates, (self.worlds, coordinates.shape[1])),
        }
        return allocate(
            Trees, values, worlds=self.worlds, bodies=len(link_of), links=len(self.links),
            speeds=int(self.first_speeds[-1]), tree_coordinates=coordinates.shape[1],
        )  # fmt: skip

    def rotors_of(self, rows):
        """ROTOR of all speeds (speeds, 2). Args: rows: {name of a joint with armature: its rotor's row}."""
        found = np.tile(np.array([-1, 1], np.int32), (int(self.first_speeds[-1]), 1))
        for k, link in enumerate(self.links):
            joint = None if link.joint is None else self.models[0].joints[link.joint].name
            if joint in rows:
                found[self.first_speeds[k]] = rows[joint], -1 if link.reversed else 1
        return found

    def coordinates_of(self, poses, before=None):
        """Find the coordinates of poses; what the joints do not allow is left out.

        Args: poses (worlds, bodies, 7); before: coordinates from which angles are counted on, None for (-π, π].

        Returns: array (worlds, coordinates), with one column at least.
        """
        found = np.zeros((len(poses), max(self.first_coordinates[-1], 1)))
        frames = self.frames
        for k, link in enumerate(self.links):
            here = poses[:, link.body]
            parent = np.tile(np.eye(7)[3], (len(poses), 1))
            if link.parent >= 0:
                parent = poses[:, self.links[link.parent].body]
            columns = slice(self.first_coordinates[k], self.first_coordinates[k + 1])
            start = multiply(parent[:, 3:], frames[:, k, LINK_FRAMES["frame"]])
            back = conjugate(frames[:, k, LINK_FRAMES["inverse_child_frame"]])
            turn = multiply(conjugate(start), multiply(here[:, 3:], back))
            if link.kind == LinkKind.FREE:
                found[:, columns] = here
            elif link.kind == LinkKind.BALL:
                found[:, columns] = normalised(turn)
            else:
                ends = (parent, "point_parent"), (here, "point_child")
                a, b = (rotate(pose[:, 3:], frames[:, k, LINK_FRAMES[name]]) + pose[:, :3] for pose, name in ends)
                way, m = rotate_back(start, b - a), to_matrix(normalised(turn))
                twist = sum(coordinate.counted for coordinate in link.declared) == 1
                for place, coordinate in enumerate(link.declared, self.first_coordinates[k]):
                    found[:, place] = coordinate.position(m, way)
                    if coordinate.counted:
                        if twist:  # the rotation about the axis that is nearest to the one of the poses
                            found[:, place] = 2 * np.arctan2(turn[:, 1 + coordinate.axis], turn[:, 0])
                        last = 0.0 if before is None else before[:, place]
                        found[:, place] += 2 * np.pi * np.round((last - found[:, place]) / (2 * np.pi))
        return found
