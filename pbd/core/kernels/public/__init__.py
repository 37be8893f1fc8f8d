"""Kernels by Taichi's public interface alone: see pbd/core/kernels/mode.py."""
