# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The native walks of trees; ``tfprof.core.columns.tree_walks`` says what each gives.

Arrays that are written are the caller's, and their lengths are checked. A parent or a place that
lies outside raises ``ValueError`` or ends the walk: nothing is read or written beyond an array.
No walk recurses: a tree may be as deep as it has nodes.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

cdef enum:
    FEW = 12    # siblings are sorted by insertion up to here

ctypedef struct Sibling:
    int64_t key
    int64_t node


def subtree_sums(const int64_t[::1] parent, const int64_t[::1] values, int64_t[::1] sums):
    """Sum of the values over each subtree; wraps at 64 bits."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node
    cdef bint fits = True
    if values.shape[0] != n or sums.shape[0] != n:
        raise ValueError("columns of one tree differ in length")
    if n == 0:
        return
    cdef uint64_t* total
    with nogil:
        total = <uint64_t*>&sums[0]
        memcpy(total, &values[0], n * sizeof(int64_t))
        for node in range(n - 1, 0, -1):
            if not 0 <= parent[node] < node:
                fits = False
                break
            total[parent[node]] += total[node]
    if not fits:
        raise ValueError("a tree is not in preorder")


def path_sums(const int64_t[::1] parent, const int64_t[::1] values, int64_t[::1] sums):
    """Sum of the values from the root down to each node; wraps at 64 bits."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node
    cdef bint fits = True
    if values.shape[0] != n or sums.shape[0] != n:
        raise ValueError("columns of one tree differ in length")
    if n == 0:
        return
    with nogil:
        sums[0] = values[0]
        for node in range(1, n):
            if not 0 <= parent[node] < node:
                fits = False
                break
            sums[node] = <int64_t>(<uint64_t>sums[parent[node]] + <uint64_t>values[node])
    if not fits:
        raise ValueError("a tree is not in preorder")


cdef int by_key(const void* one, const void* other) noexcept nogil:
    cdef const Sibling* a = <const Sibling*>one
    cdef const Sibling* b = <const Sibling*>other
    if a.key != b.key:
        return -1 if a.key < b.key else 1
    return -1 if a.node < b.node else 1


cdef void sort_siblings(Sibling* siblings, int64_t n) noexcept nogil:
    """By key; those of the same key by number."""
    cdef int64_t place, free_place
    cdef Sibling moved
    if n > FEW:
        for place in range(1, n):
            if siblings[place].key < siblings[place - 1].key:
                qsort(siblings, n, sizeof(Sibling), &by_key)
                return
        return
    for place in range(1, n):
        moved = siblings[place]
        free_place = place
        while free_place > 0 and moved.key < siblings[free_place - 1].key:
            siblings[free_place] = siblings[free_place - 1]
            free_place -= 1
        siblings[free_place] = moved


def sorted_preorder(const int64_t[::1] parent, const int64_t[::1] keys, int64_t[::1] order):
    """Preorder of the tree whose siblings are sorted by their keys."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node
    if keys.shape[0] != n or order.shape[0] != n:
        raise ValueError("columns of one tree differ in length")
    for node in range(1, n):
        if not 0 <= parent[node] < node:
            raise ValueError("a tree is not in preorder")
    if n == 0:
        return
    cdef int64_t* first = <int64_t*>malloc((n + 2) * sizeof(int64_t))
    cdef int64_t* pending = <int64_t*>malloc(n * sizeof(int64_t))
    cdef Sibling* siblings = <Sibling*>malloc(n * sizeof(Sibling))
    try:
        if first == NULL or pending == NULL or siblings == NULL:
            raise MemoryError
        with nogil:
            lay_out(parent, keys, order, first, pending, siblings)
    finally:
        free(first)
        free(pending)
        free(siblings)


cdef void lay_out(
    const int64_t[::1] parent,
    const int64_t[::1] keys,
    int64_t[::1] order,
    int64_t* first,
    int64_t* pending,
    Sibling* siblings,
) noexcept nogil:
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t node, place, size = 0, child
    for node in range(n + 2):
        first[node] = 0
    for node in range(1, n):
        first[parent[node] + 2] += 1
    for node in range(2, n + 2):
        first[node] += first[node - 1]
    # first[p + 1] walks from the start of the children of p to their end.
    for node in range(1, n):
        place = first[parent[node] + 1]
        siblings[place].key = keys[node]
        siblings[place].node = node
        first[parent[node] + 1] = place + 1
    pending[0] = 0
    size = 1
    place = 0
    while size:
        size -= 1
        node = pending[size]
        order[place] = node
        place += 1
        sort_siblings(siblings + first[node], first[node + 1] - first[node])
        for child in range(first[node + 1] - 1, first[node] - 1, -1):
            pending[size] = siblings[child].node
            size += 1


def depth_first(
    const int64_t[::1] offsets,
    const int64_t[::1] producers,
    const int64_t[::1] tops,
    int64_t[::1] order,
    int64_t[::1] parent,
):
    """Visit each op once from the tops along the inputs; returns how many were visited."""
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef Py_ssize_t n_edges = producers.shape[0]
    cdef Py_ssize_t visited = 0
    if n < 0 or order.shape[0] != n or parent.shape[0] != n + 1:
        raise ValueError("columns of one graph differ in length")
    cdef int64_t* ops = <int64_t*>malloc((n_edges + 1) * sizeof(int64_t))
    cdef int64_t* consumers = <int64_t*>malloc((n_edges + 1) * sizeof(int64_t))
    cdef uint8_t* seen = <uint8_t*>malloc(n + 1)
    try:
        if ops == NULL or consumers == NULL or seen == NULL:
            raise MemoryError
        with nogil:
            visited = visit(offsets, producers, tops, order, parent, ops, consumers, seen)
    finally:
        free(ops)
        free(consumers)
        free(seen)
    if visited < 0:
        raise ValueError("an edge leads out of the graph")
    return visited


cdef Py_ssize_t visit(
    const int64_t[::1] offsets,
    const int64_t[::1] producers,
    const int64_t[::1] tops,
    int64_t[::1] order,
    int64_t[::1] parent,
    int64_t* ops,
    int64_t* consumers,
    uint8_t* seen,
) noexcept nogil:
    """Each op is pushed once for each edge that leads to it, so the stack holds all edges."""
    cdef Py_ssize_t n = order.shape[0]
    cdef Py_ssize_t n_edges = producers.shape[0]
    cdef Py_ssize_t visited = 0, size, top, edge
    cdef int64_t op, consumer, producer
    for op in range(n):
        seen[op] = 0
        if not 0 <= offsets[op] <= offsets[op + 1] <= n_edges:
            return -1
    parent[0] = -1
    for top in range(tops.shape[0]):
        if not 0 <= tops[top] < n:
            return -1
        ops[0] = tops[top]
        consumers[0] = 0
        size = 1
        while size:
            size -= 1
            op = ops[size]
            consumer = consumers[size]
            if seen[op]:
                continue
            seen[op] = 1
            order[visited] = op
            visited += 1
            parent[visited] = consumer
            for edge in range(offsets[op + 1] - 1, offsets[op] - 1, -1):
                producer = producers[edge]
                if producer < 0 or (producer < n and seen[producer]):
                    continue
                if producer >= n:
                    return -1
                ops[size] = producer
                consumers[size] = visited
                size += 1
    return visited
