"""Running programs to columns: the only place that looks at TensorFlow's own objects."""
