"""Parts that several scenes of the catalogue share."""
