"""What the host does between launches, in numpy: arrays, inputs, reports, errors and what users read and write."""
