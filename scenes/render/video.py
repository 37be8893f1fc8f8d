"""Write pictures into a file: a video, a GIF or PNG files.

Each frame goes to ffmpeg (from imageio-ffmpeg) at once, so a long video needs no more memory than a short one.
"""

import contextlib
import math
import os
import re
import warnings
from pathlib import Path

import numpy as np

from pbd.core.files import replacing, temporary_folder
from pbd.core.validate import positive
from scenes.render import ffmpeg
from scenes.simulate.interrupts import interrupts_deferred

MP4 = ["-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"]
LOSSLESS = ["-vcodec", "libx264rgb", "-pix_fmt", "rgb24", "-crf", "0", "-preset", "ultrafast"]
VIDEOS = (".mp4", ".gif")
SUFFIXES = (*VIDEOS, ".png")
GIF_RATE = 50.0  # [1/s]: browsers show a delay below 20 ms as one of 100 ms
SEQUENCES = (".png", ".obj", ".ply")  # formats of one frame, of which there may be a numbered file for each frame
NUMBER = re.compile(r"%0?\d*d")  # in the name of a sequence, as in C and ffmpeg: "cloth-%04d.png"


class TooLong(ValueError):
    """A run that is too long for a format: nothing is written."""


class VideoWriter:
    """Writes pictures to a file, one by one.

    The suffix of the file chooses the format:

    - .mp4: H.264. The format needs even sizes: a picture with an odd size repeats its last column or row.
    - .gif: has a palette of all frames, which `close` makes. Until then the frames are compressed without loss in the
      temporary folder. Of more than GIF_RATE frames per second some are left out.
    - .png: one picture becomes the file itself. Several become numbered files NAME-0001.png, NAME-0002.png, ... and
      NAME.png is not written. With a number in the name, as in NAME-%03d.png, all become numbered files.

    It is a context manager. At the end of the block, also after an error or Ctrl-C, the file is complete and contains
    the frames until then. Ctrl-C waits for the current frame, and does not reach ffmpeg. The file appears when it is
    complete: until then, and if it cannot be written, an existing one stays. Without frames there is no file.

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
            try:
                self._encoder.write(image)
            except BaseException:
                self.frames, self._closed = 0, True
                with self._encoder.resources:  # removes what is there of the file
                    raise
            self.frames += 1

    def close(self):
        """Complete the file. Further calls do nothing."""
        with interrupts_deferred():
            closed, self._closed = self._closed, True
            if not closed and self._encoder is not None:
                with self._encoder.resources:
                    self._encoder.finish()


class Film:
    """H.264 video in an mp4 file.

    Attributes: resources: a stack of contexts, like that of the other encoders. Its end moves the file to its place, or
    removes it after an error.
    """

    def __init__(self, path, fps, settings=MP4):
        self.fps, self.settings, self.even = fps, settings, settings is MP4
        self.resources = contextlib.ExitStack()
        self.partial = self.resources.enter_context(replacing(path))
        self.encoder = None

    def write(self, image):
        """Append a picture."""
        if self.even and (image.shape[0] % 2 or image.shape[1] % 2):
            image = np.pad(image, ((0, image.shape[0] % 2), (0, image.shape[1] % 2), (0, 0)), mode="edge")
        if self.encoder is None:
            encoder = ffmpeg.PictureEncoder(self.partial, image.shape, self.fps, self.settings)
            self.encoder = self.resources.enter_context(encoder)
        self.encoder.write(image)

    def finish(self):
        """Let ffmpeg finish the file."""
        self.encoder.finish()


class Gif:
    """A lossless video that becomes a GIF at the end, because the palette depends on all frames."""

    def __init__(self, path, fps):
        self.resources = contextlib.ExitStack()
        self.partial = self.resources.enter_context(replacing(path))
        self.folder = self.resources.enter_context(temporary_folder())
        self.frames = self.folder / "frames.mkv"
        self.film = Film(self.frames, fps, LOSSLESS)
        self.resources.push(self.film.resources)

    def write(self, image):
        """Append a picture."""
        self.film.write(image)

    def finish(self):
        """Make the palette, then encode all frames with it."""
        with self.film.resources:
            self.film.finish()
        palette = self.folder / "palette.png"
        # The palette counts a colour when it disappears from a pixel. A black frame at the end makes all disappear.
        ffmpeg.run("-i", self.frames, "-vf", "tpad=stop=1:stop_mode=add,palettegen=stats_mode=diff", "-update", 1,
                   palette)  # fmt: skip
        thinned = f"fps={GIF_RATE:g}," if self.film.fps > GIF_RATE else ""
        ffmpeg.run("-i", self.frames, "-i", palette, "-lavfi",
                   f"{thinned}paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle", self.partial)  # fmt: skip


class Pictures:
    """One PNG file, or a numbered sequence if the path asks for it or there is a second picture."""

    def __init__(self, path, _fps):
        self.count, self.first = 0, None
        self.path, self.name = path, path.name if is_sequence(path) else f"{path.stem}-%04d{path.suffix}"
        path.parent.mkdir(exist_ok=True)
        self.resources = contextlib.ExitStack()

    def write(self, image):
        """Store the first picture. Write it, and all others, once there is a second one."""
        self.count += 1
        if self.count == 1 and not is_sequence(self.path):
            self.first = image.copy()
            return
        if self.count == 2 and self.first is not None:
            write_picture(self._numbered(1), self.first)
        write_picture(self._numbered(self.count), image)

    def finish(self):
        """Write the picture if there is only one."""
        if self.count == 1 and self.first is not None:
            write_picture(self.path, self.first)

    def _numbered(self, number):
        return self.path.with_name(number_name(self.name, number))


def rate_of(path, fps):
    """Frames per second that a file can have: at most GIF_RATE in a GIF. Args: path; fps: what is wanted [1/s].

    Warns: UserWarning if it can have fewer. Raises: TypeError or ValueError for what is no rate.
    """
    positive("fps", fps)
    if Path(path).suffix.lower() != ".gif" or fps <= GIF_RATE:
        return fps
    warnings.warn(f"{path}: {GIF_RATE:g} frames per second in place of {fps:g}, because browsers show no more of a GIF",
                  UserWarning, stacklevel=3)  # fmt: skip
    return GIF_RATE


def is_sequence(path):
    """Whether a path stands for a file of each frame, as "cloth-%04d.png" does."""
    path = Path(path)
    return path.suffix.lower() in SEQUENCES and bool(NUMBER.search(path.name))


def number_name(name, number):
    """Replace the NUMBER in a name. Args: name; number: of the frame."""
    return NUMBER.sub(lambda found: found[0] % number, name, count=1)


def write_picture(path, image):
    """Write a PNG file. Args: path; image: (height, width, 3) uint8."""
    import imageio.v2 as imageio  # slow to import

    with replacing(path) as partial:
        imageio.imwrite(partial, image)


def check_output(path, suffixes=SUFFIXES):
    """Check that a file can be written, before any work is done for it.

    Args: path: the folder of a sequence may be new; suffixes: of the formats that are possible.

    Raises: ValueError for another suffix; FileNotFoundError, NotADirectoryError, IsADirectoryError or PermissionError
        with a line that names the path.
    """
    path = Path(path)
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: suffix {path.suffix!r}: expected one of {', '.join(suffixes)}")
    folder = path.absolute().parent
    folder = folder.parent if is_sequence(path) and not folder.exists() else folder
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
