"""Clips: what the page records. Another process encodes them as films or replays.

`python -m scenes.view.clip FOLDER FILE` is that process. It prints a line for each frame.
"""

import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from pbd.core.files import temporary_folder
from scenes.simulate.interrupts import stop_signals_interrupt
from scenes.simulate.recording import Frame, Frames
from scenes.visuals import Camera, FollowingCamera

FPS = 30.0  # of films [1/s]
SIZE = 1280, 720
# The parts of a Frame that are stored; pictures need no velocities.
STORED = ("time", "positions", "poses", "body_poses")


class Clip:
    """Frames of a session as the user saw them, with torn cloth, with the ghost and at the same speed.

    Args: session: it records the current run; fps: frames per second of the film.
    """

    def __init__(self, session, fps=FPS):
        self.run, self.ghost, self.fps = session.run, session.ghost, fps
        self.frames = {name: Frames() for name in (*STORED, "ghost", "cameras", "torn")}
        self.visuals = []  # pairs (index of the first frame, visuals), one for each change
        self.torn = np.zeros((0, 2), int)  # in the last frame; each frame has the first of them
        self.next_time = -np.inf

    def __len__(self):
        return self.frames["time"].count

    def add(self, frame, speed, visuals, camera, ghost_frame=None):
        """Store a frame if one is due: a second of film is a second on the page.

        Args: frame: a Frame; speed: simulated seconds in a second; visuals; camera: a Camera; ghost_frame: that of the
        ghost, or None.
        """
        if frame.time < self.next_time - 1e-9:
            return
        self.next_time = (max(self.next_time, frame.time) if len(self) else frame.time) + speed / self.fps
        if not self.visuals or self.visuals[-1][1] is not visuals:
            self.visuals.append((len(self), visuals))
        for name in STORED:
            self.frames[name].append(getattr(frame, name))
        self.torn = frame.torn
        self.frames["torn"].append(len(frame.torn))
        self.frames["ghost"].append(np.zeros((0, 7)) if ghost_frame is None else ghost_frame.body_poses)
        self.frames["cameras"].append([camera.position, camera.target, (camera.field_of_view, 0.0, 0.0)])

    def save(self, folder, ghost_visuals=()):
        """Write what the encoding process needs. Args: folder; ghost_visuals: visuals of the ghost."""
        folder, scene = Path(folder), self.run.scene
        np.savez(folder / "frames.npz", **{name: frames.array() for name, frames in self.frames.items()})
        description = SimpleNamespace(
            fps=self.fps, visuals=self.visuals, torn=self.torn, ghost_visuals=list(ghost_visuals), ground=scene.ground,
            name=scene.name, solvers=[run.solver for run in (self.run, self.ghost) if run is not None],
        )  # fmt: skip
        (folder / "clip.pickle").write_bytes(pickle.dumps(description))


def encode_clip(clip, path, ghost_visuals=(), progress=None, started=None):
    """Encode a clip as a film or a replay, in another process.

    Args:
        clip: a Clip.
        path: an .mp4 or .html file.
        ghost_visuals: visuals of the ghost.
        progress: called with the number of each frame, and with the number of frames.
        started: called with the process, a subprocess.Popen. If it is terminated, the film ends there.

    Raises: RuntimeError with the reason if there is no film.
    """
    with temporary_folder() as folder:
        clip.save(folder, ghost_visuals)
        command = [sys.executable, "-m", "scenes.view.clip", folder, str(path)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            if started is not None:
                started(process)
            for line in process.stdout:
                if progress is not None and line.strip().isdigit():
                    progress(int(line), len(clip))
            if process.wait():
                raise RuntimeError(process.stderr.read().strip().split("\n")[-1] or "the film could not be encoded")
        finally:
            process.terminate()
            process.wait()


# In the encoding process ----------------------------------------------------------------------------------------------


@dataclass
class RecordedCamera(FollowingCamera):
    """The camera of each frame of a clip. Args: cameras (frames, 3, 3); frame_number: the current frame."""

    body: int = 0
    camera: object = None
    cameras: np.ndarray = ()
    frame_number: int = 0

    def at(self, frame):
        """The Camera of the current frame."""
        position, target, (field_of_view, _, _) = self.cameras[self.frame_number]
        return Camera(position, target, field_of_view)


class SavedClip:
    """A saved Clip, with the interface of a Run for scenes/render/film.py and scenes/render/page/replay.py.

    Args: folder; bodies: whose poses the frames contain, "body_poses" for the scene or "ghost".
    """

    def __init__(self, folder, bodies="body_poses"):
        with np.load(Path(folder) / "frames.npz") as file:
            self.arrays = {name: file[name] for name in file.files}
        # Unpickling is safe here: `Clip.save` wrote this file a moment ago.
        self.description = pickle.loads((Path(folder) / "clip.pickle").read_bytes())
        self.fps, self.count, self.bodies = self.description.fps, len(self.arrays["time"]), bodies
        self.solver = ", ".join(self.description.solvers)
        scene_visuals = dict(self.description.visuals)
        self.changes = scene_visuals if bodies == "body_poses" else {0: self.description.ghost_visuals}
        self.camera = RecordedCamera(cameras=self.arrays["cameras"])
        self.scene = SimpleNamespace(
            visuals=self.changes[0], camera=self.camera, name=self.description.name, ground=self.description.ground
        )

    def frame(self, number, bodies):
        """One Frame. Args: number; bodies: as for SavedClip."""
        time, positions, poses = (self.arrays[name][number] for name in STORED[:3])
        empty = np.zeros((0, 3))
        torn = self.description.torn[: self.arrays["torn"][number]]
        return Frame(float(time), positions, empty, poses, self.arrays[bodies][number], empty, torn)

    def frames(self):
        """Yield all frames. Meanwhile the visuals and the camera of the scene are those of the current frame."""
        visuals = []
        for number in range(self.count):
            visuals = self.changes.get(number, visuals)
            self.scene.visuals, self.camera.frame_number = visuals, number
            yield self.frame(number, self.bodies)


class SavedClipWithGhost(SavedClip):
    """A saved Clip that draws the ghost, too."""

    def frames(self):
        """Yield all frames. The visuals of the scene contain those of the ghost."""
        for number, frame in enumerate(super().frames()):
            ghost_frame = self.frame(number, "ghost")
            ghost = (FixedFrameVisual(visual, ghost_frame) for visual in self.description.ghost_visuals)
            self.scene.visuals = [*self.scene.visuals, *ghost]
            yield frame


@dataclass
class FixedFrameVisual:
    """A visual that always draws the same frame. Args: visual; frame."""

    visual: object
    frame: Frame

    def draw(self, frame):
        """Surfaces of the fixed frame. Args: frame: not used."""
        return self.visual.draw(self.frame)


def main(folder, path):
    """Encode a saved clip as a film or a replay, and print the number of each frame."""

    def progress(number, _):
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()

    if path.endswith(".html"):
        write_replay(folder, path, progress)
        return
    from scenes.render.film import draw_frames, renderer_for
    from scenes.simulate.device import initialise

    initialise()
    source = SavedClipWithGhost(folder)
    draw_frames(source, path, renderer_for(source.scene, *SIZE), progress=progress)


def write_replay(folder, path, progress):
    """Write a replay. Its camera starts where that of the clip starts."""
    from scenes.render.page.replay import write
    from scenes.visuals.colours import SOLVERS

    clips = SavedClip(folder), SavedClip(folder, "ghost")
    clips = dict(zip(clips[0].description.solvers, clips))
    for clip in clips.values():
        clip.scene.camera = clip.camera.at(None)
    write(clips, path, colours={label: SOLVERS[label] for label in clips}, progress=progress)


if __name__ == "__main__":
    with stop_signals_interrupt():
        main(*sys.argv[1:])
