"""The results of tools that TensorBoard has saved."""
