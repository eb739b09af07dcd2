# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Texts by number in a hash table of our own, without the GIL."""

cimport cython
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memchr, memcmp, memcpy


cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* length) except NULL


cdef enum:
    FIRST_SLOTS = 64

cdef uint64_t NUMBER_MASK = 0xFFFFFFFF


cdef inline uint64_t mixed(uint64_t value) noexcept nogil:
    value ^= value >> 32
    value *= <uint64_t>0xD6E8FEB86659FD93
    value ^= value >> 32
    return value


cdef uint64_t hash_of(const uint8_t* text, int64_t length) noexcept nogil:
    """A hash of a text in the high 32 bits, eight bytes at a time."""
    cdef uint64_t result = <uint64_t>length
    cdef uint64_t word
    while length >= 8:
        memcpy(&word, text, 8)
        result = mixed(result ^ word) + word
        text += 8
        length -= 8
    word = 0
    memcpy(&word, text, length)
    return mixed(result ^ word) & ~NUMBER_MASK


def strings(const uint8_t[::1] data, const int64_t[::1] start, const int64_t[::1] length):
    """The texts of a buffer as ``str``.

    Raises:
        ValueError: A text is not in the buffer.
        UnicodeDecodeError: A text is not UTF-8.
    """
    cdef Py_ssize_t n = start.shape[0], i
    cdef const uint8_t* base = first_byte(data, start, length)
    cdef list found = PyList_New(n)
    cdef object text
    for i in range(n):
        text = PyUnicode_DecodeUTF8(<const char*>base + start[i], length[i], NULL)
        Py_INCREF(text)
        PyList_SET_ITEM(found, i, text)
    return found


def places_of(
    uint8_t byte,
    const uint8_t[::1] data,
    const int64_t[::1] start,
    const int64_t[::1] length,
    int64_t[::1] found,
):
    """The first place of a byte in each text of a buffer, -1 where it is not.

    Raises:
        ValueError: A text is not in the buffer.
    """
    cdef Py_ssize_t n = start.shape[0], i
    cdef const uint8_t* base = first_byte(data, start, length)
    cdef const uint8_t* at
    if found.shape[0] != n:
        raise ValueError("as much room for places as texts is needed")
    with nogil:
        for i in range(n):
            at = <const uint8_t*>memchr(base + start[i], byte, length[i])
            found[i] = -1 if at == NULL else at - base - start[i]


cdef uint8_t nothing = 0


cdef const uint8_t* first_byte(
    const uint8_t[::1] data, const int64_t[::1] start, const int64_t[::1] length
) except NULL:
    """The first byte of a buffer in which all texts are."""
    cdef Py_ssize_t i, size = data.shape[0]
    if length.shape[0] != start.shape[0]:
        raise ValueError("as many lengths as starts are needed")
    for i in range(start.shape[0]):
        if start[i] < 0 or length[i] < 0 or start[i] > size - length[i]:
            raise ValueError("a text is not in the buffer")
    return &data[0] if size else &nothing


cdef class TextIndex:
    """Texts by number, and numbers by text; the numbers count from 0 in order of appearance.

    Texts are expected in the order in which they were found before: then they are compared with
    what came next at that time, without a hash. Threads may share one: each call holds its lock.
    """

    cdef cython.pymutex lock
    cdef uint8_t* arena
    cdef int64_t used, room
    cdef int64_t* starts       # of each text in the arena, and one more: the end of the last
    cdef int64_t* following    # the text that was found after each, or -1
    cdef int64_t count, places
    cdef uint64_t* slots       # open addressing: a hash and, below it, a number + 1; or 0
    cdef int64_t mask

    def __cinit__(self):
        self.mask = FIRST_SLOTS - 1
        self.slots = <uint64_t*>calloc(FIRST_SLOTS, sizeof(uint64_t))
        self.starts = <int64_t*>calloc(1, sizeof(int64_t))
        if self.slots == NULL or self.starts == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.arena)
        free(self.starts)
        free(self.following)
        free(self.slots)

    def __len__(self):
        return self.count

    def __getitem__(self, int64_t number):
        cdef int64_t start
        with self.lock:
            if not 0 <= number < self.count:
                raise IndexError(number)
            start = self.starts[number]
            return (<const char*>self.arena)[start:self.starts[number + 1]]

    def with_lengths(self, int64_t[::1] places):
        """All texts one behind the other, each behind its length.

        Args:
            places: Is filled with the places of the lengths, by number.
        """
        cdef int64_t number, length, at = 0
        cdef bytearray made
        cdef uint8_t[::1] room
        with self.lock:
            if places.shape[0] != self.count:
                raise ValueError("as many places as texts are needed")
            for number in range(self.count):
                places[number] = at
                length = self.starts[number + 1] - self.starts[number]
                at += length + 1
                while length >= 0x80:
                    at += 1
                    length >>= 7
            made = bytearray(at)
            room = made
            for number in range(self.count):
                at = places[number]
                length = self.starts[number + 1] - self.starts[number]
                while length >= 0x80:
                    room[at] = <uint8_t>(length & 0x7F | 0x80)
                    at += 1
                    length >>= 7
                room[at] = <uint8_t>length
                length = self.starts[number + 1] - self.starts[number]
                if length:
                    memcpy(&room[at + 1], self.arena + self.starts[number], length)
        return made

    cdef int64_t look_up(self, const uint8_t* text, int64_t length, uint64_t key) noexcept nogil:
        cdef int64_t place = <int64_t>(key >> 32) & self.mask
        cdef uint64_t slot = self.slots[place]
        cdef int64_t number
        while slot:
            if slot & ~NUMBER_MASK == key:
                number = <int64_t>(slot & NUMBER_MASK) - 1
                if self.is_text(number, text, length):
                    return number
            place = (place + 1) & self.mask
            slot = self.slots[place]
        return -1

    cdef inline bint is_text(
        self, int64_t number, const uint8_t* text, int64_t length
    ) noexcept nogil:
        cdef int64_t start = self.starts[number]
        if self.starts[number + 1] - start != length:
            return False
        return memcmp(self.arena + start, text, length) == 0

    cdef int64_t append(self, const uint8_t* text, int64_t length, uint64_t key) noexcept nogil:
        """Give a new text the next number; -1 if there is no memory."""
        if self.make_room(1, length) < 0:
            return -1
        self.write(text, length)
        self.enter(key | <uint64_t>self.count)
        return self.count - 1

    cdef inline void write(self, const uint8_t* text, int64_t length) noexcept nogil:
        """Put a text, for which there is room, behind the others."""
        memcpy(self.arena + self.used, text, length)
        self.used += length
        self.following[self.count] = -1
        self.count += 1
        self.starts[self.count] = self.used

    cdef void enter(self, uint64_t slot) noexcept nogil:
        cdef int64_t place = <int64_t>(slot >> 32) & self.mask
        while self.slots[place]:
            place = (place + 1) & self.mask
        self.slots[place] = slot

    cdef int make_room(self, int64_t n_texts, int64_t n_bytes) noexcept nogil:
        """Make room for so many texts; -1 if there is no memory, or no number of 32 bits."""
        cdef int64_t size
        cdef void* grown
        if self.used + n_bytes > self.room or self.arena == NULL:
            size = 2 * (self.used + n_bytes) + 4096
            grown = realloc(self.arena, size)
            if grown == NULL:
                return -1
            self.arena = <uint8_t*>grown
            self.room = size
        if self.count + n_texts > self.places:
            size = 2 * self.places + n_texts + FIRST_SLOTS
            if size > <int64_t>NUMBER_MASK:
                return -1
            grown = realloc(self.starts, (size + 1) * sizeof(int64_t))
            if grown == NULL:
                return -1
            self.starts = <int64_t*>grown
            grown = realloc(self.following, size * sizeof(int64_t))
            if grown == NULL:
                return -1
            self.following = <int64_t*>grown
            self.places = size
        if 2 * (self.count + n_texts) > self.mask:
            return self.spread(2 * (self.count + n_texts))
        return 0

    cdef int spread(self, int64_t least) noexcept nogil:
        """Move to more slots than that."""
        cdef int64_t old = self.mask, size = self.mask + 1, place
        cdef uint64_t* before = self.slots
        cdef uint64_t* slots
        while size <= least:
            size *= 2
        slots = <uint64_t*>calloc(size, sizeof(uint64_t))
        if slots == NULL:
            return -1
        self.slots = slots
        self.mask = size - 1
        for place in range(old + 1):
            if before[place]:
                self.enter(before[place])
        free(before)
        return 0

    def extend(self, list texts):
        """Number texts, each of which is new.

        Args:
            texts: Texts that are not there yet, as ``str``.
        """
        cdef const char* start
        cdef Py_ssize_t length = 0
        cdef int64_t first
        with self.lock:
            first = self.count
            try:
                for text in texts:
                    try:
                        start = PyUnicode_AsUTF8AndSize(text, &length)
                    except UnicodeEncodeError:   # half of a surrogate pair
                        text = (<str>text).encode("utf-8", "surrogatepass")
                        start, length = text, len(text)
                    if self.make_room(1, length) < 0:
                        raise MemoryError
                    self.write(<const uint8_t*>start, length)
            finally:
                self.enter_from(first)

    def strings(self, int64_t first):
        """The texts from a number on as ``str``; halves of surrogate pairs are kept."""
        cdef list found = []
        cdef int64_t number
        with self.lock:
            for number in range(first, self.count):
                found.append(PyUnicode_DecodeUTF8(
                    <const char*>self.arena + self.starts[number],
                    self.starts[number + 1] - self.starts[number],
                    "surrogatepass",
                ))
        return found

    def numbers(self, list texts, int64_t[::1] found, bint adds):
        """Number of each ``str``, as ``find`` gives it."""
        cdef const char* start
        cdef Py_ssize_t length = 0, i
        cdef int64_t number = -1
        if found.shape[0] != len(texts):
            raise ValueError("as much room for numbers as texts is needed")
        with self.lock:
            for i in range(len(texts)):
                text = texts[i]
                try:
                    start = PyUnicode_AsUTF8AndSize(text, &length)
                except UnicodeEncodeError:   # half of a surrogate pair
                    text = (<str>text).encode("utf-8", "surrogatepass")
                    start, length = text, len(text)
                number = self.number_of(<const uint8_t*>start, length, number, adds)
                if adds and number < 0:
                    raise MemoryError
                found[i] = number

    cdef void enter_from(self, int64_t first) noexcept nogil:
        """Enter the texts from a number on; one after the other, memory is not waited for."""
        cdef int64_t number
        cdef uint64_t key
        for number in range(first, self.count):
            key = hash_of(
                self.arena + self.starts[number], self.starts[number + 1] - self.starts[number]
            )
            self.enter(key | <uint64_t>(number + 1))

    def find(
        self,
        const uint8_t[::1] data,
        const int64_t[::1] start,
        const int64_t[::1] length,
        int64_t[::1] found,
        bint adds=False,
    ):
        """Number of each text of a buffer.

        Args:
            data: The buffer.
            start: First byte of each text.
            length: In bytes.
            found: Is filled with the numbers; -1 for a text that is not there.
            adds: Texts that are not there get the next numbers.

        Raises:
            ValueError: A text is not in the buffer.
        """
        cdef Py_ssize_t n = start.shape[0], i
        cdef Py_ssize_t size = data.shape[0]
        cdef uint8_t nothing = 0
        cdef const uint8_t* base = &data[0] if size else &nothing
        cdef int64_t number = -1
        cdef int failure = 0
        if length.shape[0] != n or found.shape[0] != n:
            raise ValueError("as many lengths as starts are needed, and as much room for numbers")
        with nogil, self.lock:
            for i in range(n):
                if start[i] < 0 or length[i] < 0 or start[i] > size - length[i]:
                    failure = 1
                    break
                number = self.number_of(base + start[i], length[i], number, adds)
                if adds and number < 0:
                    failure = 2
                    break
                found[i] = number
        if failure == 1:
            raise ValueError("a text is not in the buffer")
        if failure == 2:
            raise MemoryError

    cdef inline int64_t number_of(
        self, const uint8_t* text, int64_t length, int64_t before, bint adds
    ) noexcept nogil:
        """The number of a text that stands behind one of some number, or behind an unknown one."""
        cdef int64_t number = self.following[before] if before >= 0 else -1
        cdef uint64_t key
        if number >= 0 and self.is_text(number, text, length):
            return number
        key = hash_of(text, length)
        number = self.look_up(text, length, key)
        if number < 0 and adds:
            number = self.append(text, length, key)
        if before >= 0:
            self.following[before] = number
        return number
