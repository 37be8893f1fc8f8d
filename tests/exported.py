"""A scene with all that files keep, and a recording of it with numbers that no solver made, for tests of exports."""

from types import SimpleNamespace

import numpy as np
import trimesh

import pbd
import rigid
import scenes
from pbd.build import cloth, rope, soft_body
from rigid.rotation import normalised
from scenes.simulate.recording import Frame, Recording
from scenes.visuals import (
    BodyVisual,
    Camera,
    ClothVisual,
    ColliderVisual,
    ParticleVisual,
    SkinVisual,
    StaticVisual,
    StickVisual,
    Surface,
)

FPS = 25.0
FRAMES = 6  # of a recording
GOLD, GREEN = (0.9, 0.68, 0.22), (0.36, 0.58, 0.28)


def scene_of_everything():
    """Make a Scene: a cloth, a rope, a soft body with a skin, loose particles, a moving collider, two bodies.

    Returns: an object with `scene`, and indices of particles: `cloth`, `rope`, `loose`.
    """
    particles, model = pbd.Particles(), rigid.Model()
    sheet = cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (4, 5))
    line = rope(particles, [(2, 0, 2), (2, 0, 1)], segments=6, mass=1.0)
    ball = soft_body(particles, trimesh.creation.icosphere(1, 0.4).apply_translation((3, 0, 1)), resolution=3)
    loose = particles.add_particles(np.array([(4, 0, 1), (4, 1, 1), (4, 2, 1)], float))
    particles.add_collider(pbd.Plane())
    particles.add_collider(pbd.Sphere(0.3, centre=(0.5, 0.5, 0.4)))
    box = model.add_box((0.4, 0.2, 0.1), mass=1.0, position=(0, 3, 1), name="upper arm")
    model.add_shape(box, rigid.Sphere(0.1, centre=(0.3, 0, 0.1)), local=True)
    model.add_sphere(0.2, mass=2.0, position=(1, 3, 1), name="upper arm.")
    post = Surface([(0, 0, 0), (1, 0, 0), (0, 0, 2)], np.array([(0, 1, 2)]), GREEN, smooth=False)
    visuals = [
        ClothVisual(sheet.triangles), StickVisual(line.sticks, 0.02), SkinVisual(ball.skin),
        ParticleVisual(loose, [0.1, 0.2, 0.3], [GOLD, GREEN, GOLD]), ColliderVisual(0, particles.colliders[0].shape),
        ColliderVisual(1, particles.colliders[1].shape), BodyVisual(model), StaticVisual([post]),
    ]  # fmt: skip
    camera = Camera((1, -9, 3), (1, 0, 1), field_of_view=30)
    scene = scenes.Scene(particles, model, visuals=visuals, camera=camera, name="everything")
    return SimpleNamespace(
        scene=scene, cloth=np.unique(sheet.triangles), rope=line.particles, loose=loose, skin=ball.skin, sheet=sheet
    )


def recording_of(scene, frames=6, seed=0):
    """Make a Recording of a scene in which everything but the plane moves at random."""
    rng = np.random.default_rng(seed)
    particles, bodies = len(scene.particles), len(scene.model.bodies)
    rotations = normalised(rng.normal(size=(frames, bodies, 4)))
    poses = np.tile([0, 0, 0, 1.0, 0, 0, 0], (frames, 2, 1))
    poses[:, 1, :3] = rng.normal(size=(frames, 3))
    return Recording(
        {"scene": scene.name, "parameters": {}, "solver": "verlet"}, np.arange(frames) / FPS,
        scene.particles.positions() + 0.1 * rng.normal(size=(frames, particles, 3)),
        rng.normal(size=(frames, particles, 3)), poses,
        np.concatenate([rng.normal(size=(frames, bodies, 3)), rotations], axis=2),
        np.zeros((frames, bodies, 6)), np.zeros((frames, 3)),
    )  # fmt: skip


class Start:
    """A scene at rest in its first state, for some frames: a source without a solver."""

    def __init__(self, scene, count=2):
        self.scene, self.count, self.fps, self.solver = scene, count, FPS, "verlet"

    def events(self):
        """A tear at each frame, and later."""
        return [{"time": number / self.fps, "kind": "tear", "position": [0.0, 0.0, 1.0]} for number in range(9)]

    @staticmethod
    def frame_of(positions):
        """A Frame of particles at rest."""
        return Frame(0.0, positions, 0 * positions, np.zeros((0, 7)), np.zeros((0, 7)), np.zeros((0, 6)))

    def frames(self):
        """Iterate over the frames."""
        particles, model = self.scene.particles, self.scene.model
        positions = np.zeros((0, 3)) if particles is None else particles.positions()
        colliders = [] if particles is None else particles.colliders
        poses = np.array([each.pose(0.0) for each in colliders]).reshape(-1, 7)
        bodies = np.zeros((0, 7))
        if model is not None:
            state = model.initial_state()
            bodies = np.hstack([state.position, state.rotation])
        for number in range(self.count):
            time = number / self.fps
            yield Frame(time, positions + 0.1 * time, 0 * positions, poses, bodies, np.zeros((len(bodies), 6)))
