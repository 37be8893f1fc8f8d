"""What the page records: takes that become films or replays, made beside the scene and offered for download."""

import threading
from pathlib import Path

from scenes.view.clip import Take, develop


class Films:
    """The recordings of a viewer. Arguments: viewer: a scenes.view.server.Viewer; folder: where files go.

    Attributes: take: what is being recorded, or None.
    """

    def __init__(self, viewer, folder="."):
        self.viewer, self.folder = viewer, Path(folder)
        self.take, self.client, self.busy, self.stopped = None, None, False, False

    def start_or_stop(self, client):
        """Begin a take, or end it and make the film. Arguments: client: whose view is filmed."""
        if self.take is not None:
            self.finish()
            return
        if self.busy:
            raise RuntimeError("a film is being made: wait until it is done")
        self.take, self.client = Take(self.viewer.session), client
        self.viewer.panel.record.label = "Stop recording"
        self.say("Recording …")

    def add(self, frame, ghost_frame):
        """Keep a frame of the take, if there is one; it ends where something new is run."""
        if self.take is None:
            return
        session, viewer = self.viewer.session, self.viewer
        if self.take.running is not session.running:
            self.finish()
            return
        if session.ghost is None and self.take.ghost is not None:
            ghost_frame = None
        self.take.add(frame, session.speed, viewer.tearing.visuals, viewer.camera_of(self.client, frame), ghost_frame)

    def finish(self):
        """End the take and have its film made, by a thread that waits for another process."""
        take, self.take = self.take, None
        self.viewer.panel.record.label = "Record"
        if len(take) < 2:
            self.say("Nothing moved while it was recorded: no film.")
            return
        suffix = ".html" if "html" in self.viewer.panel.film_kind.value else ".mp4"
        path, visuals = self.path(take.running, suffix), self.viewer.ghost_visuals(take.ghost)
        self.make(path, lambda progress: develop(take, path, visuals, progress, lambda: self.stopped))

    def path(self, running, suffix):
        """A file that is not there yet."""
        stem = f"{running.scene.name or 'scene'}-{running.solver}"
        names = (self.folder / f"{stem}{'' if k == 1 else f'-{k}'}{suffix}" for k in range(1, 10_000))
        return next(path for path in names if not path.exists())

    def make(self, path, make):
        """Make a file on a thread, tell how far it is, offer it. Arguments: path; make: a function of `progress`."""
        self.busy = True
        panel = self.viewer.panel
        panel.progress.value, panel.progress.visible = 0.0, True
        self.say(f"Drawing {path.name} …")

        def progress(number, count):
            panel.progress.value = 100 * number / count

        def work():
            try:
                make(progress)
                self.viewer.server.send_file_download(path.name, path.read_bytes())
                self.say(f"{path.resolve()}: {path.stat().st_size / 1e6:.1f} MB")
            except Exception as error:
                if not self.stopped:
                    self.say(f"No film: {' '.join(str(error).split())}")
            finally:
                self.busy = False
                if not self.stopped:
                    panel.progress.visible = False

        threading.Thread(target=work, daemon=True).start()

    def say(self, what):
        """Say it on the page."""
        self.viewer.panel.film_status.content = what.replace("_", r"\_")
