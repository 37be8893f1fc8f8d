"""`verletlab new FILE.py`: write a file with a first scene, which the user changes."""

import keyword
from pathlib import Path

from pbd.core.files import replacing
from scenes.cli import terminal
from scenes.cli.terminal import usage_errors
from scenes.registry import available
from scenes.render.video import check_output

START = Path(__file__).with_name("first_scene.py")
FUNCTION = "my_scene"  # of that file


def add(commands):
    """Add the command. Args: commands: subparsers."""
    made = commands.add_parser(
        "new", usage="verletlab new FILE.py [--force]", help="write a file with a scene of your own, to change",
        description="Writes a commented scene. The function gets the name of the file, if no scene has it.",
    )  # fmt: skip
    made.add_argument("file", metavar="FILE.py", help="file to write, such as my_scene.py")
    made.add_argument("--force", action="store_true", help="replace a file that is there")
    made.set_defaults(command=write_scene, quiet=False)


def write_scene(given):
    """Write the file, and print what to do with it."""
    path = Path(given.file)
    with usage_errors():
        check_output(path, (".py",))
        if path.exists() and not given.force:
            raise FileExistsError(f"{given.file}: the file is there already: expected another name, or --force")
        text = START.read_text(encoding="utf-8").replace("FILE.py", path.name)
        with replacing(path) as partial:
            partial.write_text(text.replace(FUNCTION, function_of(path)), encoding="utf-8")
    hint = f"{given.file}: try `verletlab view {given.file}`"
    terminal.out.print(hint, markup=False, highlight=False, soft_wrap=True)


def function_of(path):
    """Name of the scene's function: the file's, if a function can have it and no scene does."""
    name = path.stem
    free = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_") and name not in available()
    return name if free else FUNCTION
