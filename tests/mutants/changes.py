"""Mutants of a module: copies in which one thing is wrong, as a slip of a programmer would be.

Left as they are: texts, annotations, decorators, and ``zip(…, strict=True)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType

_OTHER_OPERATORS = """
    Lt LtE GtE, LtE Lt Gt, Gt GtE LtE, GtE Gt Lt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is, In NotIn,
    NotIn In, And Or, Or And, Add Sub, Sub Add, Mult Div, Div Mult, FloorDiv Div, Mod FloorDiv,
    Pow Mult, BitAnd BitOr, BitOr BitAnd
"""
_SWAPPED = {
    kind: others
    for names in _OTHER_OPERATORS.split(",")
    for kind, *others in [[getattr(ast, name) for name in names.split()]]
}
_NAMES = ("min max", "any all", "minimum maximum", "floor ceil", "argmin argmax", "cummin cummax")
_OTHER_NAME = {a: b for pair in _NAMES for a, b in (pair.split(), pair.split()[::-1])}


@cache
def source_of(file: str) -> str:
    """The text of a file when it was first read: it may be edited meanwhile."""
    return Path(file).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Mutant:
    """One change of a file; ``number`` is its place among all changes of the file."""

    file: str
    number: int
    first_line: int  # of the changed statement, without the statements in it
    last_line: int
    before: str
    after: str
    in_function: bool

    def __str__(self) -> str:
        statement = source_of(self.file).splitlines()[self.first_line - 1].strip()
        where = "" if statement == self.before else f"   in: {statement}"
        return f"{self.file}:{self.first_line}: {self.before} → {self.after}{where}"

    def code(self) -> CodeType:
        """The file with this change, compiled."""
        tree = ast.parse(source_of(self.file))
        changes = (put for site in _sites(tree) for _, put in site.changes())
        next(put for number, put in enumerate(changes) if number == self.number)()
        name = str(Path(self.file).resolve())
        return compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)


def mutants(file: str) -> list[Mutant]:
    """All mutants of a Python file, in an order that depends on its text alone."""
    found = []
    for site in _sites(ast.parse(source_of(file))):
        before = ast.unparse(site.node)
        for after, _ in site.changes():
            lines = (site.lines[0], site.lines[1], before, ast.unparse(after))
            found.append(Mutant(file, len(found), *lines, site.in_function))
    return found


@dataclass(frozen=True)
class _Site:
    node: ast.AST
    parent: ast.AST
    field: str
    place: int | None  # in the field, if that is a list
    lines: tuple[int, int]
    in_function: bool

    def changes(self) -> Iterator[tuple]:
        """What could stand here instead, each with the function that puts it there."""
        for new in _instead(self.node, self.parent, self.field):
            ast.copy_location(new, self.node)
            yield new, lambda new=new: self._put(new)

    def _put(self, new: ast.AST) -> None:
        if self.place is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.place] = new


def _instead(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [op], comparators):
            yield from (ast.Compare(left, [new()], comparators) for new in _SWAPPED[type(op)])
        case ast.Compare(left, ops, comparators):  # a < b < c
            for i, op in enumerate(ops):
                for new in _SWAPPED[type(op)]:
                    yield ast.Compare(left, [*ops[:i], new(), *ops[i + 1 :]], comparators)
        case ast.BoolOp(op, values):
            yield from (ast.BoolOp(new(), values) for new in _SWAPPED[type(op)])
        case ast.BinOp(left, op, right) if not isinstance(left, ast.JoinedStr):
            yield from (ast.BinOp(left, new(), right) for new in _SWAPPED.get(type(op), ()))
        case ast.AugAssign(target, op, value):
            yield from (ast.AugAssign(target, new(), value) for new in _SWAPPED.get(type(op), ()))
            yield ast.Pass()
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(float() as value):
            yield ast.Constant(2 * value or 1.0)
        case ast.Name(name, ast.Load()) if name in _OTHER_NAME:
            yield ast.Name(_OTHER_NAME[name], ast.Load())
        case ast.Attribute(value, name, ast.Load()) if name in _OTHER_NAME:
            yield ast.Attribute(value, _OTHER_NAME[name], ast.Load())
        case ast.Return(value) if value and not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
    is_condition = field == "ifs" or (field == "test" and not isinstance(parent, ast.Assert))
    if is_condition and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), node)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_LEFT = ("annotation", "returns", "decorator_list", "type_comment", "op", "ops", "ctx", "msg")


def _sites(
    parent: ast.AST, lines: tuple[int, int] = (1, 1), in_function: bool = False
) -> Iterator[_Site]:
    for field, value in ast.iter_fields(parent):
        if field in _LEFT or (
            isinstance(parent, ast.If) and "TYPE_CHECKING" in ast.dump(parent.test)
        ):
            continue
        is_inside = in_function or (
            field == "body" and isinstance(parent, ast.FunctionDef | ast.Lambda)
        )
        for place, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or (
                isinstance(node, ast.keyword) and node.arg == "strict"
            ):
                continue
            own = _own_lines(node) if isinstance(node, ast.stmt) else lines
            at = place if isinstance(value, list) else None
            yield _Site(node, parent, field, at, own, is_inside)
            yield from _sites(node, own, is_inside)


def _own_lines(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement without the statements that it holds."""
    inner = [getattr(statement, field, None) for field in _BODIES]
    first = [block[0] for block in inner if isinstance(block, list) and block]
    starts = [getattr(node, "lineno", None) or node.pattern.lineno for node in first]
    last = statement.end_lineno or statement.lineno
    return statement.lineno, min([last, *(max(start - 1, statement.lineno) for start in starts)])
