"""A statement over the events of many hosts, split: what each host answers, and what joins that.

Counts, sums of whole numbers, minima and maxima of parts add up to those of all; an average is a
sum and a count. So a ``SELECT`` of these over groups needs no events but those of one host at a
time. Everything travels as text, which DuckDB reads back as it was, and is of its own type again
before it is compared or summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

from tfprof.errors import UsageError
from tfprof.sql.connection import Connection
from tfprof.sql.nodes import (
    Node,
    arguments,
    bare,
    changed,
    column_of,
    columns_in,
    inside,
    ordinal,
    reference,
    renamed,
    text_of,
)

TABLE = "events"

_KEY, _PART, _VALUE = "__k{}", "__a{}", "__v{}"
"""Names of columns, which nobody gives to others."""

_MERGING = {"count": "sum", "count_star": "sum", "sum": "sum", "min": "min", "max": "max"}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
          "UINTEGER", "UBIGINT", "UHUGEINT")  # fmt: skip
_LEFT_ALONE = ("ORDER_MODIFIER", "LIMIT_MODIFIER")


@dataclass(frozen=True, slots=True)
class Value:
    """What becomes of an aggregate: columns of hosts, and its type in the answer.

    Attributes:
        parts: Places of its columns among those of hosts: one, or of an average the sum and the
            count.
        type: Type of the answer.
    """

    parts: tuple[int, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Split:
    """A statement in two.

    Attributes:
        of_host: The statement for each host; its columns are texts, first ``keys``, then
            ``parts``.
        key_types: Types of the keys.
        part_types: Types of the other columns.
        merging: How each of these merges: ``sum``, ``min`` or ``max``.
        values: The aggregates of the statement.
        finish: The rest, over a table ``events`` with the columns ``keys`` and ``results``.
        columns: The columns of events that hosts read.
    """

    of_host: str
    key_types: tuple[str, ...]
    part_types: tuple[str, ...]
    merging: tuple[str, ...]
    values: tuple[Value, ...]
    finish: str
    columns: frozenset[str]

    @property
    def keys(self) -> list[str]:
        """Columns of what rows are grouped by."""
        return _names(_KEY, self.key_types)

    @property
    def parts(self) -> list[str]:
        """Columns of what hosts know of aggregates."""
        return _names(_PART, self.part_types)

    @property
    def results(self) -> list[str]:
        """Columns of the aggregates."""
        return _names(_VALUE, self.values)


def _names(name: str, columns: Sequence[object]) -> list[str]:
    return [name.format(place) for place in range(len(columns))]


def split(statement: str, connection: Connection, columns: Sequence[str]) -> Split:
    """Split a statement.

    Args:
        statement: One ``SELECT`` over ``events``.
        connection: Has a table ``events`` without rows.
        columns: The columns of this table.

    Raises:
        UsageError: It is wrong, or cannot be split; the message says what can.
    """
    parsed = connection.parsed(statement)
    described = connection.types(statement)  # in DuckDB's words, if it is wrong
    node = parsed["statements"][0]["node"]
    _check_form(node)
    return _Splitter(parsed, connection, columns).split([name for name, _ in described])


def _refused(why: str) -> UsageError:
    return UsageError(
        f"query: {why}, so hosts cannot answer one by one (--engine, --memory). They can: one "
        "SELECT FROM events with WHERE, GROUP BY, HAVING, ORDER BY and LIMIT, of count, sum, min, "
        "max and avg of whole numbers; and any question about other tables. Without these options "
        "all hosts are opened at once, in this process, and anything can be asked"
    )


def _check_form(node: Node) -> None:
    table = node.get("from_table") or {}
    simple = (
        (node.get("type") == "SELECT_NODE", "this is no plain SELECT"),
        (not node.get("cte_map", {}).get("map"), "there is a WITH"),
        (
            table.get("type") == "BASE_TABLE" and table["table_name"].lower() == TABLE,
            "it reads more than the table events",
        ),
        (not table.get("column_name_alias"), "columns of events are renamed"),
        (not node.get("sample") and not table.get("sample"), "there is a SAMPLE"),
        (not node.get("qualify"), "there is a QUALIFY"),
        (len(node.get("group_sets") or ()) <= 1, "there are several grouping sets"),
        (
            all(one["type"] in _LEFT_ALONE for one in node["modifiers"]),
            "there is a DISTINCT",
        ),
    )
    for holds, why in simple:
        if not holds:
            raise _refused(why)


class _Splitter:
    def __init__(self, parsed: Node, connection: Connection, columns: Sequence[str]) -> None:
        self._parsed, self._node = parsed, parsed["statements"][0]["node"]
        self._connection = connection
        self._columns = frozenset(columns)
        self._kinds = _kinds_of_functions(connection)
        self._aliases: dict[str, Node] = {
            one["alias"].lower(): one for one in self._node["select_list"] if one.get("alias")
        }
        self._keys: list[Node] = []
        self._parts: list[Node] = []
        self._merging: list[str] = []
        self._found: dict[str, int] = {}
        self._values: list[tuple[tuple[int, ...], Node]] = []

    def split(self, names: Sequence[str]) -> Split:
        node = self._node
        selected = [self._inlined(one) for one in node["select_list"]]
        self._keys = [bare(one) for one in self._group_keys(selected)]
        having = node.get("having")
        shown = [self._joined(one) for one in selected]
        where = None if having is None else self._joined(self._inlined(having))
        modifiers = [self._modifier(one) for one in node["modifiers"]]
        if not self._keys and not self._values:
            raise _refused("it asks for single events")
        for one, name in zip(shown, names, strict=True):
            one["alias"] = name
        of_host = self._statement(
            select_list=[
                {**deepcopy(one), "alias": name.format(place)}
                for name, nodes in ((_KEY, self._keys), (_PART, self._parts))
                for place, one in enumerate(nodes)
            ],
            where_clause=self._where(),
            group_expressions=deepcopy(self._keys),
            group_sets=[list(range(len(self._keys)))] if self._keys else [],
        )
        types = [kind for _, kind in self._connection.types(of_host)]
        n_keys = len(self._keys)
        self._check_exact(types[n_keys:])
        finish = self._statement(select_list=shown, where_clause=where, modifiers=modifiers)
        return Split(
            _as_texts(of_host, [*_names(_KEY, self._keys), *_names(_PART, self._parts)]),
            tuple(types[:n_keys]),
            tuple(types[n_keys:]),
            tuple(self._merging),
            tuple(Value(parts, self._type_of(one)) for parts, one in self._values),
            finish,
            frozenset(columns_in([*self._keys, *self._parts, self._where()])),
        )  # fmt: skip

    def _where(self) -> Node | None:
        where = self._node.get("where_clause")
        return None if where is None else self._checked(self._inlined(where))

    def _group_keys(self, selected: Sequence[Node]) -> list[Node]:
        if self._node.get("aggregate_handling") == "FORCE_AGGREGATES":  # GROUP BY ALL
            return [one for one in selected if not any(map(self._is_aggregate, inside(one)))]
        keys = []
        for one in self._node.get("group_expressions") or ():
            place = ordinal(one)
            keys.append(self._inlined(one) if place is None else selected[place - 1])
        for key in keys:
            self._checked(key)
        return keys

    def _inlined(self, node: Any) -> Any:
        """With what an alias stands for in its place; columns go before aliases."""

        def change(inner: Node) -> Node | None:
            name = column_of(inner)
            if name is None or name in self._columns or name not in self._aliases:
                return None
            return bare(self._inlined(self._aliases[name]))

        return changed(node, change)

    def _joined(self, node: Any) -> Any:
        """With the columns of what hosts have answered for keys and aggregates."""

        def change(inner: Node) -> Node | None:
            text = text_of(inner)
            for place, key in enumerate(self._keys):
                if text == text_of(key):
                    return {**reference(_KEY.format(place)), "alias": inner.get("alias", "")}
            if not self._is_aggregate(inner):
                self._check(inner)
                return None
            return {
                **reference(_VALUE.format(self._value(inner))),
                "alias": inner.get("alias", ""),
            }

        return changed(node, change)

    def _modifier(self, modifier: Node) -> Node:
        """ORDER BY with aliases as they are: there, they go before columns."""
        if modifier["type"] != "ORDER_MODIFIER":
            for inner in inside(modifier):
                self._check(inner)
            return modifier

        def change(inner: Node) -> Node | None:
            if column_of(inner) in self._aliases or inner.get("class") in ("STAR", "CONSTANT"):
                return inner
            if self._is_whole(inner):
                return cast("Node", self._joined(self._inlined(inner)))
            self._check(inner)
            return None

        return {
            **modifier,
            "orders": [
                {**one, "expression": changed(one["expression"], change)}
                for one in modifier["orders"]
            ],
        }

    def _is_whole(self, node: Node) -> bool:
        return self._is_aggregate(node) or any(text_of(node) == text_of(key) for key in self._keys)

    def _value(self, node: Node) -> int:
        """The place of an aggregate, which hosts are asked for once."""
        text = text_of(node)
        if text not in self._found:
            name = node["function_name"].lower()
            wanted = ("sum", "count") if name == "avg" else (name,)
            parts = tuple(self._part(renamed(node, one)) for one in wanted)
            self._found[text] = len(self._values)
            self._values.append((parts, bare(node)))
        return self._found[text]

    def _part(self, node: Node) -> int:
        for argument in (*arguments(node), *filter(None, [node.get("filter")])):
            self._checked(argument)
        self._parts.append(bare(node))
        self._merging.append(_MERGING[node["function_name"].lower()])
        return len(self._parts) - 1

    def _is_aggregate(self, node: Node) -> bool:
        """Whether it is an aggregate that can be split; others are refused."""
        if node.get("class") != "FUNCTION":
            return False
        name = node["function_name"].lower()
        if "aggregate" not in self._kinds.get(name, ()):
            return False
        n_arguments = len(arguments(node))
        if name not in (*_MERGING, "avg") or n_arguments != (name != "count_star"):
            raise _refused(f"{name} of all hosts does not follow from that of each")
        if node.get("distinct"):
            raise _refused(f"{name}(DISTINCT …) of all hosts does not follow from that of each")
        return True

    def _checked(self, node: Node) -> Node:
        """The same without aggregates."""
        for inner in inside(node):
            self._check(inner)
            if self._is_aggregate(inner):
                raise _refused("an aggregate is where each event is looked at")
        return node

    def _check(self, node: Node) -> None:
        kind = node.get("class")
        if kind in ("SUBQUERY", "WINDOW", "STAR", "PARAMETER"):
            raise _refused(f"there is a {kind.lower()}")
        kinds = self._kinds.get(node["function_name"].lower(), ()) if kind == "FUNCTION" else ()
        if "macro" in kinds or "table_macro" in kinds or "volatile" in kinds:
            raise _refused(f"{node['function_name']} may differ from host to host")

    def _check_exact(self, types: Sequence[str]) -> None:
        of_averages = {place for parts, _ in self._values if len(parts) > 1 for place in parts}
        for place, (node, kind) in enumerate(zip(self._parts, types, strict=True)):
            exact = _WHOLE if place in of_averages else (*_WHOLE, "DECIMAL")
            if node["function_name"].lower() == "sum" and not kind.startswith(exact):
                raise _refused(
                    "sums and averages of fractions depend on their order (sum whole numbers, and "
                    "divide that: sum(self_ps) / 1e9)"
                )

    def _type_of(self, node: Node) -> str:
        [(_, kind)] = self._connection.types(self._statement(select_list=[node], where_clause=None))
        return kind

    def _statement(self, **changes: Any) -> str:
        plain: Node = {
            "modifiers": [], "where_clause": None, "group_expressions": [], "group_sets": [],
            "aggregate_handling": "STANDARD_HANDLING", "having": None,
        }  # fmt: skip
        node = {**self._node, **plain, **changes}
        whole = {**self._parsed, "statements": [{**self._parsed["statements"][0], "node": node}]}
        return self._connection.statement_of(whole)


def _kinds_of_functions(connection: Connection) -> Mapping[str, set[str]]:
    """What each function is, and whether it may answer anew each time.

    Overloads for times in a zone follow a setting, which is the same for all hosts; a function
    differs from host to host only if it has no other overloads.
    """
    kinds: dict[str, set[str]] = {}
    for name, kind, is_volatile in connection.rows(
        "select lower(function_name), function_type, bool_or(stability = 'VOLATILE') "
        "or not bool_or(stability = 'CONSISTENT') from duckdb_functions() group by all"
    ):
        kinds.setdefault(name, set()).add(kind)
        if kind == "scalar" and is_volatile:
            kinds[name].add("volatile")
    return kinds


def _as_texts(statement: str, columns: Sequence[str]) -> str:
    shown = ", ".join(f"cast({name} as varchar) as {name}" for name in columns)
    return f"select {shown} from ({statement.rstrip().removesuffix(';')})"
