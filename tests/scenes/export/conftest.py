"""What the tests of exports share."""

import exported
import pytest


@pytest.fixture(scope="session")
def everything():
    """A scene of everything that a file can contain, and its recording."""
    made = exported.scene_of_everything()
    made.recording = exported.recording_of(made.scene, exported.FRAMES)
    return made
