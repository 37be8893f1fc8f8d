"""Work of the host between launches, in numpy: arrays, inputs, reports, errors and values for users."""
