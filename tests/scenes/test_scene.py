"""Scenes, the registry, and parameters as values and text."""

import math
import re

import pytest

import pbd
import rigid
import scenes
from scenes.parameters import UnknownName, convert
from scenes.registry import REGISTRY


def test_load_sets_name_and_parameters():
    scene = scenes.load("rope_bridge", planks=9, span="3.5")
    assert (scene.name, scene.parameters["planks"], scene.parameters["span"]) == ("rope_bridge", 9, 3.5)
    assert scene.parameters["weights"] == REGISTRY["rope_bridge"].parameters["weights"]
    assert scene.summary == REGISTRY["rope_bridge"].build.__doc__.strip()
    rails = [9 + 1] * 4
    assert len(scene.particles) == sum(rails) + scene.parameters["weights"]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rope_brigde", {}, "no scene called 'rope_brigde'; did you mean 'rope_bridge'?"),
        ("rope_bridge", {"plank": 9}, "no parameter 'plank'; did you mean 'planks'?"),
        ("rope_bridge", {"planks": "many"}, "parameter planks of rope_bridge is 'many': expected a whole number"),
        ("rope_bridge", {"planks": 2.5}, "parameter planks of rope_bridge is 2.5: expected a whole number"),
        ("rope_bridge", {"span": math.nan}, "parameter span of rope_bridge is nan: expected a finite number"),
        ("box", {"restitution": 1.5}, "scene box with restitution=1.5: .*expected a number from 0 to 1"),
        ("box", {"grains": -3}, "scene box with grains=-3: "),
    ],
)
def test_load_refuses_unknown_names_and_wrong_values(name, parameters, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?").replace("(", r"\(")):
        scenes.load(name, **parameters)


def test_unknown_names_raise_their_own_error():
    for name, parameters in (("bax", {}), ("box", {"grain": 3})):
        with pytest.raises(UnknownName):
            scenes.load(name, **parameters)


@pytest.mark.parametrize(
    ("value", "default", "expected"),
    [("3", 1, 3), (3, 1.0, 3.0), ("1e-3", 1.0, 1e-3), ("no", True, False), ("1", False, True), ("x", "", "x"),
     (None, 1e-6, None)],
)  # fmt: skip
def test_text_is_converted_to_the_type_of_the_default(value, default, expected):
    converted = convert("it", value, type(default))
    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("value", "default"),
    [("", 1), ("1.5", 1), (1.5, 1), ("1e400", 1.0), ("inf", 1.0), ("maybe", True), ([], 1), (10**400, 1.0)],
)
def test_wrong_text_is_refused_with_its_name(value, default):
    with pytest.raises(ValueError, match=r"^it is "):
        convert("it", value, type(default))


def test_scene_without_defaults_cannot_be_registered():
    with pytest.raises(TypeError, match="parameter size of scene vague: expected a default"):

        @scenes.register
        def vague(size):
            pass

    assert "vague" not in REGISTRY


@pytest.mark.usefixtures("with_registry")
def test_decorator_takes_what_tests_and_the_gallery_need():
    @scenes.register(small={"count": "3"}, slow=True, picture=0.5, picture_parameters={"speed": -2, "wild": True})
    def balls(count: int = 50, speed: float = 1.0, wild: bool = False):
        pass

    entry = REGISTRY["balls"]
    assert (entry.build, entry.small, entry.slow, entry.picture) == (balls, {"count": 3}, True, 0.5)
    words = "render balls --out balls.png --size 640x360 --duration 0.5 --no-labels --param speed=-2 --param wild=True"
    assert entry.picture_command == f"verletlab {words}"
    assert scenes.register(balls) is balls
    entry = REGISTRY["balls"]
    assert (entry.small, entry.slow, entry.picture, entry.picture_parameters) == ({}, False, 1.0, {})


@pytest.mark.usefixtures("with_registry")
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"small": {"coutn": 3}}, UnknownName, "scene balls has no parameter 'coutn'; did you mean 'count'?"),
        ({"small": {"count": 2.5}}, ValueError, "parameter count of balls is 2.5: expected a whole number"),
        ({"small": 3}, TypeError, "small of scene balls is 3: expected a dict of parameters, or None"),
        ({"picture_parameters": {"a": 1}}, UnknownName, "scene balls has no parameter 'a'"),
        ({"picture": 0}, ValueError, "picture is 0: expected a number above zero"),
        ({"slow": "no"}, TypeError, "slow is 'no': expected True or False"),
    ],
)
def test_decorator_refuses_what_the_scene_does_not_have(given, error, message):
    def balls(count: int = 50):
        pass

    with pytest.raises(error, match=re.escape(message)):
        scenes.register(**given)(balls)
    assert "balls" not in REGISTRY


def test_driven_scenes_are_not_passive():
    def scene(**environment):
        particles = pbd.Particles(**environment)
        particles.add_particle((0, 0, 1))
        return scenes.Scene(particles)

    assert scene().passive
    assert not scene(wind=(1, 0, 0)).passive
    moved, led = scene(), scene()
    moved.particles.add_collider(pbd.Sphere(0.1), motion=lambda time: (time, 0, 0))
    led.particles.add_path([0], lambda time: [(time, 0, 1)])
    assert not moved.passive
    assert not led.passive


@pytest.mark.parametrize(("motor", "passive"), [(None, True), (rigid.Motor(speed=1.0), False)])
def test_motor_makes_a_scene_active(motor, passive):
    model = rigid.Model()
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1))
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0), motor=motor)
    assert scenes.Scene(model=model).passive is passive
    assert not scenes.Scene(model=model, control=lambda solver, time: None).passive
    blown = pbd.Particles(wind=(1, 0, 0))
    blown.add_particle((0, 0, 1))
    assert not scenes.Scene(blown, model).passive


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, ValueError, "an empty scene: expected particles, a model, or both"),
        ({"particles": rigid.Model()}, TypeError, "particles of a scene is .*: expected a Particles, or None"),
        ({"model": pbd.Particles()}, TypeError, "model of a scene is .*: expected a Model, or None"),
        ({"model": rigid.Model(), "attachments": (([0], 0),)}, ValueError, "attachments without particles and a model"),
        ({"model": rigid.Model(), "settings": {"dt": 0.01}}, ValueError, "'dt': expected one of 'verlet', 'impulse'"),
        ({"model": rigid.Model(), "settings": {"impulses": {}}}, ValueError, "; did you mean 'impulse'"),
        ({"model": rigid.Model(), "settings": {"impulse": 0.01}}, TypeError, "for 'impulse' are 0.01: expected a dict"),
        ({"particles": pbd.Particles(), "settings": {"impulse": {}}}, ValueError,
         "settings of a scene for solver 'impulse', but it moves bodies only, and the scene has particles, which only "
         "'verlet' moves: expected settings for 'verlet'"),
    ],
)
def test_wrong_scenes_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        scenes.Scene(**given)
