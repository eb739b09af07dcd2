# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Search, numbering and order of columns of integers; ``tfprof.columns.lookup`` has the NumPy."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

ctypedef fused ascending:
    int32_t
    int64_t

ctypedef fused wanted:
    int32_t
    int64_t

ctypedef fused number:
    int32_t
    int64_t

cdef uint64_t NUMBER_MASK = 0xFFFFFFFF

cdef enum:
    MOST_STEPS = 16  # for each row on average; what takes more was made to collide


def search(
    const ascending[::1] column, const wanted[::1] values, int64_t[::1] places, bint is_behind
):
    """Where values belong in an ascending column: before equal ones, or behind them.

    Each is looked for from the place of the one before it, in steps that double: cheap for values
    that ascend, too.

    Raises:
        ValueError: There is not as much room for places as there are values.
    """
    cdef Py_ssize_t n = column.shape[0], n_values = values.shape[0], i
    cdef int64_t low = 0, high, middle, step, value
    if places.shape[0] != n_values:
        raise ValueError("as much room for places as values is needed")
    with nogil:
        for i in range(n_values):
            value = values[i]
            if i and value < values[i - 1]:
                low = 0
            high, step = low, 1
            while high < n and (column[high] < value or (is_behind and column[high] == value)):
                low = high + 1
                high += step
                step *= 2
            if high > n:
                high = n
            while low < high:
                middle = (low + high) >> 1
                if column[middle] < value or (is_behind and column[middle] == value):
                    low = middle + 1
                else:
                    high = middle
            places[i] = low


cdef inline uint64_t hash_of(int64_t one, int64_t other) noexcept nogil:
    cdef uint64_t result = <uint64_t>one * <uint64_t>0x9E3779B97F4A7C15
    result ^= result >> 32
    result = (result ^ <uint64_t>other) * <uint64_t>0xD6E8FEB86659FD93
    result ^= result >> 32
    result *= <uint64_t>0xD6E8FEB86659FD93
    return result ^ (result >> 32)


def number_pairs(
    const int64_t[::1] ones, const int64_t[::1] others, number[::1] numbers, number[::1] first
):
    """Number the pairs of two columns, equal ones alike, in the order in which they appear.

    Args:
        ones: A column, shape (n,).
        others: Another.
        numbers: Receives the number of each row.
        first: Receives the first row of each number.

    Returns:
        How many distinct pairs there are; -1 if they take too long, as only pairs do that were
        made to.

    Raises:
        ValueError: The columns do not fit each other, or have too many rows.
        MemoryError: There is none.
    """
    cdef Py_ssize_t n = ones.shape[0], row
    if others.shape[0] != n or numbers.shape[0] != n or first.shape[0] != n:
        raise ValueError("columns of different lengths")
    if n > 0x7FFFFFFF:
        raise ValueError("too many rows")
    cdef uint64_t size = 64
    while size < 2 * <uint64_t>n:
        size *= 2
    cdef uint64_t* slots = <uint64_t*>calloc(size, sizeof(uint64_t))  # a hash, a number + 1; or 0
    if slots == NULL:
        raise MemoryError()
    cdef uint64_t key, at, mask = size - 1
    cdef int64_t known, count = 0, left = MOST_STEPS * n
    with nogil:
        for row in range(n):
            key = hash_of(ones[row], others[row])
            at = key & mask
            key &= ~NUMBER_MASK
            while slots[at]:
                if slots[at] & ~NUMBER_MASK == key:
                    known = <int64_t>(slots[at] & NUMBER_MASK) - 1
                    if ones[first[known]] == ones[row] and others[first[known]] == others[row]:
                        break
                at = (at + 1) & mask
                left -= 1
                if left < 0:
                    break
            if left < 0:
                count = -1
                break
            if slots[at]:
                numbers[row] = <number>((slots[at] & NUMBER_MASK) - 1)
            else:
                first[count] = <number>row
                numbers[row] = <number>count
                count += 1
                slots[at] = key | <uint64_t>count
    free(slots)
    return count


def order_by(const number[::1] numbers, number[::1] ends, number[::1] order):
    """The rows of each number one after the other, as a stable sort puts them.

    Args:
        numbers: Of each row, from 0 up to the length of ``ends``, shape (n,).
        ends: Receives the place behind the last row of each number.
        order: Receives the rows.

    Raises:
        ValueError: A number is out of range, or the columns do not fit each other.
    """
    cdef Py_ssize_t n = numbers.shape[0], size = ends.shape[0], row
    cdef int64_t begin, count
    cdef bint is_wrong = False
    if order.shape[0] != n:
        raise ValueError("columns of different lengths")
    with nogil:
        for row in range(size):
            ends[row] = 0
        for row in range(n):
            if numbers[row] < 0 or numbers[row] >= size:
                is_wrong = True
                break
            ends[numbers[row]] += 1
        if not is_wrong:
            begin = 0
            for row in range(size):
                count = ends[row]
                ends[row] = <number>begin
                begin += count
            for row in range(n):
                order[ends[numbers[row]]] = <number>row
                ends[numbers[row]] += 1
    if is_wrong:
        raise ValueError("a number out of range")
