"""All results of a program, for damaged programs."""

from tfprof.captures.hlo.buffers import memory_use
from tfprof.captures.hlo.cost import costs_of
from tfprof.captures.hlo.graph import neighbourhood
from tfprof.captures.hlo.opcodes import category_of
from tfprof.captures.hlo.reference_cost import reference_costs_of
from tfprof.captures.hlo.text import expression


def everything(module):
    """Compute all results and ignore them."""
    costs_of(module), reference_costs_of(module), memory_use(module)
    for one in module.instructions:
        assert expression(one).startswith("%")
        assert isinstance(category_of(one), str)
        neighbourhood(module, one, 2, expand_fusions=True)
        module.source(one)
