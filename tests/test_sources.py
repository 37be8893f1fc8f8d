"""Rules of the repository that no linter checks: imports, prints, and what Taichi's kernels permit."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for package in ("pbd", "rigid", "scenes") for path in (ROOT / package).rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]
PHYSICS = [name for name in NAMES if name.startswith(("pbd/", "rigid/"))]
SOLVERS = ("verlet", "impulse", "articulated", "penalty")

# Folders and files of scenes/, from low to high: each may import itself and what is before it.
LAYERS = (
    "parameters", "identification", "visuals", "scene", "registry", "catalogue", "scene_files", "simulate", "render",
    "export", "comparison", "sweeps", "testing", "pytest_plugin", "view", "bench", "cli", "__main__",
)  # fmt: skip


@cache
def tree(name):
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


def imports(body):
    """Modules that a list of nodes imports, each by its dotted name; those within functions as well."""
    found = set()
    for node in body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Import):
                found |= {alias.name for alias in inner.names}
            elif isinstance(inner, ast.ImportFrom):
                assert inner.level == 0, f"line {inner.lineno}: a relative import"
                found |= {inner.module} | {f"{inner.module}.{alias.name}" for alias in inner.names}
    return found


def at_module_level(name):
    return imports(node for node in tree(name).body if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try, ast.If)))


def packages(modules):
    return {module.split(".")[0] for module in modules}


@cache
def uses_taichi(name):
    return "taichi" in packages(imports(tree(name).body))


def test_there_is_something_to_read():
    assert {"pbd/system.py", "rigid/__init__.py", "scenes/cli/main.py", "pbd/build/cloth.py"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_imports_run_one_way(name):
    # scenes -> rigid -> pbd
    forbidden = {"pbd": {"rigid", "scenes"}, "rigid": {"scenes"}, "scenes": set()}[name.split("/")[0]]
    assert not packages(imports(tree(name).body)) & (forbidden | {"tests"})


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("scenes/")])
def test_imports_within_scenes_run_one_way(name):
    own = Path(name).parts[1].removesuffix(".py")
    if own == "__init__":  # it imports every module by its name, when a name is first used
        assert not imports(tree(name).body) & {f"scenes.{layer}" for layer in LAYERS}
        return
    used = {module.split(".")[1] for module in imports(tree(name).body) if module.startswith("scenes.")}
    allowed = LAYERS[: LAYERS.index(own) + 1]
    assert used <= set(allowed), f"{own} imports {', '.join(sorted(used - set(allowed)))}"


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("rigid/")])
def test_solver_folders_import_neither_one_another_nor_particle_dynamics(name):
    # Only rigid/solvers/verlet imports pbd's dynamics. Everyone may import pbd.core: kernels, launches, checks, shapes.
    parts = name.split("/")
    own = parts[2] if parts[1] == "solvers" else ""
    found = imports(tree(name).body)
    if own in SOLVERS:
        others = {f"rigid.solvers.{solver}" for solver in SOLVERS if solver != own}
        assert not {module for module in found if ".".join(module.split(".")[:3]) in others}
    if own != "verlet":
        dynamics = {"pbd.system", "pbd.step", "pbd.projection", "pbd.integrate", "pbd.ParticleSystem"}
        assert not found & dynamics


# What `sys` says of Python's version and modules.
OF_MODULES = {"sys.builtin_module_names", "sys.modules", "sys.modules.get", "sys.version"}


@pytest.mark.parametrize("name", PHYSICS)
def test_physics_neither_prints_nor_reads_a_command_line_nor_starts_taichi(name):
    assert not packages(imports(tree(name).body)) & {"argparse", "rich", "logging"}
    used = {ast.unparse(node) for node in ast.walk(tree(name)) if isinstance(node, (ast.Attribute, ast.ImportFrom))}
    assert not {each for each in used if each.startswith(("sys.", "from sys "))} - OF_MODULES
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("print", "ti.init", "taichi.init", "input"), f"line {node.lineno}"


@pytest.mark.parametrize(
    "name", ["pbd/particles.py", *(each for each in NAMES if each.startswith(("pbd/build/", "pbd/core/validate/")))]
)
def test_descriptions_need_no_taichi(name):
    assert "taichi" not in packages(at_module_level(name))
    # nor by way of a file of pbd's that does
    for module in at_module_level(name):
        path = module.replace(".", "/") + ".py"
        if path in NAMES:
            assert "taichi" not in packages(at_module_level(path)), module


@pytest.mark.parametrize("name", [name for name in NAMES if uses_taichi(name)])
def test_no_postponed_annotations_where_there_are_kernels(name):
    # Taichi reads the annotations of a kernel's arguments as objects.
    assert "__future__.annotations" not in imports(tree(name).body)


def decorated(node):
    """Whether a function is compiled by Taichi."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(decorator).split("(")[0] in ("ti.func", "ti.kernel") for decorator in node.decorator_list
    )


def test_the_search_for_kernels_finds_them():
    found = [node.name for node in ast.walk(tree("pbd/projection.py")) if decorated(node)]
    assert {"project", "violation", "project_cluster"} <= set(found)


@pytest.mark.parametrize("name", [name for name in NAMES if uses_taichi(name)])
def test_no_augmented_assignment_to_an_array(name):
    # `s.x[i] += d`, and `x[i] += d` on an argument of a kernel, are atomic. On a processor these are compare-and-swap
    # loops, eight times slower, and the order of summation changes from run to run. On local vectors it is an addition.
    for function in (node for node in ast.walk(tree(name)) if decorated(node)):
        kernel = any(ast.unparse(decorator).startswith("ti.kernel") for decorator in function.decorator_list)
        arrays = {
            argument.arg
            for argument in function.args.args
            if kernel or (argument.annotation is not None and "template" in ast.unparse(argument.annotation))
        }
        for node in ast.walk(function):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                base = node.target.value
                while isinstance(base, ast.Subscript):
                    base = base.value
                here = f"{name}, line {node.lineno}: {ast.unparse(node)}"
                assert not isinstance(base, ast.Attribute), here
                assert not (isinstance(base, ast.Name) and base.id in arrays), here
