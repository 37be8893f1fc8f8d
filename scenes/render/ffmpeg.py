"""ffmpeg, from imageio-ffmpeg: as a command, and as the reader of raw pictures. Its exit status is always read."""

import contextlib
import errno
import os
import subprocess
import tempfile
from fractions import Fraction

import imageio_ffmpeg


def run(*arguments):
    """Run ffmpeg. Args: arguments: words of the command. Raises: OSError with the reason if it fails."""
    done = subprocess.run(command(*arguments), capture_output=True, start_new_session=True, check=False)
    check(done.returncode, done.stderr)


def command(*arguments):
    """The words of a command that prints errors only and replaces files."""
    return [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-nostdin", "-v", "error", *map(str, arguments)]


def check(status, messages):
    """Raise OSError if ffmpeg failed. Args: status: its exit status; messages: bytes that it printed."""
    text = messages.decode(errors="replace")
    full = os.strerror(errno.ENOSPC)
    if status and full in text:
        raise OSError(errno.ENOSPC, full)
    if status:
        lines = [line for line in text.splitlines() if line.strip()]
        raise OSError(errno.EIO, f"ffmpeg failed: {lines[-1] if lines else f'exit status {status}'}")


class PictureEncoder:
    """Encodes pictures that it gets one by one. A context manager, whose end stops ffmpeg.

    Ctrl-C does not reach ffmpeg, so that it can finish the file.

    Args:
        path: of the video.
        shape: of the pictures (height, width, 3).
        fps: frames per second [1/s].
        settings: ffmpeg's words for the codec.
    """

    def __init__(self, path, shape, fps, settings):
        height, width, _ = shape
        rate = Fraction(fps).limit_denominator()
        raw = "-f", "rawvideo", "-s", f"{width}x{height}", "-pix_fmt", "rgb24", "-r", rate, "-i", "-"
        self.messages = tempfile.TemporaryFile(prefix="verletlab-")  # noqa: SIM115 - the process writes to it
        self.process = subprocess.Popen(
            command(*raw, "-an", *settings, path), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=self.messages, start_new_session=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.messages.close()

    def write(self, image):
        """Encode a picture. Args: image: contiguous. Raises: OSError with the reason if ffmpeg has stopped."""
        try:
            self.process.stdin.write(image.data)
            self.process.stdin.flush()
        except OSError:
            self.finish()
            raise

    def finish(self):
        """Wait until the video is complete. Raises: OSError with the reason if it is not."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        status = self.process.wait()
        self.messages.seek(0)
        check(status, self.messages.read())
