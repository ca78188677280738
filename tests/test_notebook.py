"""Notebooks: HTML of results, problems and optimizers, figures, progress; and the example notebook, executed."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ppsde
from ppsde.display.figure import sketch
from ppsde.display.progress import in_notebook

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "notebook.ipynb"


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.tags = [], [], []
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def shown(thing):
    page = Balanced(thing._repr_html_())
    return " ".join(page.text), page.tags


def beam(x):
    return x[0] + x[1], [1 - x[0] * x[1], x[0] - 3], [x[0] - 2 * x[1]]


PROBLEM = ppsde.Problem(beam, [(0, 5), (0, 5)], n_ineq=2, n_eq=1, constraint_names=["<area>", "length", "ratio"])


def test_a_result_shows_verdict_values_constraints_and_a_figure():
    result = ppsde.minimize(PROBLEM, method="pps-de", max_evaluations=3000, rng=1)
    words, tags = shown(result)
    assert words.startswith("feasible : the budget is spent") and f"{result.fun:.10g}" in words
    assert "<area>" in words and "active" in words and "3,000 in" in words and tags.count("svg") == 1
    assert words.index("<area>") < words.index("length")  # active before the others


def test_a_result_that_is_not_feasible_says_so_and_shows_the_worst_constraint_first():
    result = ppsde.minimize(
        lambda x: (x[0], [x[0] + 1, x[0] + 9], []), [(0, 1)], method="jde", max_evaluations=300, rng=1
    )
    words, _ = shown(result)
    assert words.startswith("not feasible") and words.index("g[1]") < words.index("g[0]") and "violated" in words


def test_a_result_without_any_value_is_shown_too():
    words, tags = shown(ppsde.minimize(lambda x: 1 / 0, [(0, 1)], rng=1))
    assert "ZeroDivisionError" in words and "100 failed" in words and "svg" not in tags


def test_the_result_that_a_callback_gets_is_shown_too():
    pages = []
    ppsde.minimize(PROBLEM, method="jde", max_evaluations=300, rng=1, callback=lambda stand: pages.append(shown(stand)))
    assert all("the run is not over" in words for words, _ in pages) and pages


def test_long_lists_are_cut():
    result = ppsde.minimize(lambda x: (x.sum(), x - 2, []), [(0, 1)] * 30, method="jde", max_evaluations=200, rng=1)
    words, tags = shown(result)
    assert "and 18 more constraints" in words and ", ..." in words and tags.count("tr") == 5 + 1 + 12
    words, tags = shown(ppsde.Problem(lambda x: 0.0, [(0, 1)] * 30))
    assert "and 18 more variables" in words and tags.count("tr") == 1 + 12


def test_a_problem_shows_what_it_has_in_one_line_and_as_a_table():
    assert repr(PROBLEM) == "Problem 'problem': 2 variables, 2 inequalities, 1 equality"
    unknown = ppsde.Problem(beam, [(0, 5)] * 2, name="<b>")
    assert repr(unknown) == "Problem '<b>': 2 variables, constraints counted at the first evaluation"
    assert "<b>" in shown(unknown)[0] and shown(unknown)[1].count("tr") == 3
    solved = ppsde.suites.get("cec2006").problem("g01")
    assert repr(solved) == "Problem 'g01': 13 variables, 9 inequalities, 0 equalities, best known -15"


def test_an_optimizer_shows_how_far_it_is():
    optimizer = ppsde.Optimizer([(-5, 5)] * 2, max_evaluations=150, method="jde", rng=1)
    assert repr(optimizer) == "Optimizer: 0 of 150 evaluations, wants 100 points"
    assert shown(optimizer)[0] == repr(optimizer)
    while not optimizer.done:
        optimizer.tell((optimizer.ask() ** 2).sum(axis=1))
    words, _ = shown(optimizer)
    assert words.startswith("Optimizer: 150 of 150 evaluations, done") and "feasible" in words


def test_a_batch_shows_its_best_middle_and_worst_run():
    at = np.tile([10.0, 20.0, np.nan], (3, 1))
    batch = ppsde.BatchResult(
        ppsde.Problem(beam, [(0, 5)] * 2, name="<i>"),
        x=np.zeros((3, 2)),
        f=np.array([7.0, 5.0, 4.0]),
        violation=np.array([0.0, 0.0, 1.0]),
        answer_x=np.zeros((3, 2)),
        answer_f=np.zeros(3),
        answer_violation=np.zeros(3),
        evaluations=np.array([20, 20, 20]),
        status=np.zeros(3, int),
        record={"evaluations": at, "f": at, "violation": 0 * at},
        compile_seconds=0.0,
        run_seconds=0.0,
    )
    words, tags = shown(batch)
    assert words.startswith("2 of 3 runs feasible  on <i>") and "svg" in tags
    assert words.index("best 1 5") < words.index("middle 0 7") < words.index("worst 2 4 1")


def test_the_figure_draws_each_value_once_and_dashes_what_is_not_feasible():
    history = {
        "evaluations": np.array([10.0, 20, 30, 40]),
        "f": np.array([9.0, 7.0, 8.0, 5.0]),
        "violation": np.array([1.0, 0.5, 0, 0]),
    }
    drawn = sketch(history)
    dashed, solid = re.findall(r'<path d="([^"]*)"', drawn)
    assert dashed.count("L") == 2 and solid.count("L") == 1  # the last dashed piece reaches the first feasible point
    assert "9</text>" in drawn and "5</text>" in drawn and "40 evaluations" in drawn
    assert len(sketch({name: np.repeat(column, 1000) for name, column in history.items()})) < 20_000
    constant = sketch({**history, "f": np.ones(4)})
    assert "nan" not in constant and "inf" not in constant
    nothing = {"evaluations": np.array([1.0, 2]), "f": np.array([np.nan, 1.0]), "violation": np.zeros(2)}
    assert sketch(nothing) == sketch({}) == ""


def test_plot_is_a_picture_for_a_notebook_without_pyplot():
    pytest.importorskip("matplotlib")
    result = ppsde.minimize(PROBLEM, method="jde", max_evaluations=300, rng=1)
    assert result.plot()._repr_png_().startswith(b"\x89PNG")


def test_this_process_is_no_notebook():
    assert not in_notebook()


def outputs(cell):
    return {kind: content for output in cell.outputs for kind, content in output.get("data", {}).items()}


@pytest.mark.filterwarnings("default")  # of the libraries that run the notebook
@pytest.mark.skipif(sys.platform == "win32", reason="kernels need another event loop there")
def test_the_example_notebook_runs_and_shows_everything():
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    for library in ("ipykernel", "ipywidgets", "matplotlib"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    notebook = nbformat.read(EXAMPLE, as_version=4)
    run = "ppsde.minimize(problem, method='jde', max_evaluations=3000, rng=1, progress=True);"
    notebook.cells += [
        nbformat.v4.new_code_cell(f"import sys\nsys.modules['ipywidgets'] = None\n{run}"),
        nbformat.v4.new_code_cell("import matplotlib.pyplot as plt\nresult.plot()"),
    ]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    problem, solved, figure, optimizer, line, figure_again = [c for c in notebook.cells if c.cell_type == "code"]

    assert "welded-beam" in outputs(problem)["text/html"]
    assert "feasible" in Balanced(outputs(solved)["text/html"]).text[0]
    assert "application/vnd.jupyter.widget-view+json" in outputs(solved)
    states = [
        state["state"]
        for state in notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    ]
    assert [s["value"] for s in states if s["_model_name"] == "FloatProgressModel"] == [1.0]
    assert any("100% of 8,000" in s["value"] for s in states if s["_model_name"] == "LabelModel")
    assert not [output for cell in (solved, line) for output in cell.outputs if output.output_type == "stream"]
    for cell in (figure, figure_again):  # shown once; matplotlib may write about its fonts beside it
        assert ["image/png" in output.data for output in cell.outputs if output.output_type != "stream"] == [True]
    assert "Optimizer: " in outputs(optimizer)["text/html"]
    assert len(line.outputs) == 1 and "100% of 3,000" in outputs(line)["text/plain"]  # updated, not repeated
