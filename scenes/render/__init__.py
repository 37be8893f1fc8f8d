"""Pictures and videos of scenes.

    camera = Camera.framing(lower, upper)
    renderer = Renderer(1280, 720)
    with VideoWriter("drape.mp4") as video:
        for ...:
            picture = renderer.draw([Surface(...), Instances(...)], camera)
            video.write(draw_labels(picture, ["drape", "t = 1.25 s"]))

Camera, Surface and Instances are those of scenes.visuals.
"""

from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer
from scenes.render.video import VideoWriter, check_output

__all__ = ["Renderer", "VideoWriter", "check_output", "draw_labels"]
