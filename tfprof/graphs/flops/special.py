"""Special functions that C's math library lacks, by the approximations of the Cephes library.

A polynomial of degree d by Horner's scheme takes 2·d operations, a Chebyshev series of k terms
3·k. Where an approximation has branches, the one named is counted. Series that run until they
converge are taken at ``SERIES_TERMS`` terms.
"""

from __future__ import annotations

from tfprof.graphs.flops.formulas import PerElement, enter_per_element

SERIES_TERMS = 20
"""Terms assumed of a series whose length depends on the values."""

_NDTRI = 30
_ZETA = 1 + 9 * 3 + 6 + 12 * 6
_IGAMMA = 6 + 6 * SERIES_TERMS + 2

_FUNCTIONS = {
    "Digamma": PerElement(
        19, "log(x) - 1 / (2·x) - z·P(z) with z = 1 / x² and P of degree 6, the branch x ≥ 10,"
    ),
    "Ndtri": PerElement(
        _NDTRI, "√(2·π)·(y + y·z·P(z) / Q(z)) with z = y², degrees 4 and 8, the central branch,"
    ),
    "Erfinv": PerElement(_NDTRI + 3, "Ndtri((x + 1) / 2) / √2, 30 + 3 operations,"),
    "Zeta": PerElement(_ZETA, "9 terms of Σ (q + k)^-x and 12 of Euler and Maclaurin's remainder"),
    "Polygamma": PerElement(_ZETA + 5, "±exp(lgamma(n + 1))·Zeta(n + 1, x), 5 more than Zeta,"),
    "Igamma": PerElement(
        _IGAMMA, f"x^a·exp(-x) / Γ(a) times a series of {SERIES_TERMS} terms of 6 operations"
    ),
    "Igammac": PerElement(
        _IGAMMA, f"x^a·exp(-x) / Γ(a) times a series of {SERIES_TERMS} terms of 6 operations"
    ),
    "IgammaGradA": PerElement(2 * _IGAMMA, "the series of Igamma and its derivative, as long,"),
    "RandomGammaGrad": PerElement(
        2 * _IGAMMA + 9, "-IgammaGradA / density, which is exp((a - 1)·log(x) - x - lgamma(a)),"
    ),
    "Betainc": PerElement(
        15 + 30 * SERIES_TERMS,
        f"x^a·(1 - x)^b / (a·B(a, b)) times {SERIES_TERMS} steps of 30 of a continued fraction",
    ),
    "BesselI0e": PerElement(57, "a Chebyshev series of 18 terms in |x| / 2 - 2"),
    "BesselI0": PerElement(59, "exp(|x|)·BesselI0e(x)"),
    "BesselI1e": PerElement(55, "x times a Chebyshev series of 17 terms in |x| / 2 - 2"),
    "BesselI1": PerElement(57, "exp(|x|)·BesselI1e(x)"),
    "BesselK0e": PerElement(34, "a Chebyshev series of 10 terms in 8 / x - 2, by √x, for x > 2,"),
    "BesselK0": PerElement(37, "exp(-x)·BesselK0e(x)"),
    "BesselK1e": PerElement(34, "a Chebyshev series of 10 terms in 8 / x - 2, by √x, for x > 2,"),
    "BesselK1": PerElement(37, "exp(-x)·BesselK1e(x)"),
    "BesselJ0": PerElement(37, "√z·P(z)·cos(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "BesselJ1": PerElement(37, "√z·P(z)·cos(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "BesselY0": PerElement(37, "√z·P(z)·sin(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "BesselY1": PerElement(37, "√z·P(z)·sin(x + z·Q(z²)) with z = 1 / x, degrees 7, for x > 2,"),
    "Dawsn": PerElement(41, "x·P(x²) / Q(x²), degrees 9 and 10, for |x| < 3.25,"),
    "Expint": PerElement(26, "γ + log(x) + x·P(x) / Q(x), degrees 5 and 6, for x < 2,"),
    "FresnelCos": PerElement(26, "x·P(x⁴) / Q(x⁴), degrees 5 and 6, for x² < 2.56,"),
    "FresnelSin": PerElement(26, "x³·P(x⁴) / Q(x⁴), degrees 5 and 6, for x² < 2.56,"),
    "Spence": PerElement(32, "-w·P(w) / Q(w) with w = x - 1, degrees 7,"),
}

for _op_type, _entry in _FUNCTIONS.items():
    enter_per_element(_op_type, _entry, "Moshier, Cephes Mathematical Library, 1989")
