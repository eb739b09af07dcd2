# The columns of the events and stats of the chunks.

cdef struct Rows:
    uint8_t* metadata_ids
    int metadata_width
    int64_t* data
    uint8_t* which
    int64_t* durations
    uint8_t* first_stats
    int first_width
    uint8_t* stat_ids
    int stat_width
    uint8_t* kinds
    int64_t* values
    int64_t event
    int64_t stat
    int64_t last_event    # one past the rows that were counted
    int64_t last_stat
    int64_t broken        # where the first broken stat is, else -1
    int64_t n_broken
    const uint8_t* base
    const uint8_t* limit  # behind the data
    int flags


cdef inline void put(
    Rows* rows, uint8_t* column, int width, int64_t row, int64_t value
) noexcept nogil:
    """An integer of some width; one that is too large is noted."""
    if width == 4:
        (<int32_t*>column)[row] = <int32_t>value
        if <int32_t>value != value:
            rows.flags |= MISFIT
    elif width == 2:
        (<int16_t*>column)[row] = <int16_t>value
        if <int16_t>value != value:
            rows.flags |= MISFIT
    elif width == 1:
        (<int8_t*>column)[row] = <int8_t>value
        if <int8_t>value != value:
            rows.flags |= MISFIT
    else:
        (<int64_t*>column)[row] = value


cdef inline void put_stat(
    Rows* rows, int64_t metadata_id, uint8_t kind, int64_t content
) noexcept nogil:
    put(rows, rows.stat_ids, rows.stat_width, rows.stat, metadata_id)
    rows.kinds[rows.stat] = kind
    rows.values[rows.stat] = content
    rows.stat += 1


cdef inline void put_event(
    Rows* rows, int64_t metadata_id, uint8_t which, int64_t content, int64_t duration, int64_t first
) noexcept nogil:
    put(rows, rows.metadata_ids, rows.metadata_width, rows.event, metadata_id)
    put(rows, rows.first_stats, rows.first_width, rows.event, first)
    rows.data[rows.event] = content
    rows.durations[rows.event] = duration
    if rows.which != NULL:
        rows.which[rows.event] = which
    elif which != 2:
        rows.flags |= CHANGED
    rows.event += 1


cdef inline const uint8_t* read_usual(const uint8_t* at, uint64_t* value) noexcept nogil:
    """The number at a place, and the place behind it; NULL if it is too long.

    ``AHEAD`` bytes may be looked at, so eight are taken at a time, as ``read_varint_ahead`` does.
    """
    cdef uint64_t word, stops, taken
    if at[0] < 0x80:
        value[0] = at[0]
        return at + 1
    memcpy(&word, at, 8)
    stops = ~word & <uint64_t>0x8080808080808080
    taken = stops ^ (stops - 1)  # all of them, if the number goes on
    word &= taken & <uint64_t>0x7F7F7F7F7F7F7F7F
    word = (word & <uint64_t>0x007F007F007F007F) | (word >> 1 & <uint64_t>0x3F803F803F803F80)
    word = (word & <uint64_t>0x00003FFF00003FFF) | (word >> 2 & <uint64_t>0x0FFFC0000FFFC000)
    word = (word & 0x0FFFFFFF) | (word >> 4 & <uint64_t>0x00FFFFFFF0000000)
    if stops == 0:
        word |= <uint64_t>(at[8] & 0x7F) << 56
        if at[8] >= 0x80:
            if at[9] > 1:
                return NULL
            word |= <uint64_t>at[9] << 63
            value[0] = word
            return at + 10
        value[0] = word
        return at + 9
    taken &= <uint64_t>0x0101010101010101
    value[0] = word
    return at + (taken * <uint64_t>0x0101010101010101 >> 56)


cdef inline bint stat_usual(Rows* rows, const uint8_t* at, const uint8_t* end) noexcept nogil:
    """The next row of stats, of a name and one value in this order; False if it is not so."""
    cdef uint64_t metadata_id = 0, value = 0
    cdef int64_t content
    cdef uint8_t tag, kind
    if at[0] != 0x08:
        return False
    at = read_usual(at + 1, &metadata_id)
    if at == NULL:
        return False
    tag = at[0]
    kind = tag >> 3
    if tag == 0x18 or tag == 0x20 or tag == 0x38:
        at = read_usual(at + 1, &value)
        content = <int64_t>value
    elif tag == 0x2A or tag == 0x32:
        content = at + 1 - rows.base
        at = at + 2 + at[1] if at[1] < 0x80 else NULL
    elif tag == 0x11:
        memcpy(&content, at + 1, 8)
        at += 9
    else:
        return False
    if at != end:
        return False
    put_stat(rows, <int64_t>metadata_id, kind, content)
    return True


cdef inline bint event_usual(Rows* rows, const uint8_t* at, const uint8_t* end) noexcept nogil:
    """The next row of events, and their stats, as ``count_usual`` counts them.

    False if the event is not of this kind; then ``rows.stat`` is where it was.
    """
    cdef uint64_t metadata_id = 0, offset = 0, duration = 0
    cdef int64_t first = rows.stat
    cdef const uint8_t* stat
    if at[0] == 0x08:
        at = read_usual(at + 1, &metadata_id)
        if at == NULL:
            return False
    if at[0] != 0x10:
        return False
    at = read_usual(at + 1, &offset)
    if at == NULL:
        return False
    if at[0] == 0x18 and at < end:
        at = read_usual(at + 1, &duration)
        if at == NULL:
            return False
    while at < end:
        if at[0] != 0x22 or at[1] >= 0x80 or rows.stat == rows.last_stat:
            rows.stat = first
            return False
        stat = at + 2
        at = stat + at[1]
        if at > end or not stat_usual(rows, stat, at):
            rows.stat = first
            return False
    if at != end or rows.event == rows.last_event:
        rows.stat = first
        return False
    put_event(rows, <int64_t>metadata_id, 2, <int64_t>offset, <int64_t>duration, first)
    return True


cdef int read_stat(
    Rows* rows, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """The next row of stats; a broken stat has neither name nor value. 0, or -1 if it is broken."""
    cdef uint64_t tag = 0, value = 0
    cdef int64_t metadata_id = 0, content = 0, size = 0
    cdef uint8_t kind = 0
    cdef const uint8_t* start
    cdef int outcome = 0
    while at < end:
        at = read_tag(at, end, &tag)
        if at == NULL:
            outcome = -1
            break
        if tag == 0x08 or tag == 0x18 or tag == 0x20 or tag == 0x38:
            at = read_varint_ahead(at, end, rows.limit, &value)
            if at == NULL:
                outcome = -1
                break
            if tag == 0x08:
                metadata_id = <int64_t>value
            else:
                kind = <uint8_t>(tag >> 3)
                content = <int64_t>value
        elif tag == 0x11:
            if end - at < 8:
                outcome = -1
                break
            kind = 2
            memcpy(&content, at, 8)
            at += 8
        elif tag == 0x2A or tag == 0x32:
            start = at
            at = read_size(at, end, &size)
            if at == NULL:
                outcome = -1
                break
            kind = <uint8_t>(tag >> 3)
            content = start - rows.base
            at += size
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                outcome = -1
                break
    if outcome < 0:
        metadata_id = content = 0
        kind = 0
    put_stat(rows, metadata_id, kind, content)
    return outcome


cdef void read_event(Rows* rows, const uint8_t* at, const uint8_t* end) noexcept nogil:
    """The next row of events, and of the stats of this event; none if it is broken."""
    cdef uint64_t tag = 0, value = 0
    cdef int64_t metadata_id = 0, content = 0, duration = 0, size = 0, first = rows.stat
    cdef int64_t n_broken = 0, broken = -1
    cdef uint8_t which = 0
    cdef bint is_counted = True
    while at < end:
        at = read_tag(at, end, &tag)
        if at == NULL:
            break
        if tag == 0x08 or tag == 0x10 or tag == 0x18 or tag == 0x28:
            at = read_varint_ahead(at, end, rows.limit, &value)
            if at == NULL:
                break
            if tag == 0x08:
                metadata_id = <int64_t>value
            elif tag == 0x18:
                duration = <int64_t>value
            else:
                which = <uint8_t>(tag >> 3)
                content = <int64_t>value
        elif tag == 0x22:
            at = read_size(at, end, &size)
            if at == NULL:
                break
            if rows.stat == rows.last_stat:
                is_counted = False
            elif read_stat(rows, at, at + size) < 0:
                n_broken += 1
                if broken < 0:
                    broken = at - rows.base
            at += size
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                break
    if at == NULL:  # it was not counted either
        rows.stat = first
    elif rows.event == rows.last_event or not is_counted:
        rows.stat = first
        rows.flags |= CHANGED
    else:
        rows.n_broken += n_broken
        if rows.broken < 0:
            rows.broken = broken
        put_event(rows, metadata_id, which, content, duration, first)


def read(
    const uint8_t[::1] data,
    const int64_t[::1] chunks,
    Py_ssize_t first,
    Py_ssize_t last,
    const int64_t[::1] events_before,
    const int64_t[::1] stats_before,
    uint8_t[::1] metadata_ids,
    int64_t[::1] values,
    uint8_t[::1] which,
    int64_t[::1] durations,
    uint8_t[::1] first_stats,
    uint8_t[::1] stat_ids,
    uint8_t[::1] stat_kinds,
    int64_t[::1] stat_values,
):
    """Write the rows of the chunks ``first`` to ``last``.

    Args:
        data: Holds the chunks.
        chunks: Line, start and stop of each.
        first: The first to read.
        last: One past the last to read.
        events_before: How many events are before each chunk, and in all.
        stats_before: The same for stats.
        metadata_ids: Column of events, of one, two, four or eight bytes a row, like all bytes.
        values: Offset or number of occurrences.
        which: Field number of what ``values`` has; no rows if it is the offset's everywhere.
        durations: In ps.
        first_stats: The first stat of each event.
        stat_ids: Column of stats.
        stat_kinds: Field number of the value.
        stat_values: The value; of a text, the place of its length.

    Returns:
        Flags, how many broken stats there were, and where the first is, else -1.
    """
    cdef Py_ssize_t chunk
    cdef const uint8_t* base
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef const uint8_t* event
    cdef uint64_t tag = 0
    cdef int64_t size = 0
    cdef Rows rows
    cdef int64_t n_events = values.shape[0], n_stats = stat_values.shape[0]
    cdef uint8_t nothing[8]
    _check_chunks(data.shape[0], chunks, first, last)
    if first == last:
        return 0, 0, -1
    if which.shape[0] not in (0, n_events) or durations.shape[0] != n_events:
        raise ValueError("the columns of events differ in length")
    if stat_kinds.shape[0] != n_stats:
        raise ValueError("the columns of stats differ in length")
    for chunk in range(first, last):
        if not 0 <= events_before[chunk] <= events_before[chunk + 1] <= n_events:
            raise ValueError("the rows of a chunk are not in the columns")
        if not 0 <= stats_before[chunk] <= stats_before[chunk + 1] <= n_stats:
            raise ValueError("the rows of a chunk are not in the columns")
    if not n_events:
        return 0, 0, -1
    rows.metadata_width = metadata_ids.shape[0] // n_events
    rows.first_width = first_stats.shape[0] // n_events
    rows.stat_width = stat_ids.shape[0] // n_stats if n_stats else 8
    rows.metadata_ids, rows.first_stats = &metadata_ids[0], &first_stats[0]
    rows.data, rows.durations = &values[0], &durations[0]
    rows.which = &which[0] if which.shape[0] else NULL
    rows.stat_ids = &stat_ids[0] if n_stats else nothing
    rows.kinds = &stat_kinds[0] if n_stats else nothing
    rows.values = &stat_values[0] if n_stats else <int64_t*>nothing
    rows.flags = 0
    rows.n_broken, rows.broken = 0, -1
    base = &data[0]
    rows.base, rows.limit = base, base + data.shape[0]
    with nogil:
        for chunk in range(first, last):
            at, end = base + chunks[3 * chunk + 1], base + chunks[3 * chunk + 2]
            rows.event, rows.last_event = events_before[chunk], events_before[chunk + 1]
            rows.stat, rows.last_stat = stats_before[chunk], stats_before[chunk + 1]
            while at < end:
                at = read_tag(at, end, &tag)
                if at == NULL:
                    break
                if tag != 0x22:
                    at = skip_value(at, end, tag)
                    if at == NULL:
                        break
                    continue
                at = read_size(at, end, &size)
                if at == NULL:
                    break
                event = at
                at += size
                if rows.limit - at < AHEAD or not is_little_endian():
                    read_event(&rows, event, at)
                elif not event_usual(&rows, event, at):
                    read_event(&rows, event, at)
            if rows.event != rows.last_event or rows.stat != rows.last_stat:
                rows.flags |= CHANGED
    return rows.flags, rows.n_broken, rows.broken
