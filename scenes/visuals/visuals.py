"""What a scene looks like: from positions to surfaces that the renderer, or any viewer, can draw."""

from dataclasses import dataclass

import numpy as np

from pbd.core.shapes import BOX, CAPSULE, CYLINDER, GRID, HULL, IDENTITY, PLANE, SPHERE
from rigid.mass import principal_axes, second_moment
from rigid.rotation import multiply, rotate, triad
from scenes.visuals import geometry

RED, SAND, BLUE, STEEL, GOLD, GREEN, WOOD, CHALK = (
    (0.85, 0.30, 0.24),
    (0.86, 0.66, 0.52),
    (0.13, 0.32, 0.48),
    (0.45, 0.52, 0.58),
    (0.90, 0.68, 0.22),
    (0.36, 0.58, 0.28),
    (0.55, 0.40, 0.27),
    (0.88, 0.87, 0.84),
)
STONE = (0.62, 0.64, 0.68)

# Colours of bodies, by turns, where a scene names none.
PALETTE = np.array([RED, GOLD, BLUE, GREEN, SAND, STEEL])


@dataclass
class Fabric:
    """Triangles of particles, in two tones. Arguments: triangles (n, 3) of indices; colours, sRGB 0..1; smooth."""

    triangles: np.ndarray
    colour: tuple = RED
    back_colour: tuple | None = SAND
    smooth: bool = True

    def __post_init__(self):
        used, places = np.unique(self.triangles, return_inverse=True)
        self.used, self.places = used, places.reshape(-1, 3).astype(np.int32)  # which geometry takes as it is

    def draw(self, frame):
        """Surfaces at one instant, none of no triangles. Arguments: a Frame."""
        if not len(self.places):
            return []
        return [geometry.Surface(frame.positions[self.used], self.places, self.colour, self.back_colour, self.smooth)]


@dataclass
class Strands:
    """Pairs of particles as rods. Arguments: pairs (n, 2) of indices; radius [m], for all or one each; colour."""

    pairs: np.ndarray
    radius: object = 0.01
    colour: tuple = WOOD

    def draw(self, frame):
        """Surfaces at one instant, none of no pairs. Arguments: a Frame."""
        if not len(self.pairs):
            return []
        return [geometry.tubes(*(frame.positions[self.pairs[:, k]] for k in (0, 1)), self.radius, self.colour)]


@dataclass
class Grains:
    """Particles as balls. Arguments: particles (n,) indices; radius [m], for all or one each; colour, or (n, 3)."""

    particles: np.ndarray
    radius: object = 0.02
    colour: object = GOLD

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        colours = np.asarray(self.colour, float)
        each = colours if colours.ndim == 2 else None
        one = GOLD if each is not None else tuple(colours)
        return [geometry.particles(frame.positions[self.particles], self.radius, one, each)]


@dataclass
class Skin:
    """A fine surface carried by particles. Arguments: skin, with `vertices(positions)` and `triangles`; colour."""

    skin: object
    colour: tuple = GOLD

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        return [geometry.Surface(self.skin.vertices(frame.positions), self.skin.triangles, self.colour, solid=True)]


@dataclass
class Stems:
    """The wood of a plant. Arguments: plant, with `axes(positions)`, `segments` and `radii`; colour."""

    plant: object
    colour: tuple = WOOD

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        ends = self.plant.axes(frame.positions)[self.plant.segments]
        return [geometry.tubes(ends[:, 0], ends[:, 1], self.plant.radii.mean(axis=1), self.colour)]


@dataclass
class Solid:
    """A collider, where it is. Arguments: index of the collider; its shape; colour."""

    collider: int
    shape: object
    colour: tuple = BLUE

    def __post_init__(self):
        self.surface = shape_surface(self.shape, self.colour)

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        if self.surface is None:
            return []
        pose = frame.poses[self.collider]
        return [geometry.Instances(self.surface, pose[None, :3], pose[None, 3:])]


@dataclass
class Scenery:
    """What stands there and does nothing. Arguments: surfaces, of scenes.render."""

    surfaces: list

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        return self.surfaces


@dataclass
class Edges:
    """The twelve edges of a box, as rods. Arguments: lower, upper (3,) [m]; radius [m]; colour."""

    lower: np.ndarray
    upper: np.ndarray
    radius: float = 0.01
    colour: tuple = STEEL

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        corners = np.array([[(k >> 2) & 1, (k >> 1) & 1, k & 1] for k in range(8)])
        corners = self.lower + corners * (np.asarray(self.upper) - self.lower)
        pairs = np.array([(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1])
        return [geometry.tubes(corners[pairs[:, 0]], corners[pairs[:, 1]], self.radius, self.colour)]


@dataclass
class Bodies:
    """The shapes of a model's bodies, and those of the ground but for planes, which have no end.

    Arguments: model; colours: one, or one for each body (bodies, 3), None for PALETTE by turns; ground_colour. A body
    without shapes is drawn as the box of its mass and inertia.
    """

    model: object
    colours: object = None
    ground_colour: tuple = STONE

    def __post_init__(self):
        count = len(self.model.bodies)
        colours = PALETTE[np.arange(count) % len(PALETTE)] if self.colours is None else self.colours
        # The ground comes last, which is what its index, -1, says.
        self.palette = np.concatenate([np.broadcast_to(np.asarray(colours, float), (count, 3)), [self.ground_colour]])
        pieces = [(each.shape, each.body, each.position, each.rotation) for each in self.model.shapes]
        bare = set(range(count)) - {body for _, body, _, _ in pieces}
        pieces += [(None, body, np.zeros(3), principal_axes(self.model.bodies[body].inertia)[1]) for body in bare]
        pieces.sort(key=lambda piece: piece[1] >= 0)  # the ground's come first
        self.groups = {}  # alike shapes of ground or bodies: a surface, (body, position, rotation) of each
        for shape, body, *pose in pieces:
            if shape is not None and shape.kind == PLANE:
                continue
            if shape is None:
                like, surface = body, inertia_box(self.model.bodies[body])
            else:
                like = shape.kind, id(shape) if shape.kind in (GRID, HULL) else tuple(shape.numbers())
                surface = shape_surface(shape) if (body < 0, like) not in self.groups else None
            self.groups.setdefault((body < 0, like), (surface, []))
            self.groups[body < 0, like][1].append((body, *pose))
        sides = {on: [group for (ground, _), group in self.groups.items() if ground == on] for on in (True, False)}
        self.rows = {on: in_rows(groups) for on, groups in sides.items()}
        self.ground = self.placed(np.zeros((count, 7)), on_ground=True)

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        return self.ground + self.placed(frame.body_poses, on_ground=False)

    def body_at(self, number, instance):
        """The body of a shape, -1 for the ground. Arguments: number: of what `draw` gives; instance: in that."""
        if number < len(self.ground):
            return -1
        surfaces, body, _, _ = self.rows[False]
        return int(body[surfaces[number - len(self.ground)][1]][instance])

    def placed(self, body_poses, on_ground):
        """Surfaces of the ground's shapes or of the bodies', which have these poses (bodies, 7)."""
        surfaces, body, position, rotation = self.rows[on_ground]
        poses = np.concatenate([body_poses, [[0, 0, 0, *IDENTITY]]])[body]
        places = poses[:, :3] + rotate(poses[:, 3:], position)
        turns, colours = multiply(poses[:, 3:], rotation), self.palette[body]
        return [geometry.Instances(surface, places[k], turns[k], None, colours[k]) for surface, k in surfaces]


def in_rows(groups):
    """All shapes of groups in rows, to be placed at once: surfaces, each with the slice of its rows; bodies (n,),
    positions (n, 3), rotations (n, 4). Arguments: groups: a list of (surface, [(body, position, rotation), ...])."""
    ends = np.cumsum([0, *(len(placed) for _, placed in groups)])
    rows = [each for _, placed in groups for each in placed]
    shapes = (-1,), (-1, 3), (-1, 4)
    body, position, rotation = (np.reshape([row[k] for row in rows], shape) for k, shape in enumerate(shapes))
    surfaces = [(surface, slice(*ends[k : k + 2])) for k, (surface, _) in enumerate(groups)]
    return surfaces, body.astype(int), position, rotation


def clothes(model, people, shirts, trousers):
    """Colours of a model's bodies, (bodies, 3), for `Bodies`: skin, and a shirt and trousers each.

    Arguments: model; people: rigid.build.Ragdolls in it; shirts: a colour for each; trousers: one for all.
    """
    colours = PALETTE[np.arange(len(model.bodies)) % len(PALETTE)]
    for person, shirt in zip(people, shirts):
        for part, body in person.bodies.items():
            dressed = "pelvis" in part or "thigh" in part or "shin" in part
            bare = "head" in part or "hand" in part or "lower arm" in part
            colours[body] = trousers if dressed else SAND if bare else shirt
    return colours


@dataclass
class Joints:
    """Where bodies are joined: a rod along each distance, a ball at any other joint.

    Arguments: model; radius [m]; colour; kinds: of the joints that are drawn, such as ("distance", "ball").
    """

    model: object
    radius: float = 0.01
    colour: tuple = STEEL
    kinds: tuple = ("distance",)

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        poses = np.concatenate([frame.body_poses, [[0, 0, 0, *IDENTITY]]])
        joints = [joint for joint in self.model.joints if joint.kind in self.kinds]
        if not joints:
            return []
        ends = []
        for body, anchor in (("parent", "parent_anchor"), ("child", "child_anchor")):
            at = poses[[getattr(joint, body) for joint in joints]]
            ends.append(at[:, :3] + rotate(at[:, 3:], np.array([getattr(joint, anchor) for joint in joints])))
        return [geometry.tubes(*ends, self.radius, self.colour)]


@dataclass
class Springs:
    """The springs of a model between points of its bodies, as coils. Arguments: model; radius of the coil [m]; colour;
    coils: how often it winds.
    """

    model: object
    radius: float = 0.03
    colour: tuple = CHALK
    coils: int = 6

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        poses = np.concatenate([frame.body_poses, [[0, 0, 0, *IDENTITY]]])
        turn = np.linspace(0, 2 * np.pi * self.coils, 12 * self.coils + 1)
        drawn = []
        for spring in self.model.springs:
            start, end = (
                poses[body, :3] + rotate(poses[body, 3:], anchor)
                for body, anchor in ((spring.a, spring.anchor_a), (spring.b, spring.anchor_b))
            )
            across = triad((end - start) / max(np.linalg.norm(end - start), 1e-9))[1:]
            ring = self.radius * (np.outer(np.cos(turn), across[0]) + np.outer(np.sin(turn), across[1]))
            path = start + np.linspace(0, 1, len(turn))[:, None] * (end - start) + ring
            drawn.append(geometry.tubes(path[:-1], path[1:], 0.2 * self.radius, self.colour, sectors=6, rings=1))
        return drawn


def shape_surface(shape, colour=CHALK):
    """The surface of a shape in its normal form; None for a plane, which has no end."""
    numbers = shape.numbers()
    if shape.kind == SPHERE:
        return geometry.sphere(shape.radius, colour)
    if shape.kind == CAPSULE:
        return geometry.capsule(shape.radius, 2 * numbers[1], colour)
    if shape.kind == CYLINDER:
        return geometry.cylinder(shape.radius, 2 * numbers[1], colour)
    if shape.kind == BOX:
        return geometry.box(shape.size, colour)
    if shape.kind == GRID:
        return geometry.Surface(shape.mesh.vertices, shape.mesh.triangles, colour, solid=True)
    if shape.kind == HULL:
        return geometry.Surface(shape.vertices, shape.triangles, colour, smooth=False, solid=True)
    return None


def inertia_box(body):
    """The surface of the uniform box that has a body's mass and inertia, in its principal axes."""
    moments, _ = principal_axes(body.inertia)
    # A box of edges a has second moments m a²/12 along them.
    return geometry.box(np.sqrt(12 * np.diagonal(second_moment(np.diag(moments))) / body.mass).clip(1e-3), CHALK)


def visuals_of(particles, model=None):
    """Everything that descriptions hold, either of which may be None: see `particle_visuals` and `Bodies`."""
    visuals = [] if particles is None else particle_visuals(particles)
    if model is not None:
        visuals.append(Bodies(model))
        if any(joint.kind == "distance" for joint in model.joints):
            visuals.append(Joints(model))
    return visuals


def particle_visuals(particles):
    """Triangles, sticks that are no part of them, particles, colliders, boxes."""
    visuals = []
    if len(particles.triangles):
        visuals.append(Fabric(particles.triangles))
    extent = np.ptp(particles.positions, axis=0).max() if len(particles) else 1.0
    radius = 0.01 * extent or 0.02
    sticks = [batch.arrays()[0] for (kind, _), batch in particles.batches.items() if str(kind).startswith("stick")]
    if sticks and not len(particles.triangles):
        visuals.append(Strands(np.concatenate(sticks), radius))
    if not len(particles.triangles):
        visuals.append(Grains(np.arange(len(particles)), np.maximum(particles.radii, 1.6 * radius)))
    visuals += [Solid(k, collider.shape) for k, collider in enumerate(particles.colliders)]
    visuals += [Edges(box[:3], box[3:6], 0.5 * radius) for box in particles.boxes]
    return visuals
