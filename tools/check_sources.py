"""Rules of the repository that ruff does not check. `make lint` runs them, and prints a line for each offence.

    python tools/check_sources.py

    rigid/model.py:12: imports scenes.scene: use nothing above rigid, because imports run scenes -> rigid -> pbd

A rule is a function with the decorator `@rule`: from a Repository it yields (file, line, what is there, what to use
instead). For each rule tests/test_sources.py has an example that breaks it.
"""

import ast
import re
import sys
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

PACKAGES = ("pbd", "rigid", "scenes")  # from low to high: each imports itself and those before it
SOLVERS = ("verlet", "impulse", "articulated", "penalty")

# Folders and files of scenes/, from low to high: each may import itself and those before it.
LAYERS = (
    "parameters", "identification", "visuals", "scene", "registry", "catalogue", "scene_files", "simulate", "render",
    "export", "comparison", "sweeps", "testing", "pytest_plugin", "view", "cli", "__main__",
)  # fmt: skip

# Of rigid/ only the folder of solver "verlet" imports these. Everyone may import pbd/core.
DYNAMICS = ("pbd.ParticleSystem", "pbd.integrate", "pbd.projection", "pbd.step", "pbd.system")

# Descriptions are plain numpy: files, and folders that end with "/".
DESCRIPTIONS = ("pbd/particles.py", "pbd/build/", "pbd/core/validate/")

# What `sys` knows about Python's version and modules.
OF_MODULES = ("sys.builtin_module_names", "sys.modules", "sys.modules.get", "sys.version")

# Only a user and scenes/ call these.
CALLS_OF_USERS = ("input", "print", "taichi.init", "ti.init")

# Files with a limit of their lines: a step fits on a few screens.
LONGEST = {"step.py": 150, "README.md": 250}

# Sites that the project may name. No test reaches a network, so a person looks at a new one. A package index is none of
# them, because each user has their own.
SITES = (
    "arxiv.org", "docs.dask.org", "doi.org", "github.com", "jobqueue.dask.org", "unpkg.com", "www.taichi-lang.org",
)  # fmt: skip
NAMESPACE_OF_SVG = "http://www.w3.org/2000/svg"  # a name, which nobody fetches
LOCAL = ("localhost", "lab.example")  # in help and comments of the viewer

# Files of users, which examples name.
FILES_OF_USERS = ("FILE.py", "my_scene.py")

# Phrases of early documents, which say nothing to a newcomer.
PHRASES = (
    r"\bis told of\b", r"\bare told of\b", r"\bas of (?!version)", r"\bof one's own\b", r"\bof a person's own\b",
    r"\bhave alike\b", r"\bhas alike\b", r"\bthose that are\b", r"\bwhat it has not\b", r"\bwhat a scene has not\b",
    r"\bhas not it\b", r"\bcommon coin\b", r"\bchange their minds\b", r"\bthe clock's\b", r"\bdoor to them\b",
    r"\blook around\b", r"\bleave more to whom\b", r"\bWho deviates\b", r"\bgood and bad at\b",
    r"\bwith your hands on it\b", r"\bwith hands on\b", r"\bmore than there is room for\b", r"\bno hands to hold\b",
    r"\bThe house\b", r"\bis written anew\b", r"\bthin(?:s|ned)? out\b", r"\bhand(?:s|ed)? over\b",
    r"\bturning stiffness\b", r"\bknobs?\b", r"\bcontenders?\b", r"\blead(?:s)? driven\b", r"\btriads?\b",
    r"(?<!degree of )(?<!degrees of )\bfreedoms?\b", r"\bsurroundings\b",
)  # fmt: skip
SWEEP = r"\bsweeps?\b|\bswept\b"  # parameters are swept; a solver iterates
ON_SWEEPS = ("README.md", "docs/glossary.md", "docs/guides/sweeps.md")


class Repository:
    """Files of the repository, read once. Names of files are relative to its root."""

    def __init__(self, root):
        self.root, self._texts, self._nodes = root, {}, {}

    def text(self, name):
        """The text of a file."""
        if name not in self._texts:
            self._texts[name] = (self.root / name).read_text("utf-8", errors="replace")
        return self._texts[name]

    def nodes(self, name):
        """All nodes of a Python file's syntax tree; the first is the module."""
        if name not in self._nodes:
            self._nodes[name] = list(ast.walk(ast.parse(self.text(name))))
        return self._nodes[name]

    def files(self, pattern):
        """Names of the files that match a pattern such as "pbd/**/*.py"."""
        return [path.relative_to(self.root).as_posix() for path in sorted(self.root.glob(pattern)) if path.is_file()]

    @cached_property
    def sources(self):
        """Python files of the packages."""
        return [name for package in PACKAGES for name in self.files(f"{package}/**/*.py")]

    @cached_property
    def documents(self):
        """Markdown files for readers."""
        return [*self.files("README.md"), *self.files("CONTRIBUTING.md"), *self.files("docs/**/*.md")]

    def uses_taichi(self, name):
        """Whether a file imports Taichi anywhere."""
        return any(top(module) == "taichi" for _, module in imports(self.nodes(name)))


def imports(nodes):
    """Modules that nodes of a tree import: [(line, dotted name)]. `from a import b` imports a and a.b."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            found += [(node.lineno, name) for name in names]
    return found


def top(module):
    """The package of a module."""
    return module.split(".")[0]


def compiled(node, kinds=("ti.func", "ti.kernel")):
    """Whether Taichi compiles a function."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(decorator).split("(")[0] in kinds for decorator in node.decorator_list
    )


def matches(pattern, text, flags=0):
    """Matches of a pattern: [(line, match)]."""
    return [(text.count("\n", 0, match.start()) + 1, match) for match in re.finditer(pattern, text, flags)]


def line_of(text, words):
    """The first line of a text with some words; 1 if no line has them."""
    return next((number for number, line in enumerate(text.splitlines(), 1) if words in line), 1)


RULES = {}


def rule(function):
    """Add a rule to RULES."""
    RULES[function.__name__] = function
    return function


# Imports --------------------------------------------------------------------------------------------------------------


@rule
def packages_import_one_way(repository):
    """Yield imports of a package above, and of tests."""
    for name in repository.sources:
        own = name.split("/")[0]
        above = (*PACKAGES[PACKAGES.index(own) + 1 :], "tests")
        for line, module in imports(repository.nodes(name)):
            if top(module) in above:
                advice = f"nothing above {own}, because imports run scenes -> rigid -> pbd"
                yield name, line, f"imports {module}", advice


@rule
def imports_have_no_circle(repository):
    """Yield one circle of files that import one another, also within functions. Files __init__.py do not count."""
    files = {name.removesuffix(".py").replace("/", "."): name for name in repository.sources}
    lines = {name: {} for name in repository.sources}  # {file: {imported file: line}}
    for name, found in lines.items():
        for line, module in imports(repository.nodes(name)):
            if files.get(module, name) != name:
                found.setdefault(files[module], line)
    try:
        TopologicalSorter(lines).prepare()
    except CycleError as error:
        imported, name, *others = error.args[1]
        path = ", which ".join(f"imports {each}" for each in (imported, *reversed(others[:-1]), name))
        yield name, lines[name][imported], path, "a file that both import"


@rule
def layers_of_scenes_import_one_way(repository):
    """Yield imports within scenes/ of a layer above."""
    for name in repository.files("scenes/**/*.py"):
        own = name.split("/")[1].removesuffix(".py")
        if own not in (*LAYERS, "__init__"):
            yield name, 1, f"{own} is no layer of scenes", "an entry in LAYERS of tools/check_sources.py"
            continue
        # scenes/__init__.py imports each module when one of its names is first used.
        allowed = () if own == "__init__" else LAYERS[: LAYERS.index(own) + 1]
        for line, module in imports(repository.nodes(name)):
            layer = module.split(".")[1] if module.startswith("scenes.") else None
            if layer in LAYERS and layer not in allowed:
                yield name, line, f"{own} imports {module}", "a layer before it in LAYERS of tools/check_sources.py"


@rule
def solvers_import_neither_solvers_nor_particle_dynamics(repository):
    """Yield imports of another solver's folder; and of pbd's dynamics, except in rigid/solvers/verlet."""
    for name in repository.files("rigid/**/*.py"):
        folders = name.split("/")
        own = folders[2] if folders[1] == "solvers" else ""
        others = [f"rigid.solvers.{solver}" for solver in SOLVERS if own in SOLVERS and solver != own]
        for line, module in imports(repository.nodes(name)):
            if ".".join(module.split(".")[:3]) in others:
                yield name, line, f"imports {module}", "a file of rigid that both solvers import"
            if own != "verlet" and module in DYNAMICS:
                yield name, line, f"imports {module}", "pbd/core, or move the file to rigid/solvers/verlet"


@rule
def descriptions_need_no_taichi(repository):
    """Yield imports of Taichi at the start of descriptions, and of what imports it at its own start."""

    def imported(name):  # at the start of a file
        body = repository.nodes(name)[0].body
        starts = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try, ast.If))]
        return imports(inner for node in starts for inner in ast.walk(node))

    def starts_taichi(module, seen):
        path = module.replace(".", "/")
        files = {f"{path}.py", f"{path}/__init__.py"} & set(repository.sources) - seen
        seen |= files  # pbd/__init__.py runs before any of them, so it does not count
        return top(module) == "taichi" or (module not in PACKAGES and any(
            starts_taichi(each, seen) for file in files for _, each in imported(file)
        ))  # fmt: skip

    for name in (name for name in repository.sources if name.startswith(DESCRIPTIONS)):
        for line, module in imported(name):
            if starts_taichi(module, set()):
                yield name, line, f"imports {module}, and so Taichi", "numpy, because descriptions need no Taichi"


@rule
def physics_neither_prints_nor_starts_taichi(repository):
    """Yield printing, logging, command lines and `ti.init` in pbd and rigid."""
    advice = "an error, a warning or a returned value: the caller prints and starts Taichi"
    for name in (name for name in repository.sources if not name.startswith("scenes/")):
        for node in repository.nodes(name):
            for line, module in imports([node]):
                if top(module) in ("argparse", "logging", "rich") or module.startswith("sys."):
                    yield name, line, f"imports {module}", advice
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS_OF_USERS:
                yield name, node.lineno, f"{ast.unparse(node.func)}()", advice
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("sys."):
                if ast.unparse(node) not in OF_MODULES:
                    yield name, node.lineno, ast.unparse(node), advice


# What Taichi permits --------------------------------------------------------------------------------------------------


@rule
def kernels_have_no_postponed_annotations(repository):
    """Yield postponed annotations beside kernels, because Taichi reads annotations as objects."""
    for name in filter(repository.uses_taichi, repository.sources):
        for line, module in imports(repository.nodes(name)):
            if module == "__future__.annotations":
                yield name, line, "postponed annotations in a file with kernels", "no such import"


@rule
def kernels_change_arrays_without_atomics(repository):
    """Yield `s.x[i] += d`, and `x[i] += d` for an array that is an argument.

    These are atomic: compare-and-swap loops, eight times slower, whose order of summation changes from run to run. On
    local vectors it is an addition.
    """
    for name in filter(repository.uses_taichi, repository.sources):
        for function in filter(compiled, repository.nodes(name)):
            arrays = {
                argument.arg
                for argument in function.args.args
                if compiled(function, ["ti.kernel"]) or "template" in ast.unparse(argument.annotation or ast.Tuple([]))
            }
            for node in ast.walk(function):
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                    base = node.target.value
                    while isinstance(base, ast.Subscript):
                        base = base.value
                    if isinstance(base, ast.Attribute) or (isinstance(base, ast.Name) and base.id in arrays):
                        yield name, node.lineno, f"{ast.unparse(node)} is atomic", "x[i] = x[i] + d"


# Length and words -----------------------------------------------------------------------------------------------------


@rule
def files_are_short(repository):
    """Yield files that are longer than LONGEST permits."""
    for name in [*repository.sources, *repository.documents]:
        count, most = len(repository.text(name).splitlines()), LONGEST.get(name.split("/")[-1])
        if most and count > most:
            yield name, most + 1, f"{count} lines", f"at most {most}, and other files for details"


@rule
def documents_use_plain_words(repository):
    """Yield PHRASES in documents, and "sweep" for an iteration."""
    for name in [*repository.documents, *repository.files("CHANGELOG.md")]:
        # Code and targets of links become empty; their lines stay.
        code = r"```.*?```|`[^`]*`|\]\([^)]*\)"
        text = re.sub(code, lambda found: "\n" * found[0].count("\n"), repository.text(name), flags=re.DOTALL)
        found = [each for phrase in PHRASES for each in matches(phrase, text, re.IGNORECASE)]
        found += [] if name in ON_SWEEPS else matches(SWEEP, text)
        for line, match in found:
            yield name, line, f'"{match[0]}"', "plain words: see PHRASES and SWEEP in tools/check_sources.py"


# Links and names of files ---------------------------------------------------------------------------------------------


@rule
def links_lead_somewhere(repository):
    """Yield links of documents to files and headings that do not exist."""
    for name in repository.documents:
        text = repository.text(name)
        headings = {words.lower().replace(" ", "-") for words in re.findall(r"^#+ (.*)", text, re.MULTILINE)}
        blocks = MarkdownIt().enable("table").parse(text)
        parts = [part for block in blocks if block.type == "inline" for part in block.children]
        for target in (part.attrs.get("href") or part.attrs.get("src", "") for part in parts if part.attrs):
            file, _, heading = target.partition("#")
            if "://" not in target and not (repository.root / name).parent.joinpath(file).exists():
                yield name, line_of(text, target), f"a link to {target}", "a path from the folder of the document"
            elif heading and not file and heading not in headings:
                yield name, line_of(text, target), f"a link to #{heading}", "a heading of the document"


@rule
def sources_in_brackets_are_links(repository):
    """Yield "[file.py]" in a document that has no line "[file.py]: path", and such lines without a use."""
    for name in repository.documents:
        text = repository.text(name)
        used = {match[1]: line for line, match in reversed(matches(r"\[([\w/]+\.py)\](?![(:])", text))}
        given = {match[1]: line for line, match in matches(r"^\[([\w/]+\.py)\]: ", text, re.MULTILINE)}
        for file in sorted(used.keys() ^ given.keys()):
            advice = f"a line [{file}]: PATH at the end" if file in used else "no line for what is not used"
            yield name, {**given, **used}[file], f"[{file}]", advice


@rule
def addresses_are_whole_and_known(repository):
    """Yield addresses of sites outside SITES, not by https, or with ports or users."""
    patterns = ["*.*", "Makefile", ".ci/*", "docs/**/*.md", "docs/**/*.ipynb"]
    patterns += [f"{folder}/**/*.py" for folder in (*PACKAGES, "verletlab", "docs")]
    for name in dict.fromkeys(name for pattern in patterns for name in repository.files(pattern)):
        text = repository.text(name)
        if "\0" in text:  # a film that someone has made here, as the README says
            continue
        for line, match in matches(r"\b\w+://[^\s\"'`<>()\[\]|\\]+", text):
            parts = urlsplit(match[0])
            if parts.scheme not in ("http", "https") or "{" in parts.netloc or parts.hostname in LOCAL:
                continue  # of Dask, of ROS, or an address that the code makes
            if match[0] == NAMESPACE_OF_SVG:
                continue
            if parts.scheme != "https" or parts.netloc not in SITES:
                yield name, line, match[0], f"https and one of {', '.join(SITES)}; or add a site to SITES"


@rule
def named_files_exist(repository):
    """Yield names of files that do not exist, in sources and documents."""
    tests = {Path(name).name for name in repository.files("tests/**/*.py")}
    for name in repository.sources:
        for line, match in matches(r"(?<![\w/.{}])[\w/]+\.(?:py|md)\b", repository.text(name)):
            places = (repository.root / folder / match[0] for folder in Path(name).parents)
            if match[0] not in {*tests, *FILES_OF_USERS} and not any(place.exists() for place in places):
                yield name, line, f"names {match[0]}", "a path from the root, or from a folder above the file"
    pattern = r"(?<![\w/.])(?:pbd|rigid|scenes|tests|docs|media|tools)/[\w/]*(?:\.\w+)?"
    for name in repository.documents:
        for line, match in matches(pattern, re.sub(r"(?m)^\[.*\]: .*$", "", repository.text(name))):
            if not (repository.root / match[0]).exists():
                yield name, line, f"names {match[0]}", "a path from the root"


def check(root):
    """Run all rules. Args: root: folder of the repository. Returns: a text for each offence, sorted by file."""
    repository, found = Repository(root), {}
    for file, line, what, use in (offence for each in RULES.values() for offence in each(repository)):
        found.setdefault((file, line, use), what)  # `from a import b` imports a and a.b: one line for both
    return [f"{file}:{line}: {what}: use {use}" for (file, line, use), what in sorted(found.items())]


if __name__ == "__main__":
    offences = check(Path(__file__).parents[1])
    print("\n".join(offences) or "All rules of tools/check_sources.py are kept.")
    sys.exit(bool(offences))
