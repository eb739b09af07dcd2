"""TensorFlow programs that know the truth about themselves.

python -m tests.truth.programs_tensorflow FOLDER [NAME ...]

Each is a function of its own clock; what it does before ``recording`` is warming up. Sleeps of some
20 ms make most of the time, so that a busy machine changes shares little.
"""
