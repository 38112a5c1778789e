"""The lowest temperature that translations are sampled at, by any kind of model."""

# Below it, a sample is the most probable output for every practical purpose, and dividing by it overflows.
MIN_TEMPERATURE = 1e-3
