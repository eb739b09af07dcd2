"""Declarations of columns, with their label, unit, meaning, clock and links."""

from __future__ import annotations

from dataclasses import replace

from tfprof.captures.run.table import Column
from tfprof.core.columns.described import UNITS_OF_TIME, Clock


def text(name: str, label: str, meaning: str, *, links: tuple[str, ...] = ()) -> Column:
    """A column of texts."""
    return Column(name, label, "string", meaning=meaning, links=links)


def flag(name: str, label: str, meaning: str) -> Column:
    """A column of yes and no."""
    return Column(name, label, "boolean", meaning=meaning)


def count(name: str, label: str, meaning: str) -> Column:
    """A column of numbers without a unit."""
    return Column(name, label, meaning=meaning)


def amount(name: str, label: str, unit: str, meaning: str, clock: Clock = "") -> Column:
    """A column of numbers with a unit."""
    return Column(name, label, unit=unit, meaning=meaning, clock=clock)


def timed_by(clock: Clock, *columns: Column) -> tuple[Column, ...]:
    """Set the clock of columns with times, rates or parts of times.

    Args:
        clock: The clock of the columns that declare none.
        columns: All columns of a table, or some of them.
    """
    return tuple(
        replace(one, clock=clock) if one.unit in UNITS_OF_TIME and not one.clock else one
        for one in columns
    )
