"""Float operations of the ops of a profile."""
