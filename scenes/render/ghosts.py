"""Ghosts: one scene as several solvers see it, in one picture, each with its own, translucent, in one colour."""

from dataclasses import replace

import numpy as np

from scenes.render.layer import lay
from scenes.visuals import BodyVisual, BoxEdgesVisual, ColliderVisual, StaticVisual, Surface
from scenes.visuals.colours import rgb

OPACITY = 0.8  # of a ghost alone
THICKNESS = 0.004  # of the distance to the camera's target: what is farther apart hides, what is nearer is striped


class Ghosts:
    """Draws scenes over one another. What stands still in them is drawn once, as it is, and all shadows with it.

    Arguments: scenes: pairs (Scene, colour "#rrggbb"), of one scene, perhaps with other numbers; renderer.
    """

    def __init__(self, scenes, renderer):
        self.scenes, self.renderer = scenes, renderer

    def draw(self, frames, camera):
        """A picture (height, width, 3) uint8. Arguments: frames: a Frame of each scene; camera."""
        still = [drawn for visual in self.scenes[0][0].visuals for drawn in still_part(visual, frames[0])]
        ghosts = [
            [tinted(drawn, colour) for visual in scene.visuals for drawn in moving_part(visual, frame)]
            for (scene, colour), frame in zip(self.scenes, frames)
        ]
        base = self.renderer.draw(still, camera, unseen=[drawn for ghost in ghosts for drawn in ghost])
        layers = [self.renderer.draw_layer(still, ghost, camera) for ghost in ghosts]
        thickness = THICKNESS * np.linalg.norm(camera.target - camera.position)
        return lay(base, layers, OPACITY, thickness)


def still_part(visual, frame):
    """What of a visual no solver moves: scenery, colliders, boxes, shapes of the ground."""
    if isinstance(visual, BodyVisual):
        return visual.ground
    return visual.draw(frame) if isinstance(visual, StaticVisual | ColliderVisual | BoxEdgesVisual) else []


def moving_part(visual, frame):
    """What of a visual solvers move."""
    if isinstance(visual, BodyVisual):
        return visual.draw_bodies(frame.body_poses)
    return [] if isinstance(visual, StaticVisual | ColliderVisual | BoxEdgesVisual) else visual.draw(frame)


def tinted(drawn, colour):
    """A surface, or instances, in one colour, of which the darker parts become a darker, the lighter a lighter tone."""
    if isinstance(drawn, Surface):
        back = None if drawn.back_colour is None else tone(drawn.back_colour, colour)
        return replace(drawn, colour=tone(drawn.colour, colour), back_colour=back)
    surface = tinted(drawn.surface, colour)
    return replace(drawn, surface=surface, colours=None if drawn.colours is None else tone(drawn.colours, colour))


def tone(colours, colour):
    """A tone of a colour, as light as those (..., 3) sRGB are among others."""
    lightness = np.asarray(colours, dtype=float) @ (0.30, 0.59, 0.11)  # luma
    return np.clip(np.multiply.outer(0.8 + 0.4 * lightness, rgb(colour)), 0.0, 1.0)
