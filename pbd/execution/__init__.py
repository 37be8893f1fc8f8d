"""Execution of a substep: phases shared by threads, launches, and worlds or bands in the lanes of vectors."""
