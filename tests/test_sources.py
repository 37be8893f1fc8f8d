"""Rules of tools/check_sources.py: the repository keeps each of them, and each finds an example that breaks it."""

from pathlib import Path

import pytest

from tools import check_sources
from tools.check_sources import RULES, Repository

ROOT = Path(__file__).parents[1]
REPOSITORY = Repository(ROOT)

# For each rule: files that break it, with » before each offence.
BROKEN = {
    "packages_import_one_way": {
        "rigid/a.py": "import pbd\n» import scenes.scene\ndef f():\n    » from tests import x\n",
    },
    "imports_have_no_circle": {
        "pbd/__init__.py": "from pbd import a\n",
        "pbd/a.py": "import pbd.b\n",
        "pbd/b.py": "import numpy\ndef f():\n    from pbd.c import d\n",
        "pbd/c.py": "» from pbd import a\n",
        "pbd/d.py": "from pbd import a\n",
    },
    "layers_of_scenes_import_one_way": {
        "scenes/render/a.py": "import scenes.scene\n» from scenes.cli import main\nfrom scenes import load\n",
        "scenes/__init__.py": "» import scenes.scene\n",
        "scenes/new.py": "» import scenes.scene\n",
    },
    "solvers_import_neither_solvers_nor_particle_dynamics": {
        "rigid/solvers/impulse/a.py": "import pbd.core\n» import rigid.solvers.penalty.data\n» from pbd import step\n",
        "rigid/solvers/verlet/a.py": "» import rigid.solvers.penalty\nfrom pbd import step\n",
    },
    "descriptions_need_no_taichi": {
        "pbd/__init__.py": "import taichi\n",
        "pbd/build/a.py": "import pbd, numpy\n» import pbd.b\n» import taichi\ndef f(): import taichi\n",
        "pbd/b.py": "from pbd.c import d\n",
        "pbd/c.py": "import taichi\n",
    },
    "physics_neither_prints_nor_starts_taichi": {
        "pbd/a.py": "import sys\n» from sys import argv\n» import logging\n» print(1)\n» sys.exit()\nsys.version\n",
        "rigid/a.py": "import taichi as ti\n» ti.init()\n",
        "scenes/a.py": "print(1)\n",
    },
    "kernels_have_no_postponed_annotations": {
        "pbd/a.py": "» from __future__ import annotations\nimport taichi\n",
        "pbd/b.py": "from __future__ import annotations\n",
    },
    "kernels_change_arrays_without_atomics": {
        "pbd/a.py": (
            "import taichi as ti\n@ti.func\ndef f(s, x: ti.template(), local):\n    » s.y[0] += 1\n    » x[0][1] -= 1\n"
            "    local[0] += 1\n@ti.kernel\ndef g(x: X):\n    » x[0] += 1\ndef h(x):\n    x[0] += 1\n"
        ),
    },
    "files_are_short": {"pbd/step.py": 150 * "\n" + "» x\n", "pbd/other.py": 200 * "\n"},
    "documents_use_plain_words": {
        "docs/a.md": "A `knob`, a degree of freedom.\n```\nknob\n```\n» Triads\n» that sweep\n",
        "docs/guides/sweeps.md": "A sweep\n",
    },
    "links_lead_somewhere": {
        "docs/a.md": "# One two\n[a](a.md) [b](#one-two) [c](https://doi.org)\n\n» [d](b.md)\n\n» [e](#three)\n",
    },
    "sources_in_brackets_are_links": {
        "docs/a.md": "[a.py] and\n» [b.py]\n\n[a.py]: ../a.py\n» [c.py]: ../c.py\n",
    },
    "addresses_are_whole_and_known": {
        "docs/a.md": "https://doi.org/1 http://localhost:80 tcp://x\n» https://a.org\n",
        "pbd/a.py": "» http://doi.org\n» https://doi.org:1\n",
    },
    "named_files_exist": {
        "pbd/a.py": '# a.py, pbd/a.py, FILE.py, "{x}.py"\n# » b.py, » c/d.py\n',
        "pbd/c/b.py": "# a.py, c/b.py\n",
        "docs/a.md": "» tests/none.py\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rule_is_kept_and_finds_what_breaks_it(rule, tmp_path):
    assert [f"{file}:{line}: {what}: use {use}" for file, line, what, use in RULES[rule](REPOSITORY)] == []
    expected = set()
    for file, text in BROKEN[rule].items():
        expected |= {(file, number) for number, line in enumerate(text.splitlines(), 1) if "»" in line}
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text.replace("» ", ""), "utf-8")
    assert {(file, line) for file, line, *_ in RULES[rule](Repository(tmp_path))} == expected


def test_offences_have_a_line_each(tmp_path):
    (tmp_path / "rigid").mkdir()
    (tmp_path / "rigid" / "model.py").write_text("import pbd\nfrom scenes.scene import Scene\n")
    advice = "use nothing above rigid, because imports run scenes -> rigid -> pbd"
    assert check_sources.check(tmp_path) == [f"rigid/model.py:2: imports scenes.scene: {advice}"]


def test_rules_name_files_that_exist():
    named = [*check_sources.DESCRIPTIONS, *check_sources.ON_SWEEPS]
    named += [f"rigid/solvers/{solver}/step.py" for solver in check_sources.SOLVERS]
    named += [f"{module.replace('.', '/')}.py" for module in check_sources.DYNAMICS if module.islower()]
    assert [name for name in named if not (ROOT / name).exists()] == []
    kernels = [node.name for node in REPOSITORY.nodes("pbd/projection.py") if check_sources.compiled(node)]
    assert {"project", "violation", "project_cluster"} <= set(kernels)
