"""The types that all packages share: strings, columns, trees, call stacks, shapes, remarks."""
