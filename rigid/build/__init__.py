"""Builders: functions that add bodies and joints to a rigid.Model, or read and write them as files."""

from rigid.build.mjcf import load_mjcf
from rigid.build.mjcf_writer import save_mjcf
from rigid.build.ragdoll import Ragdoll, ragdoll

__all__ = ["Ragdoll", "load_mjcf", "ragdoll", "save_mjcf"]
