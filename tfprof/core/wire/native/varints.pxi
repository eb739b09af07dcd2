# Numbers, tags and lengths of the wire format, each checked against the end of its message.

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    WIRE_VARINT = 0
    WIRE_64 = 1
    WIRE_LENGTH = 2
    WIRE_START_GROUP = 3
    WIRE_END_GROUP = 4
    WIRE_32 = 5

cdef enum:
    MAX_DEPTH = 100   # protobuf's limit, of messages and groups together


cdef inline const uint8_t* read_varint(
    const uint8_t* at, const uint8_t* end, uint64_t* value
) noexcept nogil:
    """The number at a place; returns the place behind it, NULL if it is cut off or too long."""
    cdef uint64_t result = 0
    cdef int shift = 0
    cdef uint8_t byte
    while at < end and shift < 70:
        byte = at[0]
        at += 1
        if shift < 64:
            result |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            value[0] = result
            return at
        shift += 7
    return NULL


cdef inline bint is_little_endian() noexcept nogil:
    cdef uint64_t one = 1
    return (<const uint8_t*>&one)[0] == 1


cdef inline const uint8_t* read_varint_ahead(
    const uint8_t* at, const uint8_t* end, const uint8_t* limit, uint64_t* value
) noexcept nogil:
    """The same where more data follow, up to a limit: eight bytes are taken at a time.

    The lowest byte without the continuation bit ends the number, and three shifts close the gaps
    that the continuation bits leave. Numbers of any length take the same instructions.
    """
    cdef uint64_t word = 0, stops, taken
    if limit - at < 8 or not is_little_endian():
        return read_varint(at, end, value)
    memcpy(&word, at, 8)
    stops = ~word & <uint64_t>0x8080808080808080
    if stops == 0:
        return read_varint(at, end, value)
    taken = stops ^ (stops - 1)
    word &= taken & <uint64_t>0x7F7F7F7F7F7F7F7F
    word = (word & <uint64_t>0x007F007F007F007F) | (word >> 1 & <uint64_t>0x3F803F803F803F80)
    word = (word & <uint64_t>0x00003FFF00003FFF) | (word >> 2 & <uint64_t>0x0FFFC0000FFFC000)
    value[0] = (word & 0x0FFFFFFF) | (word >> 4 & <uint64_t>0x00FFFFFFF0000000)
    taken &= <uint64_t>0x0101010101010101
    at += taken * <uint64_t>0x0101010101010101 >> 56
    return at if at <= end else NULL


cdef inline const uint8_t* skip_varint_ahead(
    const uint8_t* at, const uint8_t* end, const uint8_t* limit
) noexcept nogil:
    """The place behind a number, as above."""
    cdef uint64_t word = 0, stops, value = 0
    if limit - at < 8 or not is_little_endian():
        return read_varint(at, end, &value)
    memcpy(&word, at, 8)
    stops = ~word & <uint64_t>0x8080808080808080
    if stops == 0:
        return read_varint(at, end, &value)
    stops = (stops ^ (stops - 1)) & <uint64_t>0x0101010101010101
    at += stops * <uint64_t>0x0101010101010101 >> 56
    return at if at <= end else NULL


cdef inline const uint8_t* read_tag(
    const uint8_t* at, const uint8_t* end, uint64_t* tag
) noexcept nogil:
    """A field's number and wire type; protobuf reads no more than five bytes."""
    cdef const uint8_t* start = at
    if at < end and at[0] < 0x80:
        tag[0] = at[0]
        return at + 1
    at = read_varint(at, end, tag)
    if at == NULL or at - start > 5 or tag[0] >> 32 != 0:
        return NULL
    return at


cdef inline const uint8_t* read_size(
    const uint8_t* at, const uint8_t* end, int64_t* size
) noexcept nogil:
    """The length of what follows, which must be there."""
    cdef uint64_t value = 0
    cdef const uint8_t* start = at
    if at < end and at[0] < 0x80:
        value = at[0]
        at += 1
    else:
        at = read_varint(at, end, &value)
        if at == NULL or at - start > 5 or value >> 31 != 0:
            return NULL
    if <int64_t>value > end - at:
        return NULL
    size[0] = <int64_t>value
    return at


cdef const uint8_t* skip_value(
    const uint8_t* at, const uint8_t* end, uint64_t tag
) noexcept nogil:
    """The place behind a field's value, which starts here; NULL if it is broken."""
    cdef uint64_t value = 0
    cdef int64_t size = 0
    cdef uint64_t kind = tag & 7
    if tag >> 3 == 0:
        return NULL
    if kind == WIRE_VARINT:
        return read_varint(at, end, &value)
    if kind == WIRE_LENGTH:
        at = read_size(at, end, &size)
        return NULL if at == NULL else at + size
    if kind == WIRE_64:
        return NULL if end - at < 8 else at + 8
    if kind == WIRE_32:
        return NULL if end - at < 4 else at + 4
    if kind == WIRE_START_GROUP:
        return skip_group(at, end, tag >> 3, 0)
    return NULL


cdef const uint8_t* skip_group(
    const uint8_t* at, const uint8_t* end, uint64_t number, int64_t above
) noexcept nogil:
    """The place behind the end mark of a group, which so many messages are around.

    Groups may stand in groups.
    """
    cdef uint64_t open_groups[MAX_DEPTH]
    cdef int depth = 0
    cdef uint64_t tag = 0
    if above >= MAX_DEPTH:
        return NULL
    open_groups[0] = number
    while at < end:
        at = read_tag(at, end, &tag)
        if at == NULL or tag >> 3 == 0:
            return NULL
        if tag & 7 == WIRE_START_GROUP:
            depth += 1
            if depth + above >= MAX_DEPTH:
                return NULL
            open_groups[depth] = tag >> 3
        elif tag & 7 == WIRE_END_GROUP:
            if open_groups[depth] != tag >> 3:
                return NULL
            depth -= 1
            if depth < 0:
                return at
        else:
            at = skip_value(at, end, tag)
            if at == NULL:
                return NULL
    return NULL
