"""What runs say together: differences, what-if, budgets."""
