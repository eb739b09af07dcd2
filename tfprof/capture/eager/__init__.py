"""TensorFlow 2 programs: eager code, ``tf.function``, Keras."""
