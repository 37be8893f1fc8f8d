"""From a scene or a recording to a file for another program: step, draw and write one frame at a time."""

import importlib
from pathlib import Path

from pbd.core.extras import load_extra
from pbd.core.files import replacing
from scenes.render.video import check_output
from scenes.simulate.interrupts import interrupts_deferred
from scenes.simulate.run import Replay, Run

FPS = 30.0  # of an export without a recording [1/s]

# {ending: module and class of the writer, module of the library, extra and name for pip}
USD = "scenes.export.usd", "UsdWriter", "pxr", "usd", "usd-core"
WRITERS = {".usdc": USD, ".usda": USD, ".usd": USD}
ENDINGS = tuple(WRITERS)


def export_usd(scene, path, recording=None, fps=None, progress=None, **run):
    """Run a scene and write it as USD, for Blender, Omniverse, Houdini and others (needs the extra `usd`).

    The stage has z up, metres, and a time code for each frame. scenes/export/usd.py lists its prims. After Ctrl-C, or
    if the run diverges, the file holds the frames so far.

    Args:
        scene: a Scene.
        path: a .usdc or .usd file, which is binary, or a .usda file, which is text.
        recording: a Recording of the scene, which is written without a new run.
        fps: frames per second, rounded so that frames are at whole steps or recorded frames; None for all frames of
            the recording, or 30 of a run.
        progress: called with the number of each frame, from 1, and the number of frames.
        run: solver, duration, dt and options of a run, see `scenes.run`.

    Returns: the number of frames written.

    Raises:
        ValueError, OSError, ModuleNotFoundError: if `path` cannot be written; nothing runs then.
        KeyboardInterrupt, pbd.Diverged: after the file is complete, with the number of its frames as `frames`.
    """
    check_output(path, (".usdc", ".usda", ".usd"))
    return export(scene, path, recording, fps, progress, **run)


def export(scene, path, recording=None, fps=None, progress=None, **run):
    """Write a scene to a file of any of ENDINGS. Args, Returns, Raises: see `export_usd`."""
    check_output(path, ENDINGS)
    library_of(Path(path).suffix.lower())
    if recording is None:
        source = Run(scene, fps=FPS if fps is None else fps, **run)
    else:
        source = Replay(scene, recording, fps)
    return write_frames(source, path, progress)


def library_of(suffix):
    """Import the library that writes a format. Args: suffix: one of ENDINGS.

    Raises: ModuleNotFoundError that says how to install it.
    """
    _, _, library, extra, package = WRITERS[suffix]
    load_extra(library, extra, package)


def write_frames(source, path, progress=None):
    """Write all frames of a Run or a Replay. Args, Returns, Raises: as for `export_usd`."""
    check_output(path, ENDINGS)
    suffix, stopped = Path(path).suffix.lower(), None
    library_of(suffix)
    make = getattr(importlib.import_module(WRITERS[suffix][0]), WRITERS[suffix][1])
    with replacing(path) as partial:
        writer = make(partial, source)
        try:
            for number, frame in enumerate(source.frames(), 1):
                with interrupts_deferred():
                    writer.add(frame)
                if progress:
                    progress(number, source.count)
        except (KeyboardInterrupt, Exception) as stop:
            stopped = stop
            if not writer.frames:
                raise
        with interrupts_deferred():
            writer.finish()
    if stopped is not None:
        stopped.frames = writer.frames
        raise stopped
    return writer.frames
