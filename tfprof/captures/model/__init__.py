"""An XSpace and compiled programs as columns."""
