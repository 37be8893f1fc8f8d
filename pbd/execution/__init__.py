"""Execution of a substep: phases that threads share, and worlds or bands in the lanes of vectors."""
