"""Parts of a description of particles (pbd/particles.py), in numpy and without Taichi."""
