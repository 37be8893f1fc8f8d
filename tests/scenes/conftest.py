"""The command line in this process; and a scene of two particles that ends badly, for what a run leaves behind then."""

import pytest

import pbd
import scenes
from scenes.cli import main as cli
from scenes.registry import REGISTRY


@pytest.fixture
def command(capsys):
    """The command line in this process: takes words, gives exit status, output and errors."""

    def call(*words):
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


@pytest.fixture
def leap():
    """The name of a registered scene: a stick whose one end is led, and leaps `far` away [m] after `when` [s]."""

    def leap(far: float = 1e200, when: float = 0.5):
        """A stick whose end leaps away."""
        particles = pbd.Particles()
        particles.add_particles([(0, 0, 1), (1, 0, 1)])
        particles.add_stick(0, 1)
        particles.add_path([0], lambda time: [(far if time > when else 0.0, 0, 1)])
        return scenes.Scene(particles, duration=1.0, settings={"verlet": {"dt": 1 / 60}})

    scenes.register(leap)
    yield "leap"
    del REGISTRY["leap"]
