"""Builders: functions that add bodies and joints to a rigid.Model, or read and write them as files."""

from rigid.build.mjcf import load_mjcf
from rigid.build.mjcf_writer import save_mjcf
from rigid.build.ragdoll import Ragdoll, ragdoll
from rigid.build.urdf import load_urdf

__all__ = ["Ragdoll", "load_mjcf", "load_urdf", "ragdoll", "save_mjcf"]
