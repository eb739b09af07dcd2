"""The modules whose numbers or sentences a user acts upon, and the tests that are to protect them."""

DECIDING = {
    "tfprof/insight/budgets/*.py": ("tests/insight/budgets",),
}
