# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Nesting of events and what spreads along it; ``tfprof.captures.events`` has the Python of it."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

ctypedef fused place:  # of an event: 32 bits do for two billion of them
    int32_t
    int64_t

ctypedef fused number:
    int8_t
    int32_t
    int64_t

cdef enum:
    ALONE = -2
    FOLLOWS = -2


def nest(
    const int64_t[::1] first,
    const int64_t[::1] starts,
    const int64_t[::1] ends,
    const uint8_t[::1] is_alone,
    place[::1] parents,
    place[::1] behind,
):
    """Find the parent of each event of lines in order of time, and the place behind all inside it.

    What is alone has no parent and is none.

    Raises:
        ValueError: The columns do not fit each other.
    """
    cdef Py_ssize_t n = starts.shape[0], n_lines = first.shape[0] - 1
    cdef Py_ssize_t line
    if ends.shape[0] != n or is_alone.shape[0] != n:
        raise ValueError("columns of different lengths")
    if parents.shape[0] != n or behind.shape[0] != n:
        raise ValueError("columns of different lengths")
    if place is int32_t and n > 0x7FFFFFFF:
        raise ValueError("too many events for 32 bits")
    if n_lines < 0 or first[0] != 0 or first[n_lines] != n:
        raise ValueError("columns of different lengths")
    for line in range(n_lines):
        if first[line] > first[line + 1]:
            raise ValueError("lines out of order")
    cdef int64_t event, top
    with nogil:
        for line in range(n_lines):
            top = -1
            for event in range(first[line], first[line + 1]):
                if is_alone[event]:
                    parents[event] = -1
                    behind[event] = <place>(event + 1)
                    continue
                # The open events are the one before and those around it: a chain of parents.
                while top >= 0 and not (starts[top] <= starts[event] and ends[event] <= ends[top]):
                    behind[top] = <place>event
                    top = parents[top]
                parents[event] = <place>top
                top = event
            while top >= 0:
                behind[top] = <place>first[line + 1]
                top = parents[top]


def fill_from_parents(const place[::1] parents, number[::1] values):
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


def follow(
    const place[::1] parents,
    const place[::1] ends,
    const place[::1] sources,
    const place[::1] targets,
    place[::1] room,
    number[::1] marks,
):
    """Give what links lead to, and all inside it, the mark of where it is led from.

    Where something has a mark, all inside it has one. Links go round by round: of several that
    lead to an event in one round the first one counts, and none of a later round.

    Args:
        parents: The event around each, which stands before it, or -1, shape (n,).
        ends: The place behind all inside each event.
        sources: Where links begin.
        targets: Where each leads.
        room: As long as there are links, twice.
        marks: The mark of each event, -1 without one; changed.

    Raises:
        ValueError: The columns do not fit each other, or a link leads nowhere.
    """
    cdef int64_t n = marks.shape[0], n_links = sources.shape[0], n_open = n_links
    cdef int64_t n_kept, n_new, row, link, event, target
    if parents.shape[0] != n or ends.shape[0] != n:
        raise ValueError("columns of different lengths")
    if targets.shape[0] != n_links or room.shape[0] != 2 * n_links:
        raise ValueError("columns of different lengths")
    for row in range(n_links):
        room[row] = <place>row
        if not (0 <= sources[row] < n and 0 <= targets[row] < n):
            raise ValueError("an event that is not there")
    for event in range(n):
        if parents[event] >= event or ends[event] > n:
            raise ValueError("an event that is not there")
    with nogil:
        while n_open:
            n_kept = n_new = 0
            for row in range(n_open):
                link = room[row]
                if marks[targets[link]] != -1:
                    continue
                if marks[sources[link]] >= 0:
                    marks[targets[link]] = FOLLOWS
                    room[n_links + n_new] = <place>link
                    n_new += 1
                else:
                    room[n_kept] = <place>link
                    n_kept += 1
            if not n_new:
                break
            n_open = n_kept
            for row in range(n_links, n_links + n_new):
                marks[targets[room[row]]] = marks[sources[room[row]]]
            for row in range(n_links, n_links + n_new):
                target = targets[room[row]]
                if parents[target] >= 0 and marks[parents[target]] >= 0:
                    continue  # all inside is filled with what is around
                for event in range(target + 1, ends[target]):
                    if marks[event] < 0 and parents[event] >= 0:
                        marks[event] = marks[parents[event]]


def spread_each(
    const place[::1] ends,
    const place[::1] sources,
    const place[::1] targets,
    const int64_t[::1] roots,
    number[::1] groups,
):
    """Give each of some events that has no group by then one of its own, and spread that.

    All inside an event and all they lead to gets its group, where it has none. An event of another
    group is not entered; what it leads to has been reached from there. An event with ``ALONE`` for
    a group is reached by links only, not because it lies inside others.

    Args:
        ends: The place behind all inside each event, shape (n,).
        sources: Where links begin, ascending.
        targets: Where each leads, an event.
        roots: The events.
        groups: The group of each event, negative without one; changed. New ones count from 0.

    Returns:
        The events that have begun a group.

    Raises:
        ValueError: The columns do not fit each other.
        MemoryError: There is none.
    """
    cdef list begins = []
    cdef Py_ssize_t row
    for row in range(roots.shape[0]):
        if not 0 <= roots[row] < groups.shape[0]:
            raise ValueError("an event that is not there")
        if groups[roots[row]] < 0:
            into_group(ends, sources, targets, [roots[row]], groups, len(begins))
            begins.append(roots[row])
    return begins


cdef int into_group(
    const place[::1] ends,
    const place[::1] sources,
    const place[::1] targets,
    list stack,
    number[::1] groups,
    int64_t group,
) except -1:
    """Spread a group from the events of a stack."""
    cdef Py_ssize_t n = ends.shape[0], n_links = sources.shape[0]
    if groups.shape[0] != n or targets.shape[0] != n_links:
        raise ValueError("columns of different lengths")
    cdef int64_t event, link, top, target, high, middle
    while stack:
        top = stack.pop()
        if top < 0 or top >= n or ends[top] > n:
            raise ValueError("an event that is not there")
        if groups[top] >= 0:
            continue
        for event in range(top, ends[top]):
            if groups[event] >= 0 or (groups[event] == ALONE and event != top):
                continue
            groups[event] = <number>group
        link, high = 0, n_links  # the first link from here on
        while link < high:
            middle = (link + high) // 2
            if sources[middle] < top:
                link = middle + 1
            else:
                high = middle
        while link < n_links and sources[link] < ends[top]:
            target = targets[link]
            if target < 0 or target >= n or sources[link] < top:
                raise ValueError("an event that is not there")
            if groups[sources[link]] == group and groups[target] < 0:
                stack.append(target)
            link += 1
    return 0
