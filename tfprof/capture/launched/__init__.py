"""The part of ``tfprof run`` that is in the programs it starts."""
