"""Fixtures: the command line in this process, and a scene that diverges."""

import pytest

import pbd
import scenes
from scenes.cli import main as cli
from scenes.registry import REGISTRY


@pytest.fixture
def command(capsys):
    """Function that runs the command line on words, and returns exit status, output and errors."""

    def call(*words):
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


@pytest.fixture
def leap():
    """Name of a scene in which a driven particle on a stick jumps `far` away [m] after `when` [s]."""

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
