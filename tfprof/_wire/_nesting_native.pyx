# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Nesting of events and what spreads along it; ``tfprof.analysis.xspace`` has the Python of it."""

from libc.stdint cimport int64_t, uint8_t

cdef enum:
    ALONE = -2


def nest(
    const int64_t[::1] first,
    const int64_t[::1] starts,
    const int64_t[::1] ends,
    const uint8_t[::1] is_alone,
):
    """Parent of each event of lines in order of time, and the place behind all inside it.

    What is alone has no parent and is none.

    Returns:
        Two buffers of int64.

    Raises:
        ValueError: The columns do not fit each other.
    """
    cdef Py_ssize_t n = starts.shape[0], n_lines = first.shape[0] - 1
    cdef Py_ssize_t line
    if ends.shape[0] != n or is_alone.shape[0] != n:
        raise ValueError("columns of different lengths")
    if n_lines < 0 or first[0] != 0 or first[n_lines] != n:
        raise ValueError("columns of different lengths")
    for line in range(n_lines):
        if first[line] > first[line + 1]:
            raise ValueError("lines out of order")
    parent_bytes, end_bytes = bytearray(8 * n), bytearray(8 * n)
    if not n:
        return parent_bytes, end_bytes
    cdef int64_t[::1] parents = memoryview(parent_bytes).cast("q")
    cdef int64_t[::1] behind = memoryview(end_bytes).cast("q")
    cdef int64_t event, top
    with nogil:
        for line in range(n_lines):
            top = -1
            for event in range(first[line], first[line + 1]):
                if is_alone[event]:
                    parents[event] = -1
                    behind[event] = event + 1
                    continue
                # The open events are the one before and those around it: a chain of parents.
                while top >= 0 and not (starts[top] <= starts[event] and ends[event] <= ends[top]):
                    behind[top] = event
                    top = parents[top]
                parents[event] = top
                top = event
            while top >= 0:
                behind[top] = first[line + 1]
                top = parents[top]
    return parent_bytes, end_bytes


def fill_from_parents(const int64_t[::1] parents, int64_t[::1] values):
    """Give each event without a value (negative) that of its parent, which stands before it.

    Raises:
        ValueError: The columns do not fit each other, or a parent stands behind its child.
    """
    cdef Py_ssize_t n = parents.shape[0], event
    cdef bint is_wrong = False
    if values.shape[0] != n:
        raise ValueError("columns of different lengths")
    with nogil:
        for event in range(n):
            if parents[event] >= event:
                is_wrong = True
                break
            if values[event] < 0 and parents[event] >= 0:
                values[event] = values[parents[event]]
    if is_wrong:
        raise ValueError("a parent behind its child")


def spread(
    const int64_t[::1] ends,
    const int64_t[::1] first_link,
    const int64_t[::1] targets,
    const int64_t[::1] pending,
    int64_t[::1] groups,
    int64_t group,
):
    """Put events, all inside them and all they lead to into a group, where they have none.

    An event of another group is not entered; what it leads to has been reached from there. An
    event with ``ALONE`` for a group is reached by links only, not because it lies inside others.

    Args:
        ends: The place behind all inside each event, shape (n,).
        first_link: The first link of each event to others, and the number of links, (n + 1,).
        targets: Where links lead, each an event.
        pending: Events to begin with.
        groups: The group of each event, negative without one; changed.
        group: The group.

    Raises:
        ValueError: The columns do not fit each other.
        MemoryError: There is none.
    """
    cdef Py_ssize_t n = ends.shape[0]
    if first_link.shape[0] != n + 1 or groups.shape[0] != n or first_link[n] > targets.shape[0]:
        raise ValueError("columns of different lengths")
    cdef int64_t event, link, top, target
    stack = [pending[place] for place in range(pending.shape[0])]
    while stack:
        top = stack.pop()
        if top < 0 or top >= n or ends[top] > n:
            raise ValueError("an event that is not there")
        if groups[top] >= 0:
            continue
        for event in range(top, ends[top]):
            if groups[event] >= 0 or (groups[event] == ALONE and event != top):
                continue
            groups[event] = group
            for link in range(first_link[event], first_link[event + 1]):
                target = targets[link]
                if target < 0 or target >= n:
                    raise ValueError("an event that is not there")
                if groups[target] < 0:
                    stack.append(target)
