"""Parts that several scenes of the catalogue are built of."""
