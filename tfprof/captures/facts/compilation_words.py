"""The sentence on a function that was compiled, for tools and advice."""

from __future__ import annotations

from tfprof.captures.facts.compilations import CompiledFunction
from tfprof.core.text.claims import Details


def words_of(found: CompiledFunction) -> tuple[str, Details]:
    """How often a function was compiled or traced, where it was called, and what differed.

    Returns:
        The sentence without its end, and its numbers and names.
    """
    numbers: Details = {"function": found.name}
    if found.n_compiled:
        said = "{function} was compiled {compilation_count:time}"
        numbers["compilation_count"] = found.n_compiled
    elif any(one.is_traced for one in found.each):
        said = "{function} was traced {trace_count:time}"
        numbers["trace_count"] = sum(bool(one.is_traced) for one in found.each)
    else:
        said = "{function} was lowered {lower_count:time}"
        numbers["lower_count"] = len(found.each)
    line = next((one.called_at for one in found.each if one.called_at), "")
    if line:
        said += ", called at {called_at}"
        numbers["called_at"] = line
    if found.differed is not None:
        said += "; what differed, {alike_count} of {repeat_count:time}: {difference}"
        numbers["difference"] = found.differed.text
        numbers["alike_count"] = found.n_differing(found.differed.kind)
        numbers["repeat_count"] = len(found.again)
    elif found.again:
        said += "; the capture does not show what differed"
    return said, numbers
