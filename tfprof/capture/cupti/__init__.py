"""Activity of NVIDIA GPUs through cupti-python: records, the ops they belong to, their tracks."""
