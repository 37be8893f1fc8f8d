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


def main(names):
    """Write replays. Args: names: of scenes; empty for all that have none."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or [name for name in available() if not (FOLDER / f"{name}.html").exists()]:
        command = (sys.executable, "-m", "scenes", "render", name, "--out", FOLDER / f"{name}.html", *FLAGS)
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
