"""Classic mode against TensorFlow's own engine, live and recorded."""
