"""Write pictures into a file: a video, a GIF or PNG files.

Each frame goes to ffmpeg (from imageio-ffmpeg) at once, so a long video needs no more memory than a short one.
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
    """Writes pictures to a file, one by one.

    The suffix of the file chooses the format:

    - .mp4: H.264. The format needs even sizes: a picture with an odd size repeats its last column or row.
    - .gif: has a palette of all frames, which `close` makes. Until then the frames are compressed without loss in the
      temporary folder.
    - .png: one picture becomes the file itself. Several become numbered files NAME-0001.png, NAME-0002.png, ... and
      NAME.png is not written.

    It is a context manager. At the end of the block, also after an error or Ctrl-C, the file is complete and contains
    the frames until then. Ctrl-C waits for the current frame, and does not reach ffmpeg. Without frames there is no
    file. Existing files are replaced.

    Args:
        path: a str or Path.
        fps: frames per second of the video [1/s]; ignored for .png.

    Raises: ValueError for another suffix or fps; an OSError with path and reason if the file cannot be written. Both
        come before anything is drawn.
    """

    def __init__(self, path, fps=30):
        self.path = Path(path)
        self.fps = fps
        self.frames = 0
        check_output(self.path)
        if not (math.isfinite(fps) and fps >= 0.01):  # ffmpeg gets two decimals
            raise ValueError(f"fps is {fps}: expected a finite number of at least 0.01")
        self._shape = None
        self._encode = {".mp4": Film, ".gif": Gif, ".png": Pictures}[self.path.suffix.lower()]
        self._encoder = None
        self._closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def write(self, image):
        """Append a picture.

        Args: image: (height, width, 3) uint8, of the same size as the others.

        Raises: ValueError for another shape or type, and after `close`; OSError if the encoder fails.
        """
        image = np.ascontiguousarray(image)
        if self._closed:
            raise ValueError(f"{self.path} is closed: expected no more pictures")
        if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape or image.dtype != np.uint8:
            raise ValueError(f"image has shape {image.shape} and type {image.dtype}: expected (height, width, 3) uint8")
        if self._shape not in (None, image.shape):
            raise ValueError(f"image has shape {image.shape}: expected that of the others, {self._shape}")
        with interrupts_deferred():
            if self._encoder is None:
                self._shape = image.shape
                self._encoder = self._encode(self.path, self.fps)
            self._encoder.write(image)
            self.frames += 1

    def close(self):
        """Complete the file. Further calls do nothing."""
        with interrupts_deferred():
            if not self._closed and self._encoder is not None:
                self._closed = True
                self._encoder.close()
            self._closed = True


class Film:
    """H.264 video in an mp4 file."""

    def __init__(self, path, fps, settings=MP4):
        self.path = path
        # imageio appends to the lists that it gets, so it gets copies.
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
            reason = str(error).partition("\n")[0] or "it accepts no more frames"
            raise OSError(f"{self.path}: the encoder stopped: {reason}") from None

    def close(self):
        """Let the encoder finish the file."""
        self.writer.close()
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise OSError(f"{self.path}: the encoder wrote no video")


class Gif:
    """A lossless video that becomes a GIF at the end, because the palette depends on all frames."""

    def __init__(self, path, fps):
        self.path = path
        self.folder = Path(tempfile.mkdtemp(prefix="verletlab-"))
        self.film = Film(self.folder / "frames.mkv", fps, LOSSLESS)

    def write(self, image):
        """Append a picture."""
        self.film.write(image)

    def close(self):
        """Make the palette, then encode all frames with it."""
        try:
            self.film.close()
            frames, palette = str(self.film.path), str(self.folder / "palette.png")
            # The palette counts a colour when it disappears from a pixel. A black frame at the end makes all disappear.
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


class Pictures:
    """One PNG file, or a numbered sequence if there is a second picture."""

    def __init__(self, path, _fps):
        self.path = path
        self.count = 0
        self.first = None

    def write(self, image):
        """Store the first picture. Write it, and all others, once there is a second one."""
        self.count += 1
        if self.count == 1:
            self.first = image.copy()
            return
        if self.count == 2:
            imageio.imwrite(self._numbered(1), self.first)
        imageio.imwrite(self._numbered(self.count), image)

    def close(self):
        """Write the picture if there is only one."""
        if self.count == 1:
            imageio.imwrite(self.path, self.first)

    def _numbered(self, number):
        return self.path.with_name(f"{self.path.stem}-{number:04d}{self.path.suffix}")


def check_output(path, suffixes=SUFFIXES):
    """Check that a file can be written, before any work is done for it.

    Args: path; suffixes: of the formats that are possible.

    Raises: ValueError for another suffix; FileNotFoundError, NotADirectoryError, IsADirectoryError or PermissionError
        with a line that names the path.
    """
    path = Path(path)
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: suffix {path.suffix!r}: expected one of {', '.join(suffixes)}")
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
