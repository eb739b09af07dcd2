"""TensorFlow's own names, for programs that move to tfprof by changing only an import."""
