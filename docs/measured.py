"""Write the measured tables and sentences of the documents from the records in `docs/measured`, between marks.

    python docs/measured.py                # all pages
    python docs/measured.py --outdated     # the commands of records that are older than the methods they measured, or
                                           # than the benchmark that made them
    python docs/measured.py --same NAME    # a benchmark has changed since it made a record, but not what it measures

A record is made by a benchmark, which its `command` names (`benchmarks/records.py` says more). Then run this program.
"""

from __future__ import annotations

import csv
import math
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for the benchmarks

from benchmarks import documents  # noqa: E402
from benchmarks.gauntlet.__main__ import programs  # noqa: E402
from benchmarks.gauntlet.__main__ import text as gauntlet_text  # noqa: E402
from benchmarks.quality.report import HEAD  # noqa: E402
from benchmarks.records import (  # noqa: E402
    FOLDER,
    digest_of,
    load,
    names,
    outdated,
    stamp,
    table,
    values_of,
)
from ppsde import published  # noqa: E402


def filled(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False) + "\n"


def between(least_and_most: list[int]) -> str:
    return "{} to {}".format(*least_and_most)


def rounded_up(value: float) -> str:
    """Return a positive number with one digit, no smaller than it is."""
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit) * unit:.0e}"


# --- small measurements ---------------------------------------------------------------------------------------------


def spring() -> str:
    found = values_of("spring")
    how_many = "all" if found["reached"] == found["runs"] else f"of {found['runs']}, {found['reached']}"
    return filled(f"The seeds 1 to 10 {how_many} reach this value, after {between(found['evaluations'])} evaluations.")


def limits() -> str:
    found = values_of("limits")
    shown = ", ".join(f"{count} with {budget}" for budget, count in found["reached"].items())
    whole, easy = found["whole"], found["easy"]
    return (
        filled(
            f"`examples/two_equalities.py` is such a problem. Of the seeds 0 to 19, {shown} evaluations reach its "
            f"optimum. With the default budget {whole['reached']} do, and the runs end by "
            f"themselves after {between(whole['evaluations'])}. Run several seeds, compare them, keep the best."
        )
        + "\n"
        + filled(
            "Smooth problems with one optimum need less: minimising `x0^2 + x1^2` with `x0 + x1 >= 1`, seeds 1 to 5 "
            f"end within {rounded_up(easy['gap'])} of the optimum, 0.5, after {between(easy['evaluations'])} "
            "evaluations."
        )
    )


def rules() -> str:
    problems = documents.rule_problems()
    best = ["best known", *(f"{problem.optimum.value:.6g}" for problem in problems.values())]
    found = values_of("rules")
    rows = [[f"`{rule}`", *(cells[name] for name in problems)] for rule, cells in found.items()]
    near, some = [], []
    for rule, cells in found.items():
        known = {name: problems[name].optimum.value for name in documents.ENGINEERING}
        near += [rule] * all(_is_near(cells[name], value) for name, value in known.items())
        some += [rule] * (cells["g13"] != "none")
    words = (
        f"Within 1 % of the best known value on all five engineering problems, feasible in all five runs: "
        f"{_named(near)}. "
        f"A feasible point of `g13` in any run: {_named(some)}."
    )
    return table(["rule", *problems], [best, *rows]) + "\n" + filled(f"{words} {conditions('rules')}.")


def _is_near(cell: str, known: float) -> bool:
    return cell[0].isdigit() and "/" not in cell and float(cell) <= 1.01 * known


def _named(rules: list[str]) -> str:
    return ", ".join(f"`{rule}`" for rule in rules) or "none"


def evaluation() -> str:
    found = values_of("evaluation")
    return filled(
        f"`python -m benchmarks.evaluation_overhead` measures it. {conditions('evaluation')}: "
        f"{found['one after another']:.2g} microseconds per evaluation one after another, {found['vectorised']:.1g} "
        f"with `vectorized=True`, {found['pool of 2'] / 1000:.1g} milliseconds in a pool of two processes."
    )


def busy() -> str:
    rows = [
        [method, *(f"{kinds[kind]['busy']:.0%} busy, {kinds[kind]['seconds']:.0f} s" for kind in KINDS)]
        for method, kinds in values_of("busy").items()
    ]
    return table(["method", *KINDS], rows) + "\n" + filled(conditions("busy") + ".")


KINDS = ("synchronous", "asynchronous")


def asynchronous() -> str:
    found = values_of("asynchronous")
    rows, ratios = [], []
    for problem, kinds in found["rows"].items():
        cells = []
        for kind in KINDS:
            cells += [f"{kinds[kind]['reached']} of {found['seeds']}"]
            cells += ["" if kinds[kind][key] is None else f"{kinds[kind][key]:,.0f}" for key in ("evaluations", "time")]
        rows.append([problem, *cells])
        before, after = (kinds[kind]["median"] for kind in KINDS)
        ratios += [math.log(before / after)] if before and after else []
    head = [
        f"{kind}: reached" if what == "reached" else what
        for kind in KINDS
        for what in ("reached", "evaluations", "time")
    ]
    mean = math.exp(math.fsum(ratios) / len(ratios))
    return (
        f"Method {found['method']}, at most {found['budget']:,} evaluations, medians of {found['seeds']} seeds.\n\n"
        + table(["problem", *head], rows)
        + f"\nTime, synchronous by asynchronous: {mean:.2f}, the mean of {len(ratios)}.\n"
    )


def scipy() -> str:
    rows = [
        [
            test,
            f"{row['solved here']} of {row['seeds']}",
            f"{row['most calls']:,}",
            f"{row['solved by SciPy']} of {row['seeds']}",
            f"{row['its mean calls']:,}",
        ]
        for test, row in values_of("scipy").items()
    ]
    head = ["test", "solved here", "most calls", "solved by SciPy", "its mean calls"]
    return table(head, rows) + "\n" + filled(f"{conditions('scipy')}.")


def scale() -> str:
    rows = [
        [
            f"{int(jobs):,}",
            f"{steps['run']['cpu']:.3g} s",
            f"{1e3 * steps['run']['cpu'] / int(jobs):.2g} ms",
            f"{steps['run']['megabytes']} MB",
            *(f"{steps[step]['cpu']:.2g} s" for step in ("resume", "status", "report")),
            steps["date"] + (f", commit {steps['commit']}" if "commit" in steps else ""),
        ]
        for jobs, steps in values_of("scale").items()
    ]
    head = ["jobs", "run", "per job", "memory", "run again, when all is done", "status", "report", "measured"]
    return (
        filled(f"{conditions('scale')}; a row with a commit was measured before, at that commit:")
        + "\n"
        + table(head, rows)
    )


def scale_dask() -> str:
    runs = {int(jobs): steps["run"] for jobs, steps in values_of("scale-dask").items()}
    each = [
        f"{1e3 * run['cpu'] / jobs:.2g} ms with {jobs:,} jobs (memory {run['megabytes']} MB)"
        for jobs, run in runs.items()
    ]
    return filled(
        f"`{load('scale-dask')['command']}`, with runs as short as can be. CPU per job, for client, scheduler, workers "
        f"and the start of all of them: {', '.join(each)}; [the same jobs without "
        "Dask](experiments.md#large-studies) take a fraction of it. "
        f"{conditions('scale-dask')}. "
        "Requests on their way are bounded, so that this does not grow with the plan."
    )


def campaign() -> str:
    found, later = values_of("campaign"), values_of("campaign-sample")
    beside = {"threads": "in threads", "map": "by a map", "processes": "in processes", "dask": "on Dask"}
    beside["resumed"] = "after a kill"
    again = ", ".join(f"{found['ways'][way]:,} {words}" for way, words in beside.items() if way in found["ways"])
    return filled(
        f"`{load('campaign')['command']}`: {found['cases']:,} random cases, {found['with findings']:,} with anything "
        f"wrong, at commit {found['commit']}. {found['ways']['here only']:,} were solved in this process only; {again} "
        f"as well, in the same bits; and {found['ways'].get('compiled', 0):,} are compiled programs. Other cases at "
        f"commit {later['commit']}: {later['cases']:,}, of which {later['with findings']:,} with anything wrong."
    )


def attacks() -> str:
    found, later = values_of("attacks"), values_of("attacks-sample")
    return filled(
        f"`{load('attacks')['command']}`: {found['attacks']:,} attacks of {found['kinds']} kinds on workers, in "
        f"searches by {', '.join(found['methods'])} with {between([min(found['workers']), max(found['workers'])])} of "
        f"them. Without an end, with a wrong result, or with a process left: {found['wrong']:,}, at commit "
        f"{found['commit']}. Attacks of {later['kinds']} kinds at commit {later['commit']}, in searches by "
        f"{', '.join(later['methods'])}: {later['attacks']:,}, of which {later['wrong']:,} went wrong."
    )


def versions() -> str:
    rows = [
        [found["Python"], found["NumPy"], found["SciPy"], found["JAX"], found["tests"]]
        for found in values_of("versions").values()
    ]
    return table(["Python", "NumPy", "SciPy", "JAX", "tests"], rows)


SAME = "its methods make the same short runs as then"


def conditions(name: str) -> str:
    """Return where and when a record was made, and at which commit if its command has not been run since.

    That the methods have not changed since is true by their fingerprints, which a test compares for every record.
    """
    record = load(name)
    machine: str = record["machine"]
    since = f" at commit {record['commit']}, not since; {SAME}" if "commit" in record else ""
    date = f", {record['date']}" if "date" in record else ""
    return f"{machine[0].upper()}{machine[1:]}{date}{since}"


def the_gauntlet() -> str:
    return gauntlet_text(values_of("gauntlet")) + "\n" + filled(f"{conditions('gauntlet')}.")


def quality() -> str:
    """Return the lines of the quality benchmark, smaller budgets first."""
    return table(HEAD, [line for name in budgets_of("quality") for line in values_of(name)])


def budgets_of(kind: str) -> list[str]:
    """Return the records of a kind of runs of the quality benchmark, smaller budgets first."""
    return sorted((name for name in names() if name.startswith(f"{kind}-")), key=lambda name: int(name.split("-")[1]))


def generated() -> str:
    """Return the table of generated problems, and the commands that make it."""
    found = budgets_of("generated")
    commands = "".join(f"- `{command}`\n" for command in dict.fromkeys(load(name)["command"] for name in found))
    return table(HEAD[1:], [line[1:] for name in found for line in values_of(name)]) + "\n" + commands


def noise() -> str:
    """Return the lines of CEC2006 with noise and with steps, and where the default is behind PPS-DE."""
    rows, commands, better, worse = [], [], [], []
    for kind, words in {"noise": "noise", "staircase": "steps"}.items():
        for name in budgets_of(kind):
            lines = [line[1:] for line in values_of(name) if line[0] == "cec2006"]
            rows += [[words, *line] for line in lines]
            commands.append(f"- `{load(name)['command']}`\n")
            ranks = {solver: rank for _, solver, *_, rank in lines}
            first, second = ranks[documents.DEFAULT], ranks["pps-de"]
            shown = f"with {words} at {lines[0][0]} ({first}, {second})"
            (worse if float(first) > float(second) else better).append(shown)
    found = {"no worse than `pps-de`": better, "worse than `pps-de`": worse}
    judged = "; ".join(f"{words} {', '.join(where)}" for words, where in found.items() if where)
    return (
        table(["objective", *HEAD[1:]], rows)
        + "\n"
        + filled(f"By its rank, the first number in brackets, the default is {judged}.")
        + "\n"
        + "".join(commands)
    )


def stopping() -> str:
    found = values_of("tried")["stopping"]
    used = " and ".join(f"{share} % on {suite}" for suite, share in found["used"].items())
    return filled(
        f"Measured at commit {found['commit']}, and not since, while the default has changed: of {found['runs']} runs "
        f"on CEC2006 and the engineering problems, {found['seeds']} seeds with {found['budget']} evaluations per "
        f"variable, {found['worse']} would have ended more than 1e-4 above what they found with `tol=0`; the median "
        f"run would have used {used} of its budget. With ten times and four times, as it was before, "
        f"{found['worse with ten and four times']} ended too early."
    )


def tried() -> str:
    rows = [[row["tried"], row["found"], row["commit"]] for row in values_of("tried")["tried"]]
    return table(["tried", "found", "commit"], rows)


def overhead() -> str:
    rows = [
        [
            row["D"],
            *(f"{row[name]:.3g}" for name in ("pps-de", "scipy", "pps-sqp")),
            f"{row['scipy'] / row['pps-de']:.1f}",
        ]
        for row in values_of("overhead")["beside SciPy"]
    ]
    head = ["D", "`pps-de`", "SciPy's DE", "`pps-sqp`", "SciPy's DE by `pps-de`"]
    return filled(f"{conditions('overhead')}; `{load('overhead')['command']}`:") + "\n" + table(head, rows)


def whole_runs() -> str:
    rows = values_of("overhead")["whole runs"]
    return table(
        [f"{name} evaluations" if name.endswith("D") else name for name in rows[0]], [row.values() for row in rows]
    )


# --- compiled runs --------------------------------------------------------------------------------------------------


def throughput() -> str:
    text = ""
    for kind, time in (("gpu", "microseconds per evaluation"), ("cpu", "microseconds of processor time")):
        name = f"throughput-{kind}"
        rows = [[row["D"], row["runs"], f"{row['microseconds']:.2g}"] for row in values_of(name)]
        text += filled(f"{conditions(name)}; `{load(name)['command']}`:") + "\n"
        text += table(["D", "runs at once", time], rows) + "\n"
    return text.rstrip("\n") + "\n"


def experiment() -> str:
    seconds = values_of("experiment")
    return filled(
        "The published experiment (28 problems, 25 runs, three dimensions, 1.26 billion evaluations), whole command, "
        f"imports, tracing, store, tables and page included. {conditions('experiment')}: "
        + ", ".join(f"{seconds[how]:.0f} s {how}" for how in seconds)
        + "."
    )


# --- the field ------------------------------------------------------------------------------------------------------


def field() -> dict[tuple[str, int, str], dict[str, str]]:
    """Return the rows of our means by method, dimension and problem."""
    with (FOLDER / "field.csv").open(encoding="utf-8") as file:
        return {(row["method"], int(row["dimension"]), row["problem"]): row for row in csv.DictReader(file)}


def holding(method: str, dimension: int) -> int:
    return sum(
        row["judged"] == row["holds"] == "True" for key, row in field().items() if key[:2] == (method, dimension)
    )


def preset() -> str:
    """Return the table of the default preset beside the printed means."""
    rows, cells = [], field()
    for problem in dict.fromkeys(problem for _, _, problem in cells):
        shown = []
        for dimension in published.DIMENSIONS:
            row = cells["pps-de", dimension, problem]
            numbers = [f"{float(row[key]):{digits}}" for key, digits in DIGITS.items()]
            failed = row["judged"] == "True" and row["holds"] == "False"
            shown.append(
                f"{numbers[0]} +- {numbers[1]}, {numbers[2]} ({numbers[3]} +- {numbers[4]})" + " **no**" * failed
            )
        judged = cells["pps-de", published.DIMENSIONS[0], problem]["judged"] == "True"
        rows.append([problem + " (not judged)" * (not judged), *shown])
    counts = ", ".join(f"{holding('pps-de', d)} at D = {d}" for d in published.DIMENSIONS)
    return (
        filled(f"Of the 22 judged problems hold {counts}. {conditions('field')}.")
        + "\n"
        + table(["problem", *(f"D = {d}" for d in published.DIMENSIONS)], rows)
    )


DIGITS = {"mean": ".4g", "std": ".2g", "feasible_share": ".0%", "printed_mean": ".3g", "printed_std": ".2g"}


def ranks() -> str:
    """Return the ranks of the default preset and its rivals by the rules of the competition."""
    found = [row for row in values_of("ranks") if row["preset"] == "pps-de"]
    cells = {(row["problems"], row["dimension"], row["algorithm"]): row for row in found}
    methods = dict.fromkeys(method for kind, _, method in cells if kind == "all")
    rows = []
    for method in methods:
        three = [cells["all", d, method] for d in published.DIMENSIONS]
        rows.append([method, *(f"{row['by mean']:g}, {row['by median']:g}, {row['total']:g}" for row in three)])
    first_two = []
    for d in published.DIMENSIONS:
        totals = {method: row["total"] for (kind, at, method), row in cells.items() if (kind, at) == ("judged", d)}
        best = sorted(totals, key=lambda method: totals[method])[:2]
        first_two.append(f"D = {d}: " + ", ".join(f"{method} {totals[method]:g}" for method in best))
    head = ["by mean, by median, sum", *(f"D = {d}" for d in published.DIMENSIONS)]
    words = f"The two smallest sums on the 22 judged problems alone: {'; '.join(first_two)}. {conditions('ranks')}."
    return table(head, rows) + "\n" + filled(words)


# --- pages ----------------------------------------------------------------------------------------------------------

TEXTS: dict[str, tuple[str, Callable[[], str]]] = {
    "spring": ("README.md", spring),
    "limits": ("docs/results.md", limits),
    "rules": ("docs/rules.md", rules),
    "evaluation": ("docs/trust.md", evaluation),
    "gauntlet": ("docs/trust.md", the_gauntlet),
    "campaign": ("docs/trust.md", campaign),
    "attacks": ("docs/trust.md", attacks),
    "versions": ("docs/trust.md", versions),
    "busy": ("docs/asynchronous.md", busy),
    "asynchronous": ("docs/asynchronous.md", asynchronous),
    "scipy": ("docs/bridges.md", scipy),
    "scale": ("docs/experiments.md", scale),
    "scale-dask": ("docs/clusters.md", scale_dask),
    "overhead": ("docs/performance.md", overhead),
    "whole_runs": ("docs/performance.md", whole_runs),
    "throughput": ("docs/performance.md", throughput),
    "experiment": ("docs/performance.md", experiment),
    "preset": ("docs/reproduction.md", preset),
    "ranks": ("docs/reproduction.md", ranks),
    "noise": ("docs/choosing.md", noise),
    "stopping": ("docs/choosing.md", stopping),
    "quality": ("docs/choosing.md", quality),
    "generated": ("docs/choosing.md", generated),
    "tried": ("docs/choosing.md", tried),
}


def marks(name: str) -> tuple[str, str]:
    return f"<!-- docs/measured.py {name} -->\n", f"<!-- end of {name} -->\n"


def shown(name: str) -> str:
    """Return the text between the marks of a page."""
    begin, end = marks(name)
    return (ROOT / TEXTS[name][0]).read_text(encoding="utf-8").split(begin)[1].split(end)[0]


def write(name: str) -> None:
    """Put a text between the marks of its page."""
    page, text = ROOT / TEXTS[name][0], TEXTS[name][1]()
    begin, end = marks(name)
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(before + begin + text + end + rest.split(end)[1], encoding="utf-8")


def program_of(name: str) -> object:
    """Return what a record says of the program that made it, as it is today; None if it says nothing."""
    record = load(name)
    if name == "gauntlet":
        return programs(record["values"])
    return digest_of(record["command"]) if "program" in record else None


if __name__ == "__main__":
    if sys.argv[1:] == ["--outdated"]:
        for name in names():
            if changed := outdated(name) + ["the benchmark"] * (load(name).get("program") != program_of(name)):
                print(f"{load(name)['command']}  # {', '.join(changed)}")
    elif sys.argv[1:2] == ["--same"]:
        for name in sys.argv[2:]:
            stamp(name, program_of(name))
    else:
        for name in sys.argv[1:] or TEXTS:
            write(name)
