"""Pictures and videos of a recording.

    camera = Camera.framing(lower, upper)
    renderer = Renderer(1280, 720)
    with VideoWriter("drape.mp4") as video:
        for ...:
            picture = renderer.draw([Surface(...), Instances(...)], camera)
            video.write(draw_labels(picture, ["drape", "t = 1.25 s"]))
"""

from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer
from scenes.render.video import VideoWriter, check_output
from scenes.visuals.camera import Camera
from scenes.visuals.geometry import Instances, Surface, box, capsule, cylinder, particles, sphere, tubes

__all__ = ["Camera", "Instances", "Renderer", "Surface", "VideoWriter", "box", "capsule", "check_output", "cylinder",
           "draw_labels", "particles", "sphere", "tubes"]
