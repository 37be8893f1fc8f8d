"""A take: what is recorded on the page, and becomes a film or a replay afterwards, by a process of its own.

`python -m scenes.view.clip FOLDER FILE` is that process; it writes a line of progress for each frame.
"""

import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from scenes.simulate.recording import Frame, Frames
from scenes.visuals import Camera, FollowingCamera

FPS = 30.0  # of a film
SIZE = 1280, 720
# What of a Frame is kept; pictures need no velocities.
KEPT = ("time", "positions", "poses", "body_poses")


class Take:
    """Frames of a session, kept to be filmed as they were seen: with what was torn, the ghost, the speed.

    Arguments: session: what it runs now is what is filmed; fps: frames a second of the film.
    """

    def __init__(self, session, fps=FPS):
        self.running, self.ghost, self.fps = session.running, session.ghost, fps
        self.frames = {name: Frames() for name in (*KEPT, "ghost", "cameras")}
        self.visuals = []  # (number of the first frame, visuals), where they changed
        self.next = -np.inf

    def __len__(self):
        return self.frames["time"].count

    def add(self, frame, speed, visuals, camera, ghost_frame=None):
        """Keep a frame where one is due: a second of film is what was seen in a second.

        Arguments: a Frame; speed: seconds of the scene in a second; visuals; camera: a Camera; ghost_frame: the ghost's.
        """
        if frame.time < self.next - 1e-9:
            return
        self.next = max(self.next, frame.time) + speed / self.fps if len(self) else frame.time + speed / self.fps
        if not self.visuals or self.visuals[-1][1] is not visuals:
            self.visuals.append((len(self), visuals))
        for name in KEPT:
            self.frames[name].append(getattr(frame, name))
        self.frames["ghost"].append(np.zeros((0, 7)) if ghost_frame is None else ghost_frame.body_poses)
        self.frames["cameras"].append([camera.position, camera.target, (camera.field_of_view, 0.0, 0.0)])

    def save(self, folder, ghost_visuals=()):
        """Write what the process needs. Arguments: folder; ghost_visuals: visuals of the ghost."""
        folder, scene = Path(folder), self.running.scene
        np.savez(folder / "frames.npz", **{name: frames.array() for name, frames in self.frames.items()})
        told = SimpleNamespace(
            fps=self.fps, visuals=self.visuals, ghost_visuals=list(ghost_visuals), ground=scene.ground, name=scene.name,
            solvers=[running.solver for running in (self.running, self.ghost) if running is not None],
        )  # fmt: skip
        (folder / "told.pickle").write_bytes(pickle.dumps(told))


def develop(take, path, ghost_visuals=(), progress=None, stopped=lambda: False):
    """Make a film or a replay of a take.

    Arguments: take; path: an .mp4 or .html file; ghost_visuals: visuals of the ghost; progress: called with the number of
    each frame and how many there are; stopped: whether to give up.

    Errors: RuntimeError with what went wrong.
    """
    with tempfile.TemporaryDirectory(prefix="verletlab-") as folder:
        take.save(folder, ghost_visuals)
        command = [sys.executable, "-m", "scenes.view.clip", folder, str(path)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            for line in process.stdout:
                if stopped():
                    raise RuntimeError("the film was given up")
                if progress is not None and line.strip().isdigit():
                    progress(int(line), len(take))
            if process.wait():
                raise RuntimeError(process.stderr.read().strip().split("\n")[-1] or "the film could not be drawn")
        finally:
            process.kill()
            process.wait()


@dataclass
class Seen(FollowingCamera):
    """A camera that is where a person's was. Arguments: those of each frame, in `cameras` (frames, 3, 3)."""

    body: int = 0
    camera: object = None
    cameras: np.ndarray = ()
    number: int = 0

    def at(self, frame):
        """The Camera of the frame that is drawn."""
        position, target, (field_of_view, _, _) = self.cameras[self.number]
        return Camera(position, target, field_of_view)


class Source:
    """A saved take, frame by frame, as scenes.render.film and scenes.render.page.replay draw it.

    Arguments: folder; bodies: whose are in the frames, the scene's "body_poses" or those of the "ghost".
    """

    def __init__(self, folder, bodies="body_poses"):
        with np.load(Path(folder) / "frames.npz") as file:
            self.arrays = {name: file[name] for name in file.files}
        # Our own process wrote it, a moment ago.
        self.told = pickle.loads((Path(folder) / "told.pickle").read_bytes())
        self.fps, self.count, self.bodies = self.told.fps, len(self.arrays["time"]), bodies
        self.solver = ", ".join(self.told.solvers)
        self.changes = dict(self.told.visuals) if bodies == "body_poses" else {0: self.told.ghost_visuals}
        self.camera = Seen(cameras=self.arrays["cameras"])
        self.scene = SimpleNamespace(
            visuals=self.changes[0], camera=self.camera, name=self.told.name, ground=self.told.ground
        )

    def frame(self, number, bodies):
        """The Frame of a number. Arguments: number; bodies: as of the Source."""
        time, positions, poses = (self.arrays[name][number] for name in KEPT[:3])
        nothing = np.zeros((0, 3))
        return Frame(float(time), positions, nothing, poses, self.arrays[bodies][number], nothing)

    def frames(self):
        """Yields the frames; the scene's visuals and camera are those of each, while it is at grab."""
        visuals = []
        for number in range(self.count):
            visuals = self.changes.get(number, visuals)
            self.scene.visuals, self.camera.number = visuals, number
            yield self.frame(number, self.bodies)


class WithGhost(Source):
    """The same, with the ghost among the visuals of each frame."""

    def frames(self):
        """Yields the frames."""
        for number, frame in enumerate(super().frames()):
            beside = self.frame(number, "ghost")
            self.scene.visuals = [*self.scene.visuals, *(Still(visual, beside) for visual in self.told.ghost_visuals)]
            yield frame


@dataclass
class Still:
    """What a visual draws of another frame. Arguments: visual; frame."""

    visual: object
    frame: Frame

    def draw(self, frame):
        """Surfaces, whatever the frame."""
        return self.visual.draw(self.frame)


def main(folder, path):
    """Make a film or a replay of a saved take, telling the number of each frame that is done."""

    def tell(number, _):
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()

    if path.endswith(".html"):
        write_replay(folder, path, tell)
        return
    from scenes.render.film import draw_frames, renderer_for
    from scenes.simulate.device import initialise

    initialise()
    source = WithGhost(folder)
    draw_frames(source, path, renderer_for(source.scene, *SIZE), progress=tell)


def write_replay(folder, path, tell):
    """Make a replay; whoever looks at it has the camera."""
    from scenes.render.page.replay import write
    from scenes.visuals.colours import SOLVERS

    sources = Source(folder), Source(folder, "ghost")
    sources = dict(zip(sources[0].told.solvers, sources))
    for each in sources.values():
        each.scene.camera = each.camera.at(None)
    write(sources, path, colours={label: SOLVERS[label] for label in sources}, progress=tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
