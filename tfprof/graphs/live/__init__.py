"""Models, functions and graphs of a running TensorFlow become programs."""
