"""Change points of histories: how often there is none, and how soon a step is found.

    python benchmarks/history.py --series 300

Beside tfprof's own, Apache Otava is measured where it is installed (``pip install apache-otava`` in
an environment of its own, as it needs certain versions of NumPy and SciPy). Each number is of one
key figure: a history has several.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator

import numpy as np

from tfprof.insight.history.change_points import FEWEST, change_points
from tfprof.insight.history.changes import prediction

Find = Callable[[np.ndarray], list[int]]
N_RUNS, BEFORE = 100, 30


def noise(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Noise of deviation 1 without outliers, of shape (n,)."""
    normal = rng.normal(size=n)
    if kind == "lognormal":
        return (np.exp(0.6 * normal) - np.exp(0.18)) / np.sqrt((np.exp(0.36) - 1) * np.exp(0.36))
    if kind.startswith("AR"):
        r, found = float(kind.split()[1]), normal.copy()
        for place in range(1, n):
            found[place] = r * found[place - 1] + np.sqrt(1 - r * r) * normal[place]
        return found
    if kind == "outliers":
        return normal + np.where(rng.random(n) < 0.05, rng.choice([8, 15, 30], n), 0.0)
    if kind == "two modes":
        return 0.5 * normal + np.where(rng.random(n) < 0.3, 2.0, 0.0)
    if kind == "rare mode":
        return 0.5 * normal + np.where(rng.random(n) < 0.1, 5.0, 0.0)
    return normal


KINDS = ("normal", "lognormal", "AR 0.3", "AR 0.6", "outliers", "two modes", "rare mode")


def methods() -> Iterator[tuple[str, Find]]:
    """The methods, by name."""
    yield "tfprof", change_points
    if importlib.util.find_spec("otava") is not None:
        from otava.analysis import compute_change_points

        for most in (0.001, 0.0001):
            yield (
                f"Otava, p < {most:g}",
                lambda values, most=most: [
                    one.index for one in compute_change_points(list(values), 50, most)[0]
                ],
            )


def without_change(find: Find, kind: str, n_series: int) -> tuple[float, float]:
    """Share of histories with a false change, and false changes of a history."""
    rng = np.random.default_rng(1)
    counts = [len(find(100 + noise(kind, N_RUNS, rng))) for _ in range(n_series)]
    return float(np.mean(np.array(counts) > 0)), float(np.mean(counts))


def ever_without_change(find: Find, kind: str, n_series: int) -> float:
    """Share of histories in which a look after each new run finds a false change at any time."""
    rng, n_false = np.random.default_rng(3), 0
    for _ in range(n_series):
        values = 100 + noise(kind, N_RUNS, rng)
        n_false += any(find(values[:n]) for n in range(FEWEST, N_RUNS + 1))
    return n_false / n_series


def found_within(find: Find, kind: str, step: float, cv: float, n_series: int) -> list[float]:
    """Share of steps that a look after each run finds within 3, 5, 10 and 20 runs."""
    rng, found = np.random.default_rng(2), []
    for _ in range(n_series):
        values = 100 * (1 + cv * noise(kind, BEFORE + 20, rng))
        values[BEFORE:] *= 1 + step
        seen = [n for n in (3, 4, 5, 7, 10, 15, 20) if _near(find(values[: BEFORE + n]))]
        found.append(min(seen, default=99))
    return [float(np.mean(np.array(found) <= n)) for n in (3, 5, 10, 20)]


def _near(places: list[int]) -> bool:
    return any(abs(place - BEFORE) <= 3 for place in places)


def shapes(find: Find, n_series: int) -> Iterator[tuple[str, float, float]]:
    """Other shapes: mean number of changes, and the share of series with the right number."""
    ramp = np.clip((np.arange(N_RUNS) - 30) / 40, 0, 1)
    bump = ((np.arange(N_RUNS) >= 40) & (np.arange(N_RUNS) < 55)).astype(float)
    stairs = (np.arange(N_RUNS) // 25).astype(float)
    for name, shape, right in (
        ("drift of 5 % over 40 runs", 5 * ramp, (1, 9)),
        ("+5 % for 15 runs and back", 5 * bump, (2, 2)),
        ("three steps of +3 %", 3 * stairs, (3, 3)),
    ):
        rng = np.random.default_rng(4)
        counts = [len(find(100 + shape + rng.normal(size=N_RUNS))) for _ in range(n_series)]
        is_right = [right[0] <= count <= right[1] for count in counts]
        yield name, float(np.mean(counts)), float(np.mean(is_right))


def gate(kind: str, step: float, n_series: int) -> float:
    """Share of runs after 30 that exceed what these predict, one of five key figures."""
    rng, n_above = np.random.default_rng(6), 0
    for _ in range(n_series):
        values = 100 * (1 + 0.01 * noise(kind, BEFORE + 1, rng))
        n_above += values[-1] * (1 + step) > prediction(values[:-1], 1 - 2 * 0.01 / 5).high
    return n_above / n_series


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=300)
    n_series = parser.parse_args().series
    for name, find in methods():
        print(f"\n{name}")
        began = time.perf_counter()
        for kind in KINDS:
            share, number = without_change(find, kind, n_series)
            print(
                f"  no change, {kind}: {share:.1%} of histories, {number:.2f} changes", flush=True
            )
        took = (time.perf_counter() - began) / n_series / len(KINDS)
        print(f"  {took * 1e3:.1f} ms a history of {N_RUNS} runs")
        for kind in ("normal", "lognormal", "AR 0.3"):
            for step, cv in ((0.03, 0.005), (0.03, 0.01), (0.03, 0.02), (0.1, 0.02)):
                shares = found_within(find, kind, step, cv, n_series // 3)
                told = ", ".join(f"{share:.0%}" for share in shares)
                print(f"  +{step:.0%}, {kind} of {cv:.1%}: within 3, 5, 10, 20 runs {told}",
                      flush=True)  # fmt: skip
        for shape, number, share in shapes(find, n_series // 3):
            print(f"  {shape}: {number:.2f} changes, right in {share:.0%}", flush=True)
        for kind in ("normal", "AR 0.3"):
            share = ever_without_change(find, kind, n_series // 6)
            print(f"  no change, a look after each run, {kind}: {share:.1%} ever", flush=True)
    for kind in KINDS:
        shares = [gate(kind, step, 20 * n_series) for step in (0.0, 0.03, 0.05, 0.10)]
        told = ", ".join(f"{share:.1%}" for share in shares)
        print(f"gate, {kind} of 1 %: +0, 3, 5, 10 % exceed in {told}", flush=True)
    for n in (1_000, 10_000):
        began = time.perf_counter()
        change_points(np.random.default_rng(0).normal(size=n))
        print(f"{n:,} runs: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
