"""Plain English: no document, message, docstring or public name contains the words of the old dialect.

The left columns of the tables in the project's language guide are the list. A word that is also a plain English word is
searched only where it was a name (`hold` as a method, `looks` as a parameter).
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from documents import DOCUMENTS

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for package in ("pbd", "rigid", "scenes") for path in (ROOT / package).rglob("*.py"))

# Phrases and words, in any text. "sweep" stands for sweeps over parameters alone; "hand" for a person's.
PHRASES = [
    r"\bis told of\b", r"\bare told of\b", r"\bas of (?!version)", r"\bof one's own\b", r"\bof a person's own\b",
    r"\bhave alike\b", r"\bhas alike\b", r"\bthose that are\b", r"\bwhat it has not\b", r"\bwhat a scene has not\b",
    r"\bhas not it\b", r"\bcommon coin\b", r"\bchange their minds\b", r"\bthe clock's\b", r"\bdoor to them\b",
    r"\blook around\b", r"\bleave more to whom\b", r"\bWho deviates\b", r"\bgood and bad at\b",
    r"\bwith your hands on it\b", r"\bwith hands on\b", r"\bmore than there is room for\b", r"\bno hands to hold\b",
    r"\bThe house\b", r"\bis written anew\b", r"\bthin(?:s|ned)? out\b", r"\bhand(?:s|ed)? over\b",
    r"\bturning stiffness\b", r"\bknobs?\b", r"\bcontenders?\b", r"\blead(?:s)? driven\b", r"\btriads?\b",
    r"(?<!degree of )(?<!degrees of )\bfreedoms?\b", r"\bsurroundings\b",
]  # fmt: skip

# Words of iterations: a solver iterates, parameters are swept.
SWEEP = r"\bsweeps?\b|\bswept\b"
SWEEPING = (  # sources about sweeps
    "scenes/__init__", "benchmarks/__init__", "benchmarks/sweeps", "scenes/cli/main", "scenes/cli/sweep",
    "scenes/sweeps",
)  # fmt: skip

# Names that are gone, as whole identifiers or parts of snake case.
NAMES = {
    "hands", "let_go", "looks", "Fabric", "Solid", "Contender", "Comparing", "knobs", "Take", "develop",
    "turning_stiffness", "turning_damping", "LOCK", "DISC", "LEADER", "Kept", "kept_keys", "recall", "Joiner",
    "Guest", "invite", "meet", "Store", "Batches", "Kind", "surroundings", "timeline", "still", "blow",
    "rub", "bounce", "keep_out", "foresee", "fans", "afresh", "answers", "soften", "put_inverse", "mends",
    "gain_speed", "spin_on", "stand_still", "share_out", "send_up", "send_down", "carry_on", "take_off",
    "calm", "in_turn", "thin_out", "hand_over", "meetings", "look_around", "crowds", "CROWDED", "triad", "freedom",
    "accusation", "understanding", "forgive", "tell", "renew",
}  # fmt: skip


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def prose(path):
    """A document without its code blocks and code spans."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


def texts(path):
    """All string constants of a source file, docstrings and messages included: [(line, text)]."""
    nodes = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [(node.lineno, node.value) for node in nodes]


def defined_names(path):
    """Names of functions, classes, parameters and fields in a source file: [(line, name)]."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append((node.lineno, node.name))
        elif isinstance(node, ast.arg):
            found.append((node.lineno, node.arg))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append((node.lineno, node.target.id))
    return found


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=relative)
def test_documents_use_plain_words(path):
    text = prose(path)
    found = [match.group() for phrase in PHRASES for match in re.finditer(phrase, text, re.IGNORECASE)]
    if path.name not in ("README.md", "glossary.md", "sweeps.md"):  # which name and define the command `sweep`
        found += re.findall(SWEEP, text)
    assert not found


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_docstrings_and_messages_use_plain_words(path):
    found = []
    for line, text in texts(path):
        found += [f"line {line}: {match.group()}" for phrase in PHRASES for match in re.finditer(phrase, text)]
        if not relative(path).startswith(SWEEPING):
            found += [f"line {line}: {word}" for word in re.findall(SWEEP, text)]
    assert not found


# Names that are gone from the physics, but are the terms of the field elsewhere: a renderer has batches.
PHYSICS_NAMES = {"Batch", "gather"}


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_names_are_the_terms_of_the_field(path):
    gone = NAMES if relative(path).startswith("scenes/") else NAMES | PHYSICS_NAMES
    if relative(path) == "rigid/build/ragdoll.py":
        gone = gone - {"hands"}  # a person's
    assert not [f"line {line}: {name}" for line, name in defined_names(path) if name in gone]


def test_the_search_finds_what_it_looks_for():
    assert re.search(PHRASES[2], "damping as of the model", re.IGNORECASE)
    assert not re.search(SWEEP, "a sweeping statement")
    assert any(name == "Solver" for _, name in defined_names(ROOT / "rigid/solvers/base.py"))


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 250
