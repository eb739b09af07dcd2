# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Calls of input pipelines taken apart; ``tfprof.captures.events.ops.tf_data`` has the Python."""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    MOST_LEVELS = 255

cdef enum:  # columns of the result
    START = 0
    DURATION = 1
    SELF = 2
    BLOCKING = 3
    COUNT = 4


cdef struct Level:
    int64_t place
    int64_t child  # what is looked at next
    int64_t member  # and which of its members, if it is a list
    bint is_blocking


def taken(
    const int64_t[::1] starts,
    const int64_t[::1] ends,
    const int32_t[::1] iterators,
    const int64_t[::1] first_child,
    const int64_t[::1] children,
    const int64_t[::1] first_member,
    const int64_t[::1] members,
    int64_t root,
    int64_t most_visits,
    int64_t most_levels,
    int64_t[:, ::1] times,
    int32_t[::1] order,
):
    """Walk from a call to all that it waited for or that worked for it, in the order of children.

    Args:
        starts: When each event began, shape (n,).
        ends: When it ended.
        iterators: The number of its iterator, -1 without one.
        first_child: Its first child, and the number of children, shape (n + 1,).
        children: What it waited for, shape (m,): an event, or n and the number of a list, which
            stands for all its members.
        first_member: The first member of each list, and the number of members, shape (k + 1,).
        members: Events in lists.
        root: The call.
        most_visits: So many events are looked at, as often as they are met.
        most_levels: Below, nothing is looked at.
        times: Start, duration, own time, whether it blocked and number of calls of each iterator;
            the last is 0 for all, shape (n iterators, 5); changed.
        order: Receives the iterators that were met, the first first, shape (n iterators,).

    Returns:
        How many iterators were met, and whether there was more to look at.

    Raises:
        ValueError: The columns do not fit each other.
    """
    cdef int64_t n = starts.shape[0], n_iterators = times.shape[0], n_children = children.shape[0]
    cdef int64_t n_lists = first_member.shape[0] - 1, n_members = members.shape[0]
    cdef int64_t row, child, at, size
    cdef const int64_t* each
    if ends.shape[0] != n or iterators.shape[0] != n or first_child.shape[0] != n + 1:
        raise ValueError("columns of different lengths")
    if times.shape[1] != 5 or order.shape[0] != n_iterators or most_levels >= MOST_LEVELS:
        raise ValueError("no room for the result")
    if not 0 <= root < n:
        raise ValueError("an event that is not there")
    cdef Level levels[MOST_LEVELS + 1]
    cdef int64_t depth = -1, visits = 0, place = root, n_met = 0, begin, end, own, overlap
    cdef int32_t number
    cdef bint is_blocking = True, is_cut = False, is_wrong = False
    with nogil:
        while True:
            if visits == most_visits:
                is_cut = True
                break
            visits += 1
            number = iterators[place]
            if number >= 0 and depth < most_levels:  # of the one above
                begin, end = starts[place], ends[place]
                own = end - begin
                is_wrong = not 0 <= first_child[place] <= first_child[place + 1] <= n_children
                is_wrong |= number >= n_iterators
                if is_wrong:
                    break
                for row in range(first_child[place], first_child[place + 1]):
                    child = children[row]
                    is_wrong = not 0 <= child < n + n_lists
                    if is_wrong:
                        break
                    each, size = &children[row], 1
                    if child >= n:
                        at, size = first_member[child - n], first_member[child - n + 1]
                        is_wrong = not 0 <= at <= size <= n_members
                        if is_wrong:
                            break
                        each, size = &members[at], size - at
                    for at in range(size):
                        child = each[at]
                        is_wrong = not 0 <= child < n
                        if is_wrong:
                            break
                        overlap = min(end, ends[child]) - max(begin, starts[child])
                        own -= max(0, overlap)
                    if is_wrong:
                        break
                if is_wrong:
                    break
                if not times[number, COUNT]:
                    times[number, START] = begin
                    times[number, DURATION] = times[number, SELF] = times[number, BLOCKING] = 0
                    order[n_met] = number
                    n_met += 1
                times[number, DURATION] += end - begin
                times[number, SELF] += own
                times[number, BLOCKING] |= is_blocking
                times[number, COUNT] += 1
                depth += 1
                levels[depth] = Level(place, first_child[place], 0, is_blocking)
            place = -1
            while depth >= 0 and place < 0:
                if levels[depth].child == first_child[levels[depth].place + 1]:
                    depth -= 1
                    continue
                child = children[levels[depth].child]
                if child < n:
                    place = child
                    levels[depth].child += 1
                    continue
                at = first_member[child - n] + levels[depth].member
                if at < first_member[child - n + 1]:
                    place = members[at]
                    levels[depth].member += 1
                else:
                    levels[depth].child += 1
                    levels[depth].member = 0
            if depth < 0:
                break
            row = levels[depth].place
            overlap = min(ends[row], ends[place]) - max(starts[row], starts[place])
            is_blocking = levels[depth].is_blocking and overlap > 0
    if is_wrong:
        raise ValueError("a child or an iterator that is not there")
    return n_met, is_cut
