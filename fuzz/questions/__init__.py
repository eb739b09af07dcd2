"""What is asked of a file: a module for each part of tfprof."""
