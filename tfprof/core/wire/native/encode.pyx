# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The native encoder: writes tables of columns as messages, without the GIL.

First the bytes of every row are counted, from the leaves up; then the rows are written one after
the other into one buffer of exactly that size. No message is too deep: the way back to the
parents is the column of the parents. Only tables in tables are followed by recursion, as deep as
the plan is. What ids and places refer to is checked at every use, and each field against the end
of the buffer, so that columns which another thread changes meanwhile are an error, too.
"""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

# Kinds of fields and marks of parents: ``tfprof.core.wire.encode_pure`` has the same numbers.
cdef enum:
    NUMBERS, VALUES, TEXTS, ROWS
cdef enum:
    ROOT = -1
    LEFT_OUT = -3

cdef enum:
    WIRE_VARINT = 0
    WIRE_LENGTH = 2
    MAX_TAG = 5
    MAX_NUMBER = 15  # bytes of a field that is a number: tag and value

ctypedef struct Piece:
    const uint8_t* data
    int64_t size

ctypedef struct Column:
    const int64_t* data
    int64_t stride           # from one row to the next, in numbers

ctypedef struct Field:
    int kind
    bint keep                # zeros and empty texts, too
    int tag_size
    uint8_t tag[MAX_TAG]
    Column first             # numbers, ids, or where texts or rows start
    Column second            # lengths of texts, or where rows stop
    const Piece* values
    int64_t n_values
    const uint8_t* data      # that texts are in
    int64_t data_size
    const Table* inner

ctypedef struct Table:
    int64_t n_rows
    int n_fields
    Field* fields
    int64_t* sizes           # of the messages; above ``most``, some number above it


cdef inline int64_t at_row(Column column, int64_t row) noexcept nogil:
    return column.data[row * column.stride]


cdef inline int varint_size(uint64_t value) noexcept nogil:
    cdef int size = 1
    while value >= 0x80:
        value >>= 7
        size += 1
    return size


cdef inline uint8_t* put_varint(uint8_t* at, uint64_t value) noexcept nogil:
    while value >= 0x80:
        at[0] = <uint8_t>(value | 0x80)
        at += 1
        value >>= 7
    at[0] = <uint8_t>value
    return at + 1


cdef inline uint8_t* put_tag(uint8_t* at, const Field* field) noexcept nogil:
    cdef int place
    for place in range(field.tag_size):
        at[place] = field.tag[place]
    return at + field.tag_size


cdef inline bint find_text(const Field* field, int64_t row, Piece* piece) noexcept nogil:
    """The text of a row: NULL if it has none, or one that is left out. False: no such text."""
    cdef int64_t place = at_row(field.first, row), size
    piece.data = NULL
    piece.size = 0
    if field.kind == VALUES:
        if place < 0:
            return True
        if place >= field.n_values:
            return False
        piece[0] = field.values[place]
    else:
        size = at_row(field.second, row)
        if place < 0 or size < 0 or place > field.data_size or size > field.data_size - place:
            return False
        piece.data = field.data + place
        piece.size = size
    if piece.size == 0 and not field.keep:
        piece.data = NULL
    return True


cdef inline bint find_rows(
    const Field* field, int64_t row, int64_t* start, int64_t* stop
) noexcept nogil:
    """The rows that stand in a row. False: there are no such rows."""
    start[0] = at_row(field.first, row)
    stop[0] = at_row(field.second, row)
    return 0 <= start[0] <= stop[0] <= field.inner.n_rows


cdef int64_t measure_row(const Table* table, int64_t row, int64_t most) noexcept nogil:
    """The bytes of a row, without children; -1 if it refers to something that is not there."""
    cdef const Field* field
    cdef int64_t total = 0, size, start = 0, stop = 0
    cdef uint64_t number
    cdef Piece piece
    cdef int place
    for place in range(table.n_fields):
        field = &table.fields[place]
        if field.kind == NUMBERS:
            number = <uint64_t>at_row(field.first, row)
            if number or field.keep:
                total += field.tag_size + varint_size(number)
        elif field.kind == ROWS:
            if not find_rows(field, row, &start, &stop):
                return -1
            while start < stop and total <= most:
                size = field.inner.sizes[start]
                total += field.tag_size + varint_size(<uint64_t>size) + size
                start += 1
        else:
            if not find_text(field, row, &piece):
                return -1
            if piece.data != NULL:
                total += field.tag_size + varint_size(<uint64_t>piece.size) + piece.size
        if total > most:
            return most + 1
    return total


cdef int measure(Table* table, int64_t most) noexcept nogil:
    """The same of all rows and of the tables in this one; -1 if something is not there."""
    cdef int place
    cdef int64_t row
    for place in range(table.n_fields):
        if table.fields[place].inner != NULL:
            if measure(<Table*>table.fields[place].inner, most) < 0:
                return -1
    for row in range(table.n_rows):
        table.sizes[row] = measure_row(table, row, most)
        if table.sizes[row] < 0:
            return -1
    return 0


cdef uint8_t* write(
    const Table* table, int first, int last, int64_t row, uint8_t* at, const uint8_t* end
) noexcept nogil:
    """Some of the fields of a row; the place behind them, NULL if they do not fit."""
    cdef const Field* field
    cdef int64_t size, start = 0, stop = 0
    cdef uint64_t number
    cdef Piece piece
    cdef int place
    for place in range(first, last):
        field = &table.fields[place]
        if field.kind == NUMBERS:
            number = <uint64_t>at_row(field.first, row)
            if number == 0 and not field.keep:
                continue
            if end - at < MAX_NUMBER and end - at < field.tag_size + varint_size(number):
                return NULL
            at = put_varint(put_tag(at, field), number)
        elif field.kind == ROWS:
            if not find_rows(field, row, &start, &stop):
                return NULL
            for start in range(start, stop):
                size = field.inner.sizes[start]
                if end - at < field.tag_size + varint_size(<uint64_t>size) + size:
                    return NULL
                at = put_varint(put_tag(at, field), <uint64_t>size)
                at = write(field.inner, 0, field.inner.n_fields, start, at, end)
                if at == NULL:
                    return NULL
        else:
            if not find_text(field, row, &piece):
                return NULL
            if piece.data == NULL:
                continue
            size = piece.size
            if end - at < field.tag_size + varint_size(<uint64_t>size) + size:
                return NULL
            at = put_varint(put_tag(at, field), <uint64_t>size)
            memcpy(at, piece.data, size)
            at += size
    return at


cdef int64_t measure_tree(
    Table* table, const Field* child, const int64_t* parents, int64_t most
) noexcept nogil:
    """Adds to each row what stands in it; the bytes of all, or some number above ``most``."""
    cdef int64_t row, size, parent, total = 0
    for row in range(table.n_rows - 1, -1, -1):
        parent = parents[row]
        if parent == LEFT_OUT:
            continue
        size = table.sizes[row]
        if size > most:
            return size
        if parent != ROOT:
            size += child.tag_size + varint_size(<uint64_t>size)
        if parent >= 0:
            table.sizes[parent] += size
        else:
            total += size
    return total


cdef int write_tree(
    const Table* table,
    const Field* child,
    int n_before,
    const int64_t* parents,
    int64_t* starts,
    uint8_t* out,
    const uint8_t* end,
) noexcept nogil:
    """All rows; 1 if they fit, 0 if not, -1 if they are not in preorder."""
    cdef int64_t row, parent, last = ROOT
    cdef uint8_t* at = out
    cdef uint64_t size
    for row in range(table.n_rows + 1):
        parent = parents[row] if row < table.n_rows else ROOT
        if parent == LEFT_OUT:
            starts[row] = at - out
            continue
        while last >= 0 and last != parent:  # all its children are written
            at = write(table, n_before, table.n_fields, last, at, end)
            if at == NULL:
                return 0
            last = parents[last]
        if row == table.n_rows:
            break
        if parent >= 0 and last < 0:
            starts[0] = row
            return -1
        starts[row] = at - out
        if parent != ROOT:
            size = <uint64_t>table.sizes[row]
            if end - at < child.tag_size + varint_size(size):
                return 0
            at = put_varint(put_tag(at, child), size)
        at = write(table, 0, n_before, row, at, end)
        if at == NULL:
            return 0
        last = row
    return at == end


cdef void set_tag(Field* field, int64_t number, int wire) noexcept nogil:
    field.tag_size = <int>(put_varint(field.tag, <uint64_t>(number << 3 | wire)) - field.tag)


cdef class Compiled:
    """A table with all that it refers to."""

    cdef Table table
    cdef list kept

    def __cinit__(self, table):
        cdef list fields = table.fields
        cdef Field* field
        self.kept = []
        self.table.n_rows = table.n_rows
        self.table.sizes = <int64_t*>calloc(table.n_rows + 1, sizeof(int64_t))
        self.table.fields = <Field*>calloc(len(fields) + 1, sizeof(Field))
        if self.table.sizes == NULL or self.table.fields == NULL:
            raise MemoryError
        for given in fields:
            field = &self.table.fields[self.table.n_fields]
            self.table.n_fields += 1
            if not 0 < given.number < 1 << 29:
                raise ValueError(f"{given.number} is not a field number")
            field.kind = given.kind
            field.keep = given.keep
            set_tag(field, given.number, WIRE_VARINT if field.kind == NUMBERS else WIRE_LENGTH)
            self.take_column(&field.first, given.first)
            if field.kind == VALUES:
                self.take_values(field, given.source)
            elif field.kind == TEXTS:
                self.take_column(&field.second, given.second)
                self.take_data(field, given.source)
            elif field.kind == ROWS:
                self.take_column(&field.second, given.second)
                inner = Compiled(given.source)
                self.kept.append(inner)
                field.inner = &(<Compiled>inner).table

    def __dealloc__(self):
        cdef int place
        if self.table.fields != NULL:
            for place in range(self.table.n_fields):
                free(<void*>self.table.fields[place].values)
        free(self.table.fields)
        free(self.table.sizes)

    cdef int take_column(self, Column* column, numbers) except -1:
        cdef const int64_t[:] view = numbers
        if view.shape[0] != self.table.n_rows:
            raise ValueError(f"a column has {view.shape[0]} rows, not {self.table.n_rows}")
        if view.strides[0] % <Py_ssize_t>sizeof(int64_t):
            raise ValueError("the numbers of a column are not at whole places")
        self.kept.append(view)
        if view.shape[0]:
            column.data = &view[0]
            column.stride = view.strides[0] // <Py_ssize_t>sizeof(int64_t)
        return 0

    cdef int take_data(self, Field* field, data) except -1:
        cdef const uint8_t[::1] view = data
        self.kept.append(view)
        field.data_size = view.shape[0]
        field.data = &view[0] if view.shape[0] else <const uint8_t*>""
        return 0

    cdef int take_values(self, Field* field, tuple values) except -1:
        """Finds the bytes of the values that rows have; others need not be texts."""
        cdef Piece* pieces = <Piece*>calloc(len(values) + 1, sizeof(Piece))
        cdef Py_ssize_t size = 0
        cdef int64_t row, place
        if pieces == NULL:
            raise MemoryError
        field.values = pieces
        field.n_values = len(values)
        self.kept.append(values)
        for row in range(self.table.n_rows):
            place = at_row(field.first, row)
            if not 0 <= place < field.n_values or pieces[place].data != NULL:
                continue
            value = values[place]
            if isinstance(value, bytes):
                pieces[place].data = <const uint8_t*>PyBytes_AsString(value)
                pieces[place].size = len(<bytes>value)
            else:
                pieces[place].data = <const uint8_t*>PyUnicode_AsUTF8AndSize(value, &size)
                pieces[place].size = size
        return 0


def encode(
    table,
    int n_before,
    int64_t children,
    const int64_t[::1] parents,
    int64_t[::1] starts,
    int64_t most,
):
    """Write the rows of a table in preorder; see ``tfprof.core.wire.encode_pure``."""
    cdef Compiled compiled = Compiled(table)
    cdef Field child
    cdef int64_t n_rows = compiled.table.n_rows, row, total
    cdef int done
    cdef uint8_t* out
    if parents.shape[0] != n_rows or starts.shape[0] != n_rows:
        raise ValueError("there is not one parent for each row")
    if not 0 <= n_before <= compiled.table.n_fields or not 0 < children < 1 << 29:
        raise ValueError("there is no such field")
    if not n_rows:
        return b""
    for row in range(n_rows):
        if parents[row] >= row:
            raise ValueError(f"the parent of row {row} does not stand before it")
    set_tag(&child, children, WIRE_LENGTH)
    with nogil:
        done = measure(&compiled.table, most)
        total = measure_tree(&compiled.table, &child, &parents[0], most)
    if done < 0:
        raise ValueError("a row refers to something that is not there")
    if total > most:
        return None
    data = PyBytes_FromStringAndSize(NULL, total)
    out = <uint8_t*>PyBytes_AsString(data)
    with nogil:
        done = write_tree(
            &compiled.table, &child, n_before, &parents[0], &starts[0], out, out + total
        )
    if done < 0:
        row = starts[0]
        raise ValueError(
            f"row {row} does not stand in the subtree of its parent {parents[row]}"
        )
    if not done:
        raise ValueError("the columns were changed while they were written")
    return data


def heights(const int64_t[::1] parents, int64_t[::1] levels):
    """Levels of each subtree; see ``tfprof.core.wire.encode_pure``."""
    cdef int64_t row, parent
    if levels.shape[0] != parents.shape[0]:
        raise ValueError("there is not one parent for each row")
    with nogil:
        for row in range(parents.shape[0] - 1, -1, -1):
            parent = parents[row]
            if 0 <= parent < row and levels[row] >= levels[parent]:
                levels[parent] = levels[row] + 1
