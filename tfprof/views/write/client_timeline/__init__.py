"""TensorFlow's ``client.timeline``: the trace of one step in Chrome's format."""
