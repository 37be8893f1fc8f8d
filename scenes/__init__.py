"""Scenes: what a person runs. `python -m scenes`, or the command `verletlab`, is the same from a shell.

    import scenes
    scene = scenes.load("drape")
    recording = scenes.run(scene, duration=2.0)
    recording.save("drape.npz")
    scenes.film(scene, "drape.mp4")
"""

import os

os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "False")  # its banner is nobody's output here

from scenes.recording import Recording
from scenes.render.film import film
from scenes.run import Replay, Run, run
from scenes.scene import Scene, available, load, register

__all__ = ["Recording", "Replay", "Run", "Scene", "available", "film", "load", "register", "run"]
