# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Time that intervals cover; ``tfprof.captures.events.steps.step_times`` has the NumPy."""

from libc.stdint cimport int8_t, int64_t


def covered(
    const int64_t[::1] order,
    const int64_t[::1] starts,
    const int64_t[::1] ends,
    const int64_t[::1] rows,
    const int8_t[::1] levels,
    const int64_t[::1] last,
    const int64_t[::1] shifts,
    int64_t[::1] reached,
    int64_t[:, ::1] amounts,
):
    """Add up, for each row and level, what intervals of that level and of larger ones cover.

    Args:
        order: The order in which starts ascend, shape (n,).
        starts: Those of a row are later by its shift, shape (n,).
        ends: Without the shift, shape (n,).
        rows: The row that each counts for, shape (n,).
        levels: Its level, shape (n,).
        last: What is later, without the shift, does not count, for each row.
        shifts: How much later all of a row is taken for, so that no two rows overlap.
        reached: Not after any start, for each level; changed.
        amounts: Receives the amounts, 0 at first, shape (n levels, n rows).

    Raises:
        ValueError: The columns do not fit each other.
    """
    cdef Py_ssize_t n = starts.shape[0], n_levels = amounts.shape[0], n_rows = amounts.shape[1]
    cdef Py_ssize_t number, place, level
    cdef int64_t begin, end, row
    cdef bint is_wrong = False
    if ends.shape[0] != n or rows.shape[0] != n or levels.shape[0] != n or order.shape[0] != n:
        raise ValueError("columns of different lengths")
    if last.shape[0] != n_rows or shifts.shape[0] != n_rows:
        raise ValueError("columns of different lengths")
    if reached.shape[0] != n_levels:
        raise ValueError("as many levels as amounts are needed")
    with nogil:
        for number in range(n):
            place = order[number]
            is_wrong = not 0 <= place < n
            if is_wrong:
                break
            row = rows[place]
            is_wrong = not (0 <= levels[place] < n_levels and 0 <= row < n_rows)
            if is_wrong:
                break
            end = min(ends[place], last[row]) + shifts[row]
            for level in range(levels[place], -1, -1):
                begin = max(starts[place], reached[level])
                if begin >= end:
                    break  # smaller levels reach at least as far
                amounts[level, row] += end - begin
                reached[level] = end
    if is_wrong:
        raise ValueError("a row or a level that is not there")
