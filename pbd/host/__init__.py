"""Work of the host between launches, in numpy: arrays, launches, inputs, reports, errors and values for users."""
