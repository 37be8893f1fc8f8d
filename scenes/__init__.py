"""Scenes to run, film, view and compare. The command `verletlab`, or `python -m scenes`, does the same in a shell.

    import scenes
    scene = scenes.load("drape")
    recording = scenes.run(scene, duration=2.0)
    recording.save("drape.npz")
    scenes.film(scene, "drape.mp4")
    comparison = scenes.compare("ragdoll", solvers=["verlet", "impulse"])
"""

import importlib

# Public names and their modules. `__getattr__` imports a module when its name is first used: pytest imports this
# package at each start for its plugin, and an import of Taichi is slow.
MODULES = {
    "Comparison": "scenes.comparison.results",
    "Recording": "scenes.simulate.recording",
    "Replay": "scenes.simulate.run",
    "Run": "scenes.simulate.run",
    "Scene": "scenes.scene",
    "Trace": "scenes.comparison.results",
    "Variant": "scenes.comparison.results",
    "available": "scenes.registry",
    "compare": "scenes.comparison.compare",
    "export_gltf": "scenes.export.export",
    "export_mesh": "scenes.export.export",
    "export_usd": "scenes.export.export",
    "film": "scenes.render.film",
    "film_comparison": "scenes.render.comparison_film",
    "identify": "scenes.identification",
    "load": "scenes.registry",
    "register": "scenes.registry",
    "run": "scenes.simulate.run",
    "sweep": "scenes.sweeps",
}
__all__ = sorted(MODULES)


def __getattr__(name):
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
