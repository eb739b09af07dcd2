"""Pages as plain data: what people see of a run, before anything draws it."""
