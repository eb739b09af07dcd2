# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The events of an XSpace, natively and without the GIL; ``_xspace_pure.py`` says the same.

``elements`` and ``split`` only follow lengths. Their chunks are whole fields of one line, so that
``count`` and ``read`` can take them in any order and in any number of threads: the rows of each
are known before a column is written. What nearly all events look like has a way of its own, which
gives up at the first byte that is not as usual; then the event is read field by field.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

include "_varints.pxi"

cdef enum:
    HEADER = 8        # numbers of a line: ``tfprof._wire.xspace_lines.HEADER``
    UNKNOWN = -1      # where a line ends that nobody has walked
    ALL_OFFSETS = 1   # bits of what ``count`` and ``read`` return
    MISFIT = 2
    CHANGED = 4
    AHEAD = 96        # bytes behind an event that the usual way may look at


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
    """Cut the events of lines into chunks; a short line is one, whatever it holds.

    Args:
        data: Holds the lines.
        starts: First byte of each line.
        stops: One past its last byte.
        most: Bytes after which a chunk ends; a line with no more is short.
        headers: Gets id, timestamp, duration, display id, and start and length of the name and
            of the display name, of each long line. Zeros before.
        ends: Gets the place up to which each line can be read; -1 for a short one.
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
    cdef bint fits = True, is_short
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
            if at < end and end - at <= most:
                first = at
                at = end
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
                if first != NULL and at - first >= most:
                    fits = n_chunks < room
                    if not fits:
                        break
                    chunks[3 * n_chunks] = line
                    chunks[3 * n_chunks + 1] = first - base
                    chunks[3 * n_chunks + 2] = at - base
                    n_chunks += 1
                    first = NULL
            if fits and first != NULL:
                fits = n_chunks < room
                if fits:
                    chunks[3 * n_chunks] = line
                    chunks[3 * n_chunks + 1] = first - base
                    chunks[3 * n_chunks + 2] = at - base
                    n_chunks += 1
            if not fits:
                break
            is_short = 0 < stops[line] - starts[line] <= most
            ends[line] = UNKNOWN if is_short else at - base
    if not fits:
        raise ValueError("there is no room for the chunks")
    return n_chunks


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
