"""The vocabulary of all: strings, columns, trees, call stacks, shapes, remarks."""
