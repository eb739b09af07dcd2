# How many events and stats the chunks have.

cdef inline const uint8_t* behind_usual(const uint8_t* at) noexcept nogil:
    """The place behind a number; ``AHEAD`` bytes may be looked at. NULL if it is long."""
    cdef uint64_t word, stops
    memcpy(&word, at, 8)
    stops = ~word & <uint64_t>0x8080808080808080
    if stops == 0:
        return NULL
    stops = (stops ^ (stops - 1)) & <uint64_t>0x0101010101010101
    return at + (stops * <uint64_t>0x0101010101010101 >> 56)


cdef inline int64_t count_usual(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """How many stats an event has whose fields stand in order; -1 if it is not of this kind.

    It may look behind the end of the event, but takes nothing from there.
    """
    cdef int64_t n_stats = 0
    if at[0] == 0x08:
        at = behind_usual(at + 1)
        if at == NULL:
            return -1
    if at[0] != 0x10:
        return -1
    at = behind_usual(at + 1)
    if at == NULL:
        return -1
    if at[0] == 0x18 and at < end:
        at = behind_usual(at + 1)
        if at == NULL:
            return -1
    while at < end:
        if at[0] != 0x22 or at[1] >= 0x80:
            return -1
        at += 2 + at[1]
        n_stats += 1
    return n_stats if at == end else -1


cdef int64_t count_stats(
    const uint8_t* at, const uint8_t* end, const uint8_t* limit, int* flags
) noexcept nogil:
    """How many stats an event has; -1 if it is broken."""
    cdef uint64_t tag = 0
    cdef int64_t n_stats = 0, size = 0
    cdef bint has_offset = False
    while at < end:
        at = read_tag(at, end, &tag)
        if at == NULL:
            return -1
        if tag == 0x22:
            at = read_size(at, end, &size)
            if at == NULL:
                return -1
            at += size
            n_stats += 1
        elif tag == 0x08 or tag == 0x10 or tag == 0x18 or tag == 0x28:
            at = skip_varint_ahead(at, end, limit)
            if at == NULL:
                return -1
            if tag == 0x10 or tag == 0x28:
                has_offset = tag == 0x10
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                return -1
    if not has_offset:
        flags[0] &= ~ALL_OFFSETS
    return n_stats


def count(
    const uint8_t[::1] data,
    const int64_t[::1] chunks,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t[::1] headers,
    int64_t[::1] ends,
    int64_t[::1] n_events,
    int64_t[::1] n_stats,
):
    """Count the events and stats of the chunks ``first`` to ``last``; read short lines' headers.

    Args:
        data: Holds the chunks.
        chunks: Line, start and stop of each.
        first: The first to count.
        last: One past the last to count.
        headers: As ``split`` has left them.
        ends: As ``split`` has left them.
        n_events: Gets the events of each chunk.
        n_stats: Gets their stats.

    Returns:
        Flags, how many events are broken and were left out, and where the first is, else -1.
    """
    cdef Py_ssize_t chunk
    cdef int64_t line
    cdef const uint8_t* base
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef const uint8_t* event
    cdef const uint8_t* behind
    cdef const uint8_t* limit
    cdef uint64_t tag = 0
    cdef int64_t size = 0, found, n_broken = 0, broken = -1, of_events, of_stats
    cdef bint is_whole
    cdef int flags = ALL_OFFSETS
    _check_chunks(data.shape[0], chunks, first, last)
    if n_events.shape[0] < last or n_stats.shape[0] < last:
        raise ValueError("there is no room for the counts")
    for chunk in range(first, last):
        if not 0 <= chunks[3 * chunk] < ends.shape[0] or headers.shape[0] < ends.shape[0] * HEADER:
            raise ValueError("a chunk's line is not among the lines")
    if first == last:
        return flags, 0, -1
    base = &data[0]
    limit = base + data.shape[0]
    with nogil:
        for chunk in range(first, last):
            line = chunks[3 * chunk]
            at, end = base + chunks[3 * chunk + 1], base + chunks[3 * chunk + 2]
            is_whole = ends[line] == UNKNOWN
            of_events = of_stats = 0
            while at < end:
                event = at
                behind = read_tag(at, end, &tag)
                if behind == NULL:
                    break
                if tag != 0x22:
                    if is_whole:
                        behind = header_field(base, &headers[line * HEADER], behind, end, tag)
                    else:
                        behind = skip_value(behind, end, tag)
                    if behind == NULL:
                        break
                    at = behind
                    continue
                behind = read_size(behind, end, &size)
                if behind == NULL:
                    break
                at = behind + size
                found = -1
                if limit - at >= AHEAD and is_little_endian():
                    found = count_usual(behind, at)
                if found < 0:
                    found = count_stats(behind, at, limit, &flags)
                if found < 0:
                    n_broken += 1
                    if broken < 0:
                        broken = event - base
                else:
                    of_events += 1
                    of_stats += found
            n_events[chunk], n_stats[chunk] = of_events, of_stats
            if is_whole:
                ends[line] = at - base
    return flags, n_broken, broken


cdef _check_chunks(Py_ssize_t size, const int64_t[::1] chunks, Py_ssize_t first, Py_ssize_t last):
    cdef Py_ssize_t chunk
    if not 0 <= first <= last <= chunks.shape[0] // 3:
        raise ValueError("there are no such chunks")
    for chunk in range(first, last):
        if not 0 <= chunks[3 * chunk + 1] <= chunks[3 * chunk + 2] <= size:
            raise ValueError("a chunk is not in the data")
