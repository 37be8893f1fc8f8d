"""Visuals of rigid bodies: their shapes, joints and springs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pbd.core.rotation import IDENTITY
from pbd.core.shapes import GRID, HULL, MESH, PLANE
from rigid.mass import principal_axes
from rigid.rotation import frame_axes, multiply, rotate
from scenes.visuals.colours import CHALK, PALETTE, SAND, STEEL, STONE
from scenes.visuals.geometry import Instances
from scenes.visuals.primitives import tubes
from scenes.visuals.shapes import inertia_box, shape_surface


@dataclass
class BodyVisual:
    """The visible shapes of bodies and of the ground, and their visuals. Planes are infinite and left out.

    A body without shapes is drawn as the box that has its mass and inertia, but not if it is only between the joints of
    another (`bodies_between_joints`).

    Args:
        model: a rigid.Model.
        colours: one sRGB colour, or one for each body (bodies, 3); None for those of visuals, and for PALETTE in turn.
        ground_colour: of the shapes of the ground.
    """

    model: object
    colours: object = None
    ground_colour: tuple = STONE

    def __post_init__(self):
        count = len(self.model.bodies)
        colours = PALETTE[np.arange(count) % len(PALETTE)] if self.colours is None else self.colours
        # The ground has index -1, so its colour is the last.
        self.palette = np.concatenate([np.broadcast_to(np.asarray(colours, float), (count, 3)), [self.ground_colour]])

    # Surfaces are made when they are drawn: runs of a sweep are not.
    @cached_property
    def moving_shapes(self):
        """ShapeGroups of the bodies."""
        model, shapes = self.model, self._shapes(lambda body: body >= 0)
        with_shape = {each.body for each in (*model.shapes, *model.visuals)}
        without_shape = set(range(len(model.bodies))) - with_shape - bodies_between_joints(model)
        inertias = {body: self.model.bodies[body].inertia for body in without_shape}
        boxes = [(None, body, np.zeros(3), principal_axes(inertia)[1], None) for body, inertia in inertias.items()]
        return ShapeGroups(self.model, shapes + boxes)

    @cached_property
    def ground(self):
        """Surfaces of the ground."""
        shapes = self._shapes(lambda body: body < 0)
        return self._instances(ShapeGroups(self.model, shapes), np.zeros((len(self.model.bodies), 7)))

    def _shapes(self, chosen):
        """Shapes of some bodies, for ShapeGroups. Args: chosen: whether an index of a body is one of them."""
        shapes = [(each, None) for each in self.model.shapes if each.visible]
        shapes += [(each, each.colour if self.colours is None else None) for each in self.model.visuals]
        return [
            (each.shape, each.body, each.position, each.rotation, colour)
            for each, colour in shapes if chosen(each.body)
        ]  # fmt: skip

    def draw(self, frame):
        """Surfaces at one instant: those of the ground, then those of bodies. Args: a Frame."""
        return self.ground + self.draw_bodies(frame.body_poses)

    def draw_bodies(self, body_poses):
        """Surfaces of the bodies alone. Args: body_poses (bodies, 7)."""
        return self._instances(self.moving_shapes, body_poses)

    def body_at(self, number, instance):
        """Find the body that a drawn shape belongs to.

        Args: number: index in the list that `draw` returns; instance: index of the instance in that element.

        Returns:
            Index of the body, -1 for the ground.
        """
        if number < len(self.ground):
            return -1
        return int(self.moving_shapes.bodies[self.moving_shapes.rows[number - len(self.ground)]][instance])

    def _instances(self, shapes, body_poses):
        """Instances of a ShapeGroups. Args: shapes; body_poses (bodies, 7)."""
        poses = np.concatenate([body_poses, [[0, 0, 0, *IDENTITY]]])[shapes.bodies]
        positions = poses[:, :3] + rotate(poses[:, 3:], shapes.positions)
        rotations = multiply(poses[:, 3:], shapes.rotations)
        colours = np.where(np.isnan(shapes.colours), self.palette[shapes.bodies], shapes.colours)
        return [
            Instances(surface, positions[rows], rotations[rows], None, colours[rows])
            for surface, rows in zip(shapes.surfaces, shapes.rows)
        ]


def bodies_between_joints(model):
    """Bodies that begin at the pose of a body that they carry: a set. Files of robots have such light bodies, because
    there a body may have several joints (rigid/build/mjcf.py)."""
    found = set()
    for joint in model.joints:
        if joint.parent >= 0:
            parent, child = model.bodies[joint.parent], model.bodies[joint.child]
            if np.array_equal(parent.position, child.position) and np.array_equal(parent.rotation, child.rotation):
                found.add(joint.parent)
    return found


@dataclass
class BodySurfaces:
    """Surfaces that are fixed to bodies. Args: surfaces: pairs (index of the body, Surface in the body's frame)."""

    surfaces: list

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        poses = frame.body_poses
        return [Instances(surface, poses[body, None, :3], poses[body, None, 3:]) for body, surface in self.surfaces]

    def body_at(self, number, instance):
        """The body of a drawn surface. Args: number: index in the list that `draw` returns; instance: 0."""
        return self.surfaces[number][0]


class ShapeGroups:
    """Shapes in groups that share one surface, so that each group is drawn as one Instances.

    Args:
        model: a rigid.Model.
        shapes: list of (shape, Mesh or None; body; position (3,) and rotation (4,) in the frame of the body; colour
            (3,) or None).

    Attributes:
        surfaces: of each group.
        rows: of each group, the slice of its shapes in the arrays below.
        bodies: (n,) index of each shape's body.
        positions, rotations: (n, 3) and (n, 4) poses of the shapes in the frames of their bodies.
        colours: (n, 3), NaN for the colour of the body.
    """

    def __init__(self, model, shapes):
        groups = {}
        for shape, body, position, rotation, colour in shapes:
            member = body, position, rotation, (np.nan,) * 3 if colour is None else colour
            kind = getattr(shape, "kind", None)  # a mesh has none
            if shape is None:
                groups[body, None] = inertia_box(model.bodies[body]), [member]
            elif kind != PLANE:
                key = kind, id(shape) if kind in (None, GRID, HULL, MESH) else tuple(shape.numbers())
                if key not in groups:
                    groups[key] = shape_surface(shape), []
                groups[key][1].append(member)
        self.surfaces = [surface for surface, _ in groups.values()]
        ends = np.cumsum([0, *(len(members) for _, members in groups.values())])
        self.rows = [slice(*ends[k : k + 2]) for k in range(len(groups))]
        members = [member for _, members in groups.values() for member in members]
        columns = (-1,), (-1, 3), (-1, 4), (-1, 3)
        bodies, self.positions, self.rotations, self.colours = (
            np.reshape([member[k] for member in members], shape) for k, shape in enumerate(columns)
        )
        self.bodies = bodies.astype(int)


@dataclass
class JointVisual:
    """Joints: a rod along each distance joint, a sphere at any other joint.

    Args:
        model: a rigid.Model.
        radius: of rods and spheres [m].
        colour: of all joints.
        kinds: which joints are drawn, such as ("distance", "ball").
    """

    model: object
    radius: float = 0.01
    colour: tuple = STEEL
    kinds: tuple = ("distance",)

    def draw(self, frame):
        """Surfaces at one instant; an empty list if there are no such joints. Args: a Frame."""
        joints = [joint for joint in self.model.joints if joint.kind in self.kinds]
        if not joints:
            return []
        ends = (
            anchor_positions(frame, *zip(*anchors))
            for anchors in (
                [(joint.parent, joint.parent_anchor) for joint in joints],
                [(joint.child, joint.child_anchor) for joint in joints],
            )
        )
        return [tubes(*ends, self.radius, self.colour)]


@dataclass
class SpringVisual:
    """Springs between points of bodies, drawn as coils.

    Args:
        model: a rigid.Model.
        radius: of the coils [m].
        colour: of all springs.
        coils: number of turns.
        springs: list of rigid.PointSpring; None for those of the model.
    """

    model: object
    radius: float = 0.03
    colour: tuple = CHALK
    coils: int = 6
    springs: list | None = None

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        angles = np.linspace(0, 2 * np.pi * self.coils, 12 * self.coils + 1)
        drawn = []
        for spring in self.model.springs if self.springs is None else self.springs:
            start, end = anchor_positions(frame, [spring.a, spring.b], [spring.anchor_a, spring.anchor_b])
            across = frame_axes((end - start) / max(np.linalg.norm(end - start), 1e-9))[1:]
            ring = self.radius * (np.outer(np.cos(angles), across[0]) + np.outer(np.sin(angles), across[1]))
            path = start + np.linspace(0, 1, len(angles))[:, None] * (end - start) + ring
            joined = np.ones(len(path) - 2, bool)
            drawn.append(tubes(path[:-1], path[1:], 0.2 * self.radius, self.colour, sectors=6, rings=1, joined=joined))
        return drawn


def anchor_positions(frame, bodies, anchors):
    """Find where points that are fixed to bodies are in the world.

    Args: a Frame; bodies: (n,) indices, -1 for the ground; anchors: (n, 3) in the frames of the bodies [m].

    Returns:
        (n, 3) positions in the world frame [m].
    """
    poses = np.concatenate([frame.body_poses, [[0, 0, 0, *IDENTITY]]])[np.asarray(bodies)]
    return poses[:, :3] + rotate(poses[:, 3:], np.array(anchors))


def ragdoll_colours(model, ragdolls, shirts, trousers):
    """Make colours of ragdolls for BodyVisual: skin, shirts and trousers.

    Args:
        model: a rigid.Model.
        ragdolls: the rigid.build.Ragdoll objects in it.
        shirts: a colour for each ragdoll.
        trousers: one colour for all.

    Returns:
        (bodies, 3) sRGB; bodies outside ragdolls have the colours of PALETTE.
    """
    colours = PALETTE[np.arange(len(model.bodies)) % len(PALETTE)]
    for ragdoll, shirt in zip(ragdolls, shirts):
        for part, body in ragdoll.bodies.items():
            in_trousers = "pelvis" in part or "thigh" in part or "shin" in part
            is_skin = "head" in part or "hand" in part or "lower arm" in part
            colours[body] = trousers if in_trousers else SAND if is_skin else shirt
    return colours
