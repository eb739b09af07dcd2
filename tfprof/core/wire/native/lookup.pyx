# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Search, numbering and order of columns of integers; ``tfprof.core.columns.lookup`` has the NumPy."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint64_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define TFPROF_FETCH(place) __builtin_prefetch(place)
    #else
    #define TFPROF_FETCH(place)
    #endif
    """
    void fetch "TFPROF_FETCH"(const void* place) noexcept nogil

ctypedef fused ascending:
    int32_t
    int64_t

ctypedef fused wanted:
    int32_t
    int64_t

ctypedef fused number:
    int32_t
    int64_t

ctypedef fused key:
    int8_t
    int16_t
    int32_t
    int64_t

cdef uint64_t NUMBER_MASK = 0xFFFFFFFF

cdef enum:
    AHEAD = 12  # rows whose slots are fetched before they are needed
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
    const int64_t[::1] ones,
    const int64_t[::1] others,
    uint64_t[::1] slots,
    number[::1] numbers,
    number[::1] first,
):
    """Number the pairs of two columns, equal ones alike, in the order in which they appear.

    Args:
        ones: A column, shape (n,).
        others: Another.
        slots: Room for a table, zeros: a power of two of them, and two or more for each row.
        numbers: Receives the number of each row.
        first: Receives the first row of each number.

    Returns:
        How many distinct pairs there are; -1 if they take too long, as only pairs do that were
        made to.

    Raises:
        ValueError: The columns do not fit each other, or have too many rows.
    """
    cdef Py_ssize_t n = ones.shape[0], size = slots.shape[0], row
    if others.shape[0] != n or numbers.shape[0] != n or first.shape[0] != n:
        raise ValueError("columns of different lengths")
    if n > 0x7FFFFFFF:
        raise ValueError("too many rows")
    if not size or size & (size - 1) or size < 2 * n:
        raise ValueError("not as much room as is needed")
    cdef uint64_t tag, at, mask = size - 1  # in a slot are a hash and a number + 1, or 0
    cdef int64_t known, count = 0, left = MOST_STEPS * n
    with nogil:
        for row in range(n):
            if row + AHEAD < n:
                fetch(&slots[hash_of(ones[row + AHEAD], others[row + AHEAD]) & mask])
            tag = hash_of(ones[row], others[row])
            at = tag & mask
            tag &= ~NUMBER_MASK
            while slots[at]:
                if slots[at] & ~NUMBER_MASK == tag:
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
                slots[at] = tag | <uint64_t>count
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


def order_by_key(
    const key[::1] keys,
    const int32_t[::1] first,
    int32_t[::1] ends,
    int32_t[::1] rows,
    int32_t[::1] owners,
):
    """The rows of each key one after the other, and who owns each.

    Args:
        keys: Of each row, from 0 up to the length of ``ends``, shape (n,).
        first: The first row of each owner, and the number of rows.
        ends: Receives the place behind the last row of each key.
        rows: Receives the rows.
        owners: Receives the owner of each of ``rows``.

    Raises:
        ValueError: A key is out of range, or the columns do not fit each other.
    """
    cdef int64_t n = keys.shape[0], size = ends.shape[0], n_owners = first.shape[0] - 1
    cdef int64_t row, owner, number
    cdef int32_t begin = 0, count
    if rows.shape[0] != n or owners.shape[0] != n or n > 0x7FFFFFFF:
        raise ValueError("columns of different lengths")
    if n_owners < 0 or first[0] != 0 or first[n_owners] != n:
        raise ValueError("columns of different lengths")
    cdef bint is_wrong = False
    with nogil:
        for number in range(size):
            ends[number] = 0
        for row in range(n):
            if not 0 <= keys[row] < size:
                is_wrong = True
                break
            ends[keys[row]] += 1
        for owner in range(n_owners):
            is_wrong |= first[owner] > first[owner + 1]
        if not is_wrong:
            for number in range(size):
                count = ends[number]
                ends[number] = begin
                begin += count
            for owner in range(n_owners):
                for row in range(first[owner], first[owner + 1]):
                    number = keys[row]
                    rows[ends[number]] = <int32_t>row
                    owners[ends[number]] = <int32_t>owner
                    ends[number] += 1
    if is_wrong:
        raise ValueError("a row out of range")
