"""The one vocabulary: interned strings, columns with units, graphs and trees as arrays."""
