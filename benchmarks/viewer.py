"""Speed of live viewing: simulated frames per second of each solver, and the time that the viewer adds."""

import subprocess
import sys
import time

import numpy as np

from benchmarks.sticks import c_loop
from benchmarks.timing import row
from scenes.registry import load
from scenes.simulate.run import Run

FRAME = 1 / 60  # [s] of the scene
MACHINE = "C loop on this machine"
SCENES = {
    "cloth 64x64": ("drape", {"count": 64}),
    "cloth 100x100": ("drape", {"count": 100}),
    "ragdoll": ("ragdoll", {}),
    "scout robot": ("scout_robot", {}),
    "linkage": ("peaucellier_lipkin", {}),
}

# A process that receives all messages of the page, and prints their size. Argument: the port.
READER = """
import sys

import msgspec
import viser
from viser._messages import ViewerCameraMessage
from websockets.sync.client import connect

address, version = f"ws://127.0.0.1:{sys.argv[1]}", f"viser-v{viser.__version__}"
camera = ViewerCameraMessage((1, 0, 0, 0), (3, 3, 3), 1.0, 0.01, 1000.0, 600, 800, (0, 0, 0), (0, 0, 1))
with connect(address, subprotocols=[version], max_size=None, compression=None) as page:
    page.send(msgspec.msgpack.encode(camera.as_serializable_dict()))
    print(sum(map(len, page)))
"""


def view(duration=4.0):
    """Simulated frames of 1/60 s per second, on average and in the slowest second, and the time that the viewer adds.

    The speed of the loop in C says which machine it was.

    Args: duration: of each run [s].
    """
    loop = c_loop()
    if loop.library:
        yield row("view", MACHINE, loop.rate() / 1e6, "million projections/s")
    for case, (name, parameters) in SCENES.items():
        scene = load(name, **parameters)
        for solver in scene.solvers:
            running, seconds = paced(scene, solver, duration)
            digest, second = running.system.digest(), round(running.fps)
            sums = np.convolve(seconds, np.ones(min(second, len(seconds))), "valid")
            yield row("view", f"{case} {solver}", 60 * running.system.time / seconds.sum(), "frames/s", digest)
            yield row("view", f"{case} {solver} slowest second", 60 / sums.max(), "frames/s", digest)
    yield from shown()


def paced(scene, solver, duration):
    """Run a scene. Returns: a Run at its end, and wall times of its frames, each with its read-out (frames,) [s]."""
    from scenes.view.session import GRABS

    seconds = []
    for length in (2 * FRAME, min(duration, scene.duration)):  # the first one compiles
        running = Run(scene, solver, length, fps=1 / FRAME, grabs=GRABS)
        seconds.clear()
        while running.done < running.steps:
            start = time.perf_counter()
            running.step(running.steps_per_frame)
            running.frame(velocities=False)
            seconds.append(time.perf_counter() - start)
            running.done += running.steps_per_frame
    return running, np.array(seconds)


def shown(count=100, frames=180):
    """Time that the viewer adds to a frame of a falling cloth of count x count, without and with an open page."""
    from scenes.view.server import Viewer

    viewer = Viewer(load("drape", count=count), port=0)
    session, reader = viewer.session, None
    for case in ("nobody", "a page"):
        if case == "a page":
            reader = subprocess.Popen([sys.executable, "-c", READER, str(viewer.port)], stdout=subprocess.DEVNULL)
            while not viewer.server.get_clients():
                time.sleep(0.01)
        session.reset()
        seconds = []
        for _ in range(frames):
            session.step()
            start = time.perf_counter()
            viewer.show(session)
            seconds.append(time.perf_counter() - start)
        digest = session.run.particles.digest()
        yield row("view", f"cloth {count}x{count} shown to {case}", 1e3 * np.median(seconds), "ms/frame", digest)
    viewer.stop()
    reader.wait(10)
