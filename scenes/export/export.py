"""From a scene or a recording to a file for another program: step, draw and write one frame at a time."""

import contextlib
import importlib
from pathlib import Path

from pbd.core.extras import load_extra
from pbd.core.files import replacing, temporary_folder
from scenes.render.video import TooLong, check_output, is_sequence
from scenes.simulate.interpolation import Resampled
from scenes.simulate.interrupts import interrupts_deferred
from scenes.simulate.run import source_of

FPS = 30.0  # of an export without a recording [1/s]

USD = (".usdc", ".usda", ".usd", ".usdz")

# {ending: module and class of its writer}
WRITERS = {
    **dict.fromkeys(USD, ("scenes.export.usd", "UsdWriter")),
    ".glb": ("scenes.export.gltf", "GltfWriter"),
    **dict.fromkeys((".obj", ".ply"), ("scenes.export.mesh_files", "MomentWriter")),
}
# {ending: library, extra, its name for pip}, for those that need one
LIBRARIES = {
    **dict.fromkeys(USD, ("pxr", "usd", "usd-core")), ".glb": ("pygltflib", "gltf", "pygltflib")
}  # fmt: skip
ENDINGS = tuple(WRITERS)


def export_usd(scene, path, recording=None, fps=None, progress=None, **run):
    """Run a scene and write it as USD, for Blender, Omniverse, Houdini and others (needs the extra `usd`).

    The stage has z up, metres, and a time code for each frame. scenes/export/usd.py lists its prims. After Ctrl-C, or
    if the run diverges, the file holds the frames so far.

    Args:
        scene: a Scene.
        path: a .usdc or .usd file, which is binary, a .usda file, which is text, or a .usdz file, which packs a .usdc.
        recording: a Recording of the scene, which is written without a new run.
        fps: frames per second, at most 1,000. Frames between steps, or between recorded frames, are interpolated. None
            for all frames of the recording, or 30 of a run.
        progress: called with the number of each frame, from 1, and the number of frames.
        run: solver, duration, dt and options of a run, see `scenes.run`.

    Returns: the number of frames written.

    Raises:
        ValueError, OSError, ModuleNotFoundError: if `path` cannot be written; nothing runs then.
        KeyboardInterrupt, pbd.Diverged: after the file is complete, with the number of its frames as `frames`.
    """
    check_output(path, USD)
    return export(scene, path, recording, fps, progress, **run)


def export_gltf(scene, path, recording=None, fps=None, progress=None, **run):
    """Run a scene and write it as binary glTF, for web pages and game engines (needs the extra `gltf`).

    Bodies are animated nodes. Surfaces that deform, such as cloth, are morph targets, for at most 240 frames. After
    Ctrl-C, or if the run diverges, the file holds the frames so far.

    Args: path: a .glb file; more: see `export_usd`.

    Returns, Raises: as for `export_usd`; ValueError after the second frame if there will be too many.
    """
    check_output(path, (".glb",))
    return export(scene, path, recording, fps, progress, **run)


def export_mesh(scene, path, recording=None, fps=None, progress=None, **run):
    """Run a scene and write what it shows as triangles: the last moment, or a file for each frame.

    Args:
        path: an .obj or .ply file for the last frame. A number in its name makes a sequence from 1, in a folder that
            may be new: "frames/cloth-%04d.obj".
        more: see `export_usd`.

    Returns: the number of files written. Raises: as for `export_usd`.
    """
    check_path(path, (".obj", ".ply"))
    return export(scene, path, recording, fps, progress, **run)


def export(scene, path, recording=None, fps=None, progress=None, **run):
    """Write a scene to a file of any of ENDINGS. Args, Returns, Raises: see `export_usd`."""
    check_path(path)
    fps = FPS if fps is None and recording is None else fps
    source = source_of(scene, recording, fps=fps, **run)
    source = source if fps is None else Resampled(source, fps)
    return write_frames(source, path, progress)


def check_path(path, endings=ENDINGS):
    """Check that a file or a sequence can be written, and that its library is installed. Args: path; endings.

    Raises: see `check_output`; ModuleNotFoundError that says how to install the library.
    """
    path = Path(path)
    check_output(path, endings)
    if path.suffix.lower() in LIBRARIES:
        load_extra(*LIBRARIES[path.suffix.lower()])


def write_frames(source, path, progress=None):
    """Write all frames of a Run or a Replay. Args, Returns, Raises: as for `export_usd`."""
    check_path(path)
    path = Path(path)
    suffix, stopped = path.suffix.lower(), None
    module, name = WRITERS[suffix]
    several = is_sequence(path)
    make = getattr(importlib.import_module(module), "SequenceWriter" if several else name)
    place = contextlib.nullcontext if several else packed if suffix == ".usdz" else replacing
    with place(path) as partial:
        writer = make(partial, source)
        try:
            for number, frame in enumerate(source.frames(), 1):
                with interrupts_deferred():
                    writer.add(frame)
                if progress:
                    progress(number, source.count)
        except TooLong:
            raise
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


@contextlib.contextmanager
def packed(path):
    """Context in which a .usdc file is written, which becomes the only file in a .usdz. Args: path: of the .usdz.

    Returns: the path to write to.
    """
    from scenes.export.usd import pack  # needs an extra

    with replacing(path) as partial, temporary_folder() as folder:
        layer = folder / "scene.usdc"
        yield layer
        with interrupts_deferred():
            pack(layer, partial)
