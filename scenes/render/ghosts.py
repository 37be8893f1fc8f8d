"""Ghosts: the results of several solvers in one picture, each translucent and in one colour."""

from dataclasses import replace

import numpy as np

from scenes.render.layers import blend_layers
from scenes.visuals import BodyVisual, BoxEdgesVisual, ColliderVisual, StaticVisual, Surface
from scenes.visuals.colours import rgb

OPACITY = 0.8  # of a single ghost
# In distances from the camera to its target. Ghosts that are farther apart hide each other, nearer ones share stripes.
THICKNESS = 0.004


class GhostRenderer:
    """Draws several results of one scene into one picture. Static surfaces and shadows are drawn once.

    Args: scenes: pairs (Scene, colour "#rrggbb") of one scene, perhaps with other parameters; renderer: a Renderer.
    """

    def __init__(self, scenes, renderer):
        self.scenes, self.renderer = scenes, renderer

    def draw(self, frames, camera):
        """Draw a picture (height, width, 3) uint8. Args: frames: a Frame for each scene; camera."""
        static = [drawn for visual in self.scenes[0][0].visuals for drawn in static_surfaces(visual, frames[0])]
        ghosts = [
            [tinted(drawn, colour) for visual in scene.visuals for drawn in moving_surfaces(visual, frame)]
            for (scene, colour), frame in zip(self.scenes, frames)
        ]
        base = self.renderer.draw(static, camera, only_shadows=[drawn for ghost in ghosts for drawn in ghost])
        layers = [self.renderer.draw_layer(static, ghost, camera) for ghost in ghosts]
        thickness = THICKNESS * np.linalg.norm(camera.target - camera.position)
        return blend_layers(base, layers, OPACITY, thickness)


def static_surfaces(visual, frame):
    """The surfaces of a visual that no solver moves: static visuals, colliders, boxes, shapes of the ground."""
    if isinstance(visual, BodyVisual):
        return visual.ground
    return visual.draw(frame) if isinstance(visual, StaticVisual | ColliderVisual | BoxEdgesVisual) else []


def moving_surfaces(visual, frame):
    """The surfaces of a visual that solvers move."""
    if isinstance(visual, BodyVisual):
        return visual.draw_bodies(frame.body_poses)
    return [] if isinstance(visual, StaticVisual | ColliderVisual | BoxEdgesVisual) else visual.draw(frame)


def tinted(drawn, colour):
    """Copy a Surface or Instances in tones of one colour: dark parts get dark tones, light parts light ones."""
    if isinstance(drawn, Surface):
        back = None if drawn.back_colour is None else tone(drawn.back_colour, colour)
        return replace(drawn, colour=tone(drawn.colour, colour), back_colour=back)
    surface = tinted(drawn.surface, colour)
    return replace(drawn, surface=surface, colours=None if drawn.colours is None else tone(drawn.colours, colour))


def tone(colours, colour):
    """Tones of a colour with the lightness of other colours. Args: colours (..., 3) sRGB; colour: "#rrggbb"."""
    luma = np.asarray(colours, dtype=float) @ (0.30, 0.59, 0.11)
    return np.clip(np.multiply.outer(0.8 + 0.4 * luma, rgb(colour)), 0.0, 1.0)
