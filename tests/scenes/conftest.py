"""Fixtures for all tests of scenes: the command line in this process, two more scenes, a browser."""

import math
import shutil

import browser as chromium
import pytest

import pbd
import scenes
from pbd.build import cloth
from scenes.cli import main as cli
from scenes.registry import REGISTRY
from scenes.visuals import Camera


@pytest.fixture
def command(capsys):
    """The command line in this process: a function of words that returns exit status, output and errors."""

    def call(*words):
        status = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def with_registry():
    """Remove what a test registers."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def leap():
    """Name of a registered scene that diverges: one end of a stick jumps `far` away [m] after `when` [s]."""

    def leap(far: float = 1e200, when: float = 0.5):
        """A stick whose end jumps away."""
        particles = pbd.Particles()
        particles.add_particles([(0, 0, 1), (1, 0, 1)])
        particles.add_stick(0, 1)
        particles.add_path([0], lambda time: [(far if time > when else 0.0, 0, 1)])
        return scenes.Scene(particles, duration=1.0, settings={"verlet": {"dt": 1 / 60}})

    scenes.register(leap)
    yield "leap"
    del REGISTRY["leap"]


@pytest.fixture(scope="module")
def hanging():
    """Name of a registered scene: a cloth that hangs from its upper corners. It shares kernels with `drape`."""

    def hanging(count: int = 6, sway: float = 0.0):
        """A cloth hangs from two corners, which may sway."""
        particles = pbd.Particles()
        particles.add_collider(pbd.Plane(), friction=0.6)
        particles.add_collider(pbd.Sphere(0.5, centre=(0, 0, -1)), friction=0.25)  # invisible and out of reach
        cloth(
            particles, (-0.5, 0, 1.2), (1, 0, 0), (0, 0, -1), (count, count), shear_compliance=1e-2, bending=1e-4,
            thickness=0.016, friction=0.3, pins=("left_top", "right_top"),
        )  # fmt: skip
        if sway:
            corners = particles.positions()[[0, count - 1]].copy()
            particles.add_path([0, count - 1], lambda time: corners + (0, sway * math.sin(5 * time), 0))
        settings = {"verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 4, "damping": 0.02}}
        return scenes.Scene(particles, settings=settings, camera=Camera((0.8, -4, 1), (0.8, 0, 0.7)))

    scenes.register(hanging)
    yield "hanging"
    del REGISTRY["hanging"]


@pytest.fixture(scope="module")
def browser():
    """Chromium with an empty profile; the test is skipped if there is none. It takes a tenth of a core till it ends."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'verletlab[dev]'")
    pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")
    path = next(filter(None, map(shutil.which, chromium.NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium on this machine: none of {', '.join(chromium.NAMES)} is on the PATH")
    with playwright.sync_playwright() as started:
        try:
            launched = started.chromium.launch(executable_path=path, args=chromium.FLAGS)
        except playwright.Error as error:
            pytest.skip(f"no Chromium on this machine: {path} does not start: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def plain_light():
    """Pages are lit by lamps only, because software needs six seconds to prepare viser's environment map."""
    import viser

    add_lamps = viser.SceneApi.configure_default_lights

    def configure(scene, *arguments, **options):
        scene.configure_environment_map(None)
        scene.add_light_ambient("/ambient", intensity=1.5)
        add_lamps(scene, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viser.SceneApi, "configure_default_lights", configure)
        yield


@pytest.fixture(scope="module")
def tab(browser):
    """A small Tab that the tests of a file share."""
    with chromium.opened(browser, chromium.SMALL) as tab:
        yield tab


@pytest.fixture
def window(browser):
    """A Tab of the size of an ordinary window."""
    with chromium.opened(browser, chromium.LARGE) as tab:
        yield tab
