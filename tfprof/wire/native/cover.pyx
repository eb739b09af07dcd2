# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Time that intervals cover; ``tfprof.captures.events.steps.step_times`` has the NumPy."""

from libc.stdint cimport int8_t, int64_t


def covered(
    const int64_t[::1] starts,
    const int64_t[::1] ends,
    const int64_t[::1] rows,
    const int8_t[::1] levels,
    int64_t[::1] reached,
    int64_t[:, ::1] amounts,
):
    """Add up, for each row and level, what intervals of that level and of larger ones cover.

    Args:
        starts: Ascending, shape (n,).
        ends: Shape (n,).
        rows: The row that each counts for, shape (n,).
        levels: Its level, shape (n,).
        reached: Not after any start, for each level; changed.
        amounts: Receives the amounts, 0 at first, shape (n levels, n rows).

    Raises:
        ValueError: The columns do not fit each other.
    """
    cdef Py_ssize_t n = starts.shape[0], n_levels = amounts.shape[0], n_rows = amounts.shape[1]
    cdef Py_ssize_t place, level
    cdef int64_t begin, end
    cdef bint is_wrong = False
    if ends.shape[0] != n or rows.shape[0] != n or levels.shape[0] != n:
        raise ValueError("columns of different lengths")
    if reached.shape[0] != n_levels:
        raise ValueError("as many levels as amounts are needed")
    with nogil:
        for place in range(n):
            is_wrong = not (0 <= levels[place] < n_levels and 0 <= rows[place] < n_rows)
            if is_wrong:
                break
            end = ends[place]
            for level in range(levels[place], -1, -1):
                begin = max(starts[place], reached[level])
                if begin >= end:
                    break  # smaller levels reach at least as far
                amounts[level, rows[place]] += end - begin
                reached[level] = end
    if is_wrong:
        raise ValueError("a row or a level that is not there")
