"""Builders: functions that add bodies and joints to a rigid.Model, or read them from a file."""

from rigid.build.mjcf import load_mjcf
from rigid.build.ragdoll import Ragdoll, ragdoll

__all__ = ["Ragdoll", "load_mjcf", "ragdoll"]
