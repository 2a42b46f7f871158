"""The lines of docs/performance.md."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from tests.bench.measure import Series, percentile_99


@dataclass(frozen=True)
class Row:
    what: str
    odin: str
    bare: str
    ratio: str
    budget: str
    kept: bool

    def __str__(self) -> str:
        over = "" if self.kept else " **(over)**"
        return f"| {self.what} | {self.odin} | {self.bare} | {self.ratio} | {self.budget}{over} |"


def table(rows: Iterable[Row]) -> str:
    head = "| what | Odin | baseline | ratio | budget |", "| --- | --: | --: | --: | --: |"
    return "\n".join([*head, *map(str, rows)])


def row(what: str, series: Series, factor: float, unit: str, budget: str, kept: bool) -> Row:
    odin, bare = (
        f"{median(values) * factor:.{0 if unit == 'MiB' else 2}f} {unit}" for values in (series.odin, series.bare)
    )
    return Row(what, odin, bare, f"{series.ratio:.2f}", budget, kept)


def memory(what: str, series: Series, budget: float) -> Row:
    return row(what, series, 1, "MiB", f"≤ {budget:g} MiB", median(series.odin) <= budget)


def more_memory(what: str, series: Series, budget: float) -> Row:
    more = median(series.odin) - median(series.bare)
    return row(what, series, 1, "MiB", f"≤ {budget:g} MiB more", more <= budget)


def spread(what: str, series: Series, budget: float, budget_99: float | None) -> Iterator[Row]:
    yield row(what, series, 1000, "ms", f"≤ {budget:g} ms", median(series.odin) * 1000 <= budget)
    odin, bare = percentile_99(series.odin) * 1000, percentile_99(series.bare) * 1000
    limit, kept = (f"≤ {budget_99:g} ms", odin <= budget_99) if budget_99 else ("–", True)
    yield Row(
        f"… 99th percentile of {len(series.odin)}",
        f"{odin:.2f} ms",
        f"{bare:.2f} ms",
        f"{odin / bare:.2f}",
        limit,
        kept,
    )


def grown(what: str, series: Series, tenth: Series, budget: float) -> Iterator[Row]:
    """What a tenth of the work costs tells how the cost grows."""
    yield row(what, series, 1000, "ms", f"≤ {budget:g} ms", median(series.odin) * 1000 <= budget)
    odin, less = median(series.odin), median(tenth.odin)
    yield Row(
        "… and a tenth of it",
        f"{odin * 1000:.2f} ms",
        f"{less * 1000:.2f} ms",
        f"{odin / less:.2f}",
        "≤ 15 ×",
        odin <= 15 * less,
    )
