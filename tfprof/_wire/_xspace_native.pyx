# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The events of an XSpace, natively and without the GIL; ``_xspace_pure.py`` says the same.

``elements`` and ``split`` only follow lengths. Their chunks are whole fields of one line, so that
``count`` and ``read`` can take them in any order and in any number of threads: the rows of each
are known before a column is written.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

include "_varints.pxi"

cdef enum:
    HEADER = 8        # numbers of a line: ``tfprof._wire.xspace_lines.HEADER``
    ALL_OFFSETS = 1   # bits of what ``read`` returns
    MISFIT = 2
    CHANGED = 4


cdef struct Fields:
    int64_t* rows     # number, first byte of the tag, of the value, and behind it
    int64_t count
    int64_t room


cdef int add_field(
    Fields* fields, int64_t number, int64_t tag, int64_t start, int64_t stop
) noexcept nogil:
    cdef void* grown
    cdef int64_t room
    if fields.count == fields.room:
        room = 2 * fields.room + 64
        grown = realloc(fields.rows, room * 4 * sizeof(int64_t))
        if grown == NULL:
            return -1
        fields.rows = <int64_t*>grown
        fields.room = room
    cdef int64_t* row = fields.rows + 4 * fields.count
    row[0], row[1], row[2], row[3] = number, tag, start, stop
    fields.count += 1
    return 0


cdef int64_t list_fields(
    Fields* fields, const uint8_t* data, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """Where the fields end, or break; -1 if there is no memory."""
    cdef const uint8_t* start
    cdef const uint8_t* value
    cdef const uint8_t* behind
    cdef uint64_t tag = 0, size = 0
    cdef bint is_cut = False
    while at < end and not is_cut:
        start = at
        value = read_tag(at, end, &tag)
        if value == NULL:
            return start - data
        if tag & 7 == WIRE_LENGTH and tag >> 3 != 0:
            value = read_varint(value, end, &size)
            if value == NULL:
                return start - data
            is_cut = size > <uint64_t>(end - value)
            behind = end if is_cut else value + size
        else:
            behind = skip_value(value, end, tag)
            if behind == NULL:
                return start - data
        if add_field(fields, tag >> 3, start - data, value - data, behind - data) < 0:
            return -1
        at = start if is_cut else behind
    return at - data


def elements(const uint8_t[::1] data, Py_ssize_t start, Py_ssize_t stop):
    """The fields of a message, of any length; one that is cut off is the last.

    Returns:
        Four numbers for each field, as bytes: its number, and the first byte of its tag, of its
        value, and the one behind; and where the fields end or break.
    """
    cdef Fields fields
    cdef int64_t position
    cdef uint8_t nothing = 0
    cdef const uint8_t* base = &data[0] if data.shape[0] else &nothing
    if not 0 <= start <= stop <= data.shape[0]:
        raise ValueError("the message is not in the data")
    fields.rows = NULL
    fields.count = fields.room = 0
    with nogil:
        position = list_fields(&fields, base, base + start, base + stop)
    try:
        if position < 0:
            raise MemoryError
        if not fields.count:
            return b"", position
        return (<const char*>fields.rows)[: fields.count * 4 * sizeof(int64_t)], position
    finally:
        free(fields.rows)


cdef const uint8_t* header_field(
    const uint8_t* data, int64_t* header, const uint8_t* at, const uint8_t* end, uint64_t tag
) noexcept nogil:
    """A field of a line that is no event; returns the place behind it, or NULL."""
    cdef uint64_t value = 0
    cdef int64_t size = 0, place = -1
    if tag == 0x12 or tag == 0x5A:  # name, display_name
        at = read_size(at, end, &size)
        if at == NULL:
            return NULL
        place = 4 if tag == 0x12 else 6
        header[place] = at - data
        header[place + 1] = size
        return at + size
    if tag == 0x08:
        place = 0  # id
    elif tag == 0x18:
        place = 1  # timestamp_ns
    elif tag == 0x48:
        place = 2  # duration_ps
    elif tag == 0x50:
        place = 3  # display_id
    if place < 0:
        return skip_value(at, end, tag)
    at = read_varint(at, end, &value)
    if at != NULL:
        header[place] = <int64_t>value
    return at


def split(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int64_t most,
    int64_t[::1] headers,
    int64_t[::1] ends,
    int64_t[::1] chunks,
):
    """Read the headers of lines, and cut their events into chunks.

    Args:
        data: Holds the lines.
        starts: First byte of each line.
        stops: One past its last byte.
        most: Bytes after which a chunk ends.
        headers: Gets id, timestamp, duration, display id, and start and length of the name and
            of the display name, of each line. Zeros before.
        ends: Gets the place up to which each line can be read.
        chunks: Gets line, start and stop of each chunk.

    Returns:
        How many chunks there are.
    """
    cdef Py_ssize_t n_lines = starts.shape[0], line
    cdef int64_t room = chunks.shape[0] // 3, n_chunks = 0, size = 0
    cdef const uint8_t* base
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef const uint8_t* first
    cdef const uint8_t* behind
    cdef uint64_t tag = 0
    cdef bint fits = True
    if headers.shape[0] < n_lines * HEADER or ends.shape[0] < n_lines or stops.shape[0] < n_lines:
        raise ValueError("there is no room for the lines")
    if not n_lines:
        return 0
    for line in range(n_lines):
        if not 0 <= starts[line] <= stops[line] <= data.shape[0]:
            raise ValueError("a line is not in the data")
    if not data.shape[0]:
        return 0
    base = &data[0]
    with nogil:
        for line in range(n_lines):
            at, end = base + starts[line], base + stops[line]
            first = NULL
            while at < end:
                behind = read_tag(at, end, &tag)
                if behind != NULL:
                    if tag == 0x22:  # an event
                        behind = read_size(behind, end, &size)
                        if behind != NULL:
                            behind += size
                            if first == NULL:
                                first = at
                    else:
                        behind = header_field(base, &headers[line * HEADER], behind, end, tag)
                if behind == NULL:
                    break
                at = behind
                if first != NULL and (at - first >= most or at == end):
                    fits = n_chunks < room
                    if not fits:
                        break
                    chunks[3 * n_chunks] = line
                    chunks[3 * n_chunks + 1] = first - base
                    chunks[3 * n_chunks + 2] = at - base
                    n_chunks += 1
                    first = NULL
            if fits and first != NULL:  # the line breaks behind its last event
                fits = n_chunks < room
                if fits:
                    chunks[3 * n_chunks] = line
                    chunks[3 * n_chunks + 1] = first - base
                    chunks[3 * n_chunks + 2] = at - base
                    n_chunks += 1
            if not fits:
                break
            ends[line] = at - base
    if not fits:
        raise ValueError("there is no room for the chunks")
    return n_chunks


cdef int64_t count_stats(
    const uint8_t* at, const uint8_t* end, const uint8_t* limit
) noexcept nogil:
    """How many stats an event has; -1 if it is broken."""
    cdef uint64_t tag = 0
    cdef int64_t n_stats = 0, size = 0
    while at < end:
        if end - at >= 2 and at[0] == 0x22 and at[1] < 0x80:  # nearly all stats
            at += 2 + at[1]
            if at > end:
                return -1
            n_stats += 1
            continue
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
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                return -1
    return n_stats


def count(
    const uint8_t[::1] data,
    const int64_t[::1] chunks,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t[::1] n_events,
    int64_t[::1] n_stats,
):
    """Count the events and stats of the chunks ``first`` to ``last``.

    Returns:
        How many events are broken and were left out, and where the first is, else -1.
    """
    cdef Py_ssize_t chunk
    cdef const uint8_t* base
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef const uint8_t* event
    cdef uint64_t tag = 0
    cdef int64_t size = 0, found, n_broken = 0, broken = -1
    _check_chunks(data.shape[0], chunks, first, last)
    if n_events.shape[0] < last or n_stats.shape[0] < last:
        raise ValueError("there is no room for the counts")
    if first == last:
        return 0, -1
    base = &data[0]
    with nogil:
        for chunk in range(first, last):
            at, end = base + chunks[3 * chunk + 1], base + chunks[3 * chunk + 2]
            while at < end:
                event = at
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
                found = count_stats(at, at + size, base + data.shape[0])
                at += size
                if found < 0:
                    n_broken += 1
                    if broken < 0:
                        broken = event - base
                else:
                    n_events[chunk] += 1
                    n_stats[chunk] += found
    return n_broken, broken


cdef _check_chunks(Py_ssize_t size, const int64_t[::1] chunks, Py_ssize_t first, Py_ssize_t last):
    cdef Py_ssize_t chunk
    if not 0 <= first <= last <= chunks.shape[0] // 3:
        raise ValueError("there are no such chunks")
    for chunk in range(first, last):
        if not 0 <= chunks[3 * chunk + 1] <= chunks[3 * chunk + 2] <= size:
            raise ValueError("a chunk is not in the data")


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
    else:
        (<int64_t*>column)[row] = value


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
    put(rows, rows.stat_ids, rows.stat_width, rows.stat, metadata_id)
    rows.kinds[rows.stat] = kind
    rows.values[rows.stat] = content
    rows.stat += 1
    return outcome


cdef int read_event(
    Rows* rows, const uint8_t* at, const uint8_t* end, int64_t* n_broken
) noexcept nogil:
    """The next row of events, and of the stats of this event; -1 and none if it is broken."""
    cdef uint64_t tag = 0, value = 0
    cdef int64_t metadata_id = 0, content = 0, duration = 0, size = 0, first = rows.stat
    cdef int64_t n_found = 0
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
                n_found += 1
            at += size
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                break
    if at == NULL:  # it was not counted either
        rows.stat = first
        return -1
    if rows.event == rows.last_event or not is_counted:
        rows.stat = first
        rows.flags |= CHANGED
        return -1
    n_broken[0] += n_found
    put(rows, rows.metadata_ids, rows.metadata_width, rows.event, metadata_id)
    put(rows, rows.first_stats, rows.first_width, rows.event, first)
    rows.data[rows.event] = content
    rows.which[rows.event] = which
    rows.durations[rows.event] = duration
    if which != 2:
        rows.flags &= ~ALL_OFFSETS
    rows.event += 1
    return 0


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
        metadata_ids: Column of events, of two, four or eight bytes a row, like the other bytes.
        values: Offset or number of occurrences.
        which: Field number of what ``values`` has.
        durations: In ps.
        first_stats: The first stat of each event.
        stat_ids: Column of stats.
        stat_kinds: Field number of the value.
        stat_values: The value; of a text, the place of its length.

    Returns:
        Flags, how many broken stats there were, and the chunk of the first, else -1.
    """
    cdef Py_ssize_t chunk
    cdef const uint8_t* base
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef uint64_t tag = 0
    cdef int64_t size = 0, n_broken = 0, before
    cdef int64_t broken = -1
    cdef Rows rows
    cdef int64_t n_events = values.shape[0], n_stats = stat_values.shape[0]
    cdef uint8_t nothing[8]
    _check_chunks(data.shape[0], chunks, first, last)
    if first == last:
        return ALL_OFFSETS, 0, -1
    if which.shape[0] != n_events or durations.shape[0] != n_events:
        raise ValueError("the columns of events differ in length")
    if stat_kinds.shape[0] != n_stats:
        raise ValueError("the columns of stats differ in length")
    for chunk in range(first, last):
        if not 0 <= events_before[chunk] <= events_before[chunk + 1] <= n_events:
            raise ValueError("the rows of a chunk are not in the columns")
        if not 0 <= stats_before[chunk] <= stats_before[chunk + 1] <= n_stats:
            raise ValueError("the rows of a chunk are not in the columns")
    if not n_events:
        return ALL_OFFSETS, 0, -1
    rows.metadata_width = metadata_ids.shape[0] // n_events
    rows.first_width = first_stats.shape[0] // n_events
    rows.stat_width = stat_ids.shape[0] // n_stats if n_stats else 8
    rows.metadata_ids, rows.first_stats = &metadata_ids[0], &first_stats[0]
    rows.data, rows.which, rows.durations = &values[0], &which[0], &durations[0]
    rows.stat_ids = &stat_ids[0] if n_stats else nothing
    rows.kinds = &stat_kinds[0] if n_stats else nothing
    rows.values = &stat_values[0] if n_stats else <int64_t*>nothing
    rows.flags = ALL_OFFSETS
    base = &data[0]
    rows.base, rows.limit = base, base + data.shape[0]
    with nogil:
        for chunk in range(first, last):
            at, end = base + chunks[3 * chunk + 1], base + chunks[3 * chunk + 2]
            rows.event, rows.last_event = events_before[chunk], events_before[chunk + 1]
            rows.stat, rows.last_stat = stats_before[chunk], stats_before[chunk + 1]
            before = n_broken
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
                read_event(&rows, at, at + size, &n_broken)
                at += size
            if rows.event != rows.last_event or rows.stat != rows.last_stat:
                rows.flags |= CHANGED
            if n_broken > before and broken < 0:
                broken = chunk
    return rows.flags, n_broken, broken
