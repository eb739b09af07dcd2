"""TensorFlow's own names, for programs that move to tfprof with nothing but an import changed."""
