"""Recording on the page: clips become films or replays while the scene continues. The page offers them as downloads."""

import threading
from pathlib import Path

from scenes.view.clip import Clip, encode_clip


class Recorder:
    """Records clips of a viewer. Args: viewer: a scenes.view.server.Viewer; folder: where files are written.

    Attributes: clip: the Clip that is recorded now, or None. client: whose camera it has. stopped: whether `stop` was
    called.
    """

    def __init__(self, viewer, folder="."):
        self.viewer, self.folder = viewer, Path(folder)
        self.clip, self.client, self.encoding, self.stopped = None, None, False, False
        self.process = self.thread = None  # that encode

    def start_or_stop(self, client):
        """Start a clip, or finish it. Args: client: whose camera is recorded."""
        if self.clip is not None:
            self.finish()
            return
        if self.encoding:
            raise RuntimeError("another film is being encoded: wait until it is finished")
        self.clip, self.client = Clip(self.viewer.session), client
        self.viewer.panel.record.label = "Stop recording"
        self.show_status("Recording …")

    def stop(self):
        """End the encoding, and wait until its temporary files are removed. The film ends at its current frame."""
        self.stopped = True
        if self.process is not None:
            self.process.terminate()
        if self.thread is not None:
            self.thread.join()

    def add(self, frame, ghost_frame):
        """Add a frame to the clip, if there is one. A new run finishes the clip."""
        if self.clip is None:
            return
        session, viewer = self.viewer.session, self.viewer
        if self.clip.run is not session.run:
            self.finish()
            return
        if session.ghost is None and self.clip.ghost is not None:
            ghost_frame = None
        self.clip.add(frame, session.speed, viewer.tearing.visuals, viewer.camera_of(self.client, frame), ghost_frame)
        self.show_status(f"Recording … {len(self.clip) / self.clip.fps:.0f} s")

    def finish(self):
        """Finish the clip and encode it. A thread waits for the encoding process."""
        clip, self.clip = self.clip, None
        self.viewer.panel.record.label = "Record"
        if len(clip) < 2:
            self.show_status("Nothing moved during the recording: no film.")
            return
        suffix = ".html" if "html" in self.viewer.panel.film_format.value else ".mp4"
        path, visuals = self.unused_path(clip.run, suffix), self.viewer.ghost_visuals(clip.ghost)
        self.encode(path, lambda progress: encode_clip(clip, path, visuals, progress, self.started))

    def started(self, process):
        """Remember the process that encodes. Args: process: a subprocess.Popen."""
        self.process = process
        if self.stopped:
            process.terminate()

    def unused_path(self, run, suffix):
        """A path of a file that does not exist yet. Args: a Run; suffix."""
        stem = f"{run.scene.name or 'scene'}-{run.solver}"
        names = (self.folder / f"{stem}{'' if k == 1 else f'-{k}'}{suffix}" for k in range(1, 10_000))
        return next(path for path in names if not path.exists())

    def encode(self, path, encode):
        """Write a file on a thread, show its progress, offer it as a download.

        Args: path; encode: a function of `progress`, which it calls with the number of a frame and of all frames.
        """
        self.encoding = True
        panel = self.viewer.panel
        panel.progress.value, panel.progress.visible = 0.0, True
        self.show_status(f"Encoding {path.name} …")

        def progress(number, count):
            panel.progress.value = 100 * number / count
            self.show_status(f"Encoding {path.name} … frame {number} of {count}")

        def work():
            try:
                encode(progress)
                self.viewer.server.send_file_download(path.name, path.read_bytes())
                self.show_status(f"{path.resolve()}: {path.stat().st_size / 1e6:.1f} MB")
            except Exception as error:
                if not self.stopped:
                    self.show_status(f"No film: {' '.join(str(error).split())}")
            finally:
                self.encoding, self.process = False, None
                if not self.stopped:
                    panel.progress.visible = False

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def show_status(self, text):
        """Show a text below the button."""
        text = text.replace("_", r"\_")
        if self.viewer.panel.film_status.content != text:
            self.viewer.panel.film_status.content = text
