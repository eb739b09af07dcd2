"""What to do about a slow run: findings, and a check of your own.

python examples/advice.py
"""

import tfprof


def SummaryChecker(context) -> list[tfprof.Finding]:  # noqa: N802  # checkers have class names
    """Histograms cost time, and few users look at every one of them."""
    micros = float(context.micros[context.is_type({"HistogramSummary"})].sum())
    if micros == 0:
        return []
    message = "Histograms are computed in each step; write them in every hundredth."
    return [tfprof.Finding("SummaryChecker", "info", message, {"summary_micros": micros})]


def main() -> None:
    """Check the recorded step."""
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)

    checkers = ["ExpensiveOperationChecker", "PeakMemoryChecker", SummaryChecker]
    for finding in profiler.findings(checkers):
        print(f"{finding.severity}: {finding.message}")
        if finding.location:
            print(f"  look at {finding.location.file}:{finding.location.line_number}")
        if finding.gain:
            print(f"  up to {finding.gain.amount:,.0f} {finding.gain.unit}: {finding.gain.how}")


if __name__ == "__main__":
    main()
