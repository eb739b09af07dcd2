# Where planes are cut into lines, and the events of lines into chunks.

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
    """A field of a line other than an event; returns the place behind it, or NULL."""
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
