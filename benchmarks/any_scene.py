"""Speed of any scene with each solver that can run it."""

import time

from benchmarks.timing import row
from scenes.registry import load
from scenes.simulate.run import Run

WARM_UP = 2  # frames before the measurement, in which kernels compile


def speed_of(name, duration=2.0):
    """Processor time of a scene's steps, in its first seconds.

    Args: name: of the scene; duration: of what is measured at most [s].
    """
    scene = load(name)
    for solver in scene.solvers:
        running = Run(scene, solver, min(scene.duration, duration))
        seconds = steps = 0
        frames = running.frames()
        while True:
            before, done = time.process_time(), running.done
            if next(frames, None) is None:
                break
            if done >= WARM_UP * running.steps_per_frame:
                seconds, steps = seconds + time.process_time() - before, steps + running.done - done
        digest = (running.particles or running.system).digest()
        if steps:
            yield row(name, f"{solver} step", 1e6 * seconds / steps, "µs/step", digest)
            simulated = steps * running.settings["dt"]
            yield row(name, f"{solver} simulated seconds by processor second", simulated / seconds, "ratio")
