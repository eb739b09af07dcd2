"""The one vocabulary of tfprof: interned strings, columns with units, graphs and trees as arrays."""
