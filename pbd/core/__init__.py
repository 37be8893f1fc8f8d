"""What particles and rigid bodies have in common: kernels, arrays, shapes, checks of arguments."""
