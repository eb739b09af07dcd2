"""The four views of tfprof: plain data, computed from a profile. They print nothing."""
