"""Make pictures of scenes in this folder: `python media/pictures.py [SCENE ...]`, without names of the whole catalogue.

`picture=` and `picture_parameters=` of a scene's `@register` choose its time and its parameters.
"""

import shlex
import subprocess
import sys
from pathlib import Path

from scenes.registry import available, find

if __name__ == "__main__":
    for name in sys.argv[1:] or available():
        _, *words = shlex.split(find(name).picture_command)
        subprocess.run([sys.executable, "-m", "scenes", *words, "--quiet"], cwd=Path(__file__).parent, check=True)
