"""Worlds: the models that one solver runs side by side."""

from pbd.core.messages import shown
from pbd.core.shapes import HULL
from rigid.model import Model


def models_of_worlds(model):
    """The models of a solver's worlds, as a list: one model for all worlds, or one for each.

    Args: model: a Model, or a list of models of one structure.

    Raises: TypeError for anything else; ValueError for an empty list, for models of different structure, and for a body
    without mass.
    """
    models = list(model) if isinstance(model, (list, tuple)) else [model]
    for each in models:
        if not isinstance(each, Model):
            raise TypeError(f"model is {shown(each)}: expected a rigid.Model, or a list of them")
        each.initial_state()
    if not models:
        raise ValueError("model is an empty list: expected at least one rigid.Model")
    if any(structure(each) != structure(models[0]) for each in models):
        raise ValueError("models of different structure: expected the same bodies and joints in each world")
    return models


def structure(model):
    """Properties that the models of all worlds must share, as a tuple: bodies, shapes, joints, springs, gears."""
    return (
        tuple(body.path is not None for body in model.bodies),
        tuple((s.shape.kind, s.body, len(s.shape.vertices) if s.shape.kind == HULL else 0) for s in model.shapes),
        tuple((j.kind, j.name, j.parent, j.child, j.friction is None, j.breaks) for j in model.joints),
        tuple((spring.a, spring.b) for spring in model.springs),
        tuple((gear.joint_a, gear.joint_b) for gear in model.gears),
    )
