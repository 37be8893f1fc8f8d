"""Shared by particles and rigid bodies: kernels, arrays, shapes, checks of arguments."""
