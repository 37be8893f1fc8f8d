"""Rigid bodies: one description, four solvers (see shared/design.md); the description and the first solver come next."""
