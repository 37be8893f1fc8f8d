"""Write a film and a replay page for each scene of the gallery to build/replays, where `make docs` finds them.

    python docs/replays.py            # of all scenes that have none yet
    python docs/replays.py drape top  # of these, again
"""

import subprocess
import sys
from pathlib import Path

from scenes.registry import available

FOLDER = Path(__file__).parents[1] / "build" / "replays"
LENGTH = ("--duration", "4", "--fps", "20")  # a page has one to ten megabytes
SIZE = ("--size", "480x270", "--no-labels")  # of a film

# A page keeps the shape of each strand and stem in each frame: a megabyte for 800 strands.
SMALLER = {"hair": {"strands": 100}, "tree_in_wind": {"branches": 4}}


def parameters_of(name):
    """Flags for the parameters of a scene in its film and page."""
    given = {**available()[name].picture_parameters, **SMALLER.get(name, {})}
    return [word for key, value in given.items() for word in ("--param", f"{key}={value}")]


def film_command(name):
    """The command that makes the film of a scene, as words."""
    return ["verletlab", "render", name, "--out", f"{name}.mp4", *LENGTH, *SIZE, *parameters_of(name)]


def make(name):
    """Make the film and the page of a scene from one run. Args: name."""
    recording, film, page = (FOLDER / f"{name}.{suffix}" for suffix in ("npz", "mp4", "html"))
    drawn = ("render", name, "--recording", recording)
    commands = [
        ("run", name, "--out", recording, *LENGTH, *parameters_of(name)),
        (*drawn, "--out", film, *LENGTH[2:], *SIZE),
        (*drawn, "--out", page, *LENGTH[2:]),
    ]
    for command in commands:
        subprocess.run([sys.executable, "-m", "scenes", *map(str, command), "--quiet"], check=True)
    recording.unlink()


def main(names):
    """Make films and pages. Args: names: of scenes; empty for all that have none."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or [name for name in available() if not (FOLDER / f"{name}.html").exists()]:
        make(name)


if __name__ == "__main__":
    main(sys.argv[1:])
