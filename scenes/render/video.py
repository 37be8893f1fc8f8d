"""Pictures into a file: a film, a GIF, stills.

Frames go straight to ffmpeg (imageio-ffmpeg carries it), so a long film takes no more memory than a short one.
"""

import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import imageio.v2 as imageio
import imageio_ffmpeg
import numpy as np

from scenes.simulate.interrupts import interrupts_deferred

MP4 = {"codec": "libx264", "quality": None, "pixelformat": "yuv420p", "macro_block_size": 2,
       "output_params": ["-crf", "18", "-preset", "medium", "-movflags", "+faststart"]}
LOSSLESS = {"codec": "libx264rgb", "quality": None, "pixelformat": "rgb24", "macro_block_size": 1,
            "output_params": ["-crf", "0", "-preset", "ultrafast"]}
SUFFIXES = (".mp4", ".gif", ".png")


class VideoWriter:
    """Writes pictures, as they come, to a file whose suffix says what it becomes.

    .mp4: H.264. Its format needs even sizes: a picture with an odd one repeats its last column or row.
    .gif: with a palette of its own, made in close() from all frames; until then they wait, compressed without loss,
        in the temporary folder.
    .png: a single picture becomes the file itself. Several become numbered files NAME-0001.png, NAME-0002.png, ...
        beside it, and NAME.png is not written.

    A context manager: the file is finished on leaving the block, also after an error or Ctrl-C (which waits for the
    frame at hand, and which ffmpeg does not see), and holds what was written until then. Without any frame there is
    no file. Files of the same name are replaced.

    path: str or Path.  fps: frames a second of the film (no meaning for .png).
    Raises, before anything is drawn: ValueError for another suffix or fps, and an OSError that names path and reason
    where no file can be written there.
    """

    def __init__(self, path, fps=30):
        self.path = Path(path)
        self.fps = fps
        self.frames = 0
        check_output(self.path)
        if not (math.isfinite(fps) and fps >= 0.01):  # ffmpeg is given two decimals of it
            raise ValueError(f"fps is {fps}, expected a finite number of 0.01 or more")
        self._shape = None
        self._encode = {".mp4": Film, ".gif": Gif, ".png": Stills}[self.path.suffix.lower()]
        self._encoder = None
        self._closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def write(self, image):
        """Append a picture (height, width, 3) uint8; all of one file have the same size.

        Raises ValueError for another shape or type or after close(), and OSError where the encoder fails.
        """
        image = np.ascontiguousarray(image)
        if self._closed:
            raise ValueError(f"{self.path} is closed")
        if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape or image.dtype != np.uint8:
            raise ValueError(f"image has shape {image.shape} and type {image.dtype}, expected (height, width, 3) uint8")
        if self._shape not in (None, image.shape):
            raise ValueError(f"image has shape {image.shape}, the ones before it had {self._shape}")
        with interrupts_deferred():
            if self._encoder is None:
                self._shape = image.shape
                self._encoder = self._encode(self.path, self.fps)
            self._encoder.write(image)
            self.frames += 1

    def close(self):
        """Finish the file; further calls do nothing."""
        with interrupts_deferred():
            if not self._closed and self._encoder is not None:
                self._closed = True
                self._encoder.close()
            self._closed = True


class Film:
    """H.264 in an mp4."""

    def __init__(self, path, fps, settings=MP4):
        self.path = path
        # imageio adds to the lists it is given, so that it gets its own.
        settings = {key: list(value) if isinstance(value, list) else value for key, value in settings.items()}
        self.even = settings["macro_block_size"] == 2
        self.writer = imageio.get_writer(str(path), format="FFMPEG", mode="I", fps=fps, ffmpeg_log_level="error",
                                         **settings)

    def write(self, image):
        """Append a picture."""
        if self.even and (image.shape[0] % 2 or image.shape[1] % 2):
            image = np.pad(image, ((0, image.shape[0] % 2), (0, image.shape[1] % 2), (0, 0)), mode="edge")
        try:
            self.writer.append_data(image)
        except (OSError, StopIteration) as error:
            reason = str(error).partition("\n")[0] or "it takes no more frames"
            raise OSError(f"{self.path}: the encoder stopped: {reason}") from None

    def close(self):
        """Let the encoder finish."""
        self.writer.close()
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise OSError(f"{self.path}: the encoder left no film")


class Gif:
    """A film without loss, made into a GIF in the end: its palette depends on all frames."""

    def __init__(self, path, fps):
        self.path = path
        self.folder = Path(tempfile.mkdtemp(prefix="verletlab-"))
        self.film = Film(self.folder / "frames.mkv", fps, LOSSLESS)

    def write(self, image):
        """Append a picture."""
        self.film.write(image)

    def close(self):
        """Find the palette, then draw all frames with it."""
        try:
            self.film.close()
            frames, palette = str(self.film.path), str(self.folder / "palette.png")
            # The palette is made from what changes, each colour counted when it goes; a black end makes all go.
            self._ffmpeg("-i", frames, "-vf", "tpad=stop=1:stop_mode=add,palettegen=stats_mode=diff", "-update", "1",
                         palette)
            self._ffmpeg("-i", frames, "-i", palette, "-lavfi",
                         "paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle", str(self.path))
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _ffmpeg(self, *arguments):
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-nostdin", "-v", "error", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, start_new_session=True, check=False)
        if done.returncode:
            raise OSError(f"{self.path}: ffmpeg failed: {done.stderr.strip()}")


class Stills:
    """One PNG, or a numbered sequence; which of them, the second picture tells."""

    def __init__(self, path, _fps):
        self.path = path
        self.count = 0
        self.first = None

    def write(self, image):
        """Keep the first picture until another one comes, and write that one at once."""
        self.count += 1
        if self.count == 1:
            self.first = image.copy()
            return
        if self.count == 2:
            imageio.imwrite(self._numbered(1), self.first)
        imageio.imwrite(self._numbered(self.count), image)

    def close(self):
        """Write a picture that stayed alone."""
        if self.count == 1:
            imageio.imwrite(self.path, self.first)

    def _numbered(self, number):
        return self.path.with_name(f"{self.path.stem}-{number:04d}{self.path.suffix}")


def check_output(path, suffixes=SUFFIXES):
    """Refuse a path that cannot become a file of one of some kinds, before any work is done for it.

    Raises ValueError for an unknown suffix, and FileNotFoundError, NotADirectoryError, IsADirectoryError or
    PermissionError with a line that names the path.
    """
    path = Path(path)
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: suffix {path.suffix!r} is not supported, expected one of {', '.join(suffixes)}")
    folder = path.absolute().parent
    for ancestor in (folder, *folder.parents):
        if ancestor.exists() and not ancestor.is_dir():
            raise NotADirectoryError(f"{path}: {ancestor} is a file, not a directory")
    if not folder.exists():
        raise FileNotFoundError(f"{path}: there is no directory {folder}")
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a directory")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{path}: the directory {folder} is not writable")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(f"{path}: the file exists and is not writable")
