"""How a substep runs: phases shared by threads, launches, and worlds or bands in the lanes of vectors."""
