"""Write a replay page for each scene of the gallery to build/replays, where `make docs` finds them.

    python docs/replays.py            # all scenes that have none yet
    python docs/replays.py drape top  # these, again
"""

import subprocess
import sys
from pathlib import Path

from scenes.registry import available

FOLDER = Path(__file__).parents[1] / "build" / "replays"
FLAGS = ("--duration", "4", "--fps", "20", "--quiet")  # one to ten megabytes each

# A page keeps the shape of each strand and stem in each frame: a megabyte for 800 strands.
SMALLER = {"hair": ("--param", "strands=100"), "tree_in_wind": ("--param", "branches=4")}


def main(names):
    """Write replays. Args: names: of scenes; empty for all that have none."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or [name for name in available() if not (FOLDER / f"{name}.html").exists()]:
        command = (sys.executable, "-m", "scenes", "render", name, "--out", FOLDER / f"{name}.html", *FLAGS)
        command += SMALLER.get(name, ())
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
