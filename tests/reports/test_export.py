"""Exports, whatever their format: what is refused, what is chosen, and where the files are."""

from __future__ import annotations

from pathlib import Path

import pytest
from reports.hostile import STRINGS
from reports.made_up import a_store, entries_of

from ppsde.experiments import Store
from ppsde.reports.exports import export


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with (
        Store(a_store(tmp_path / "study.db", ["a"], ["C01"], 1)) as store,
        pytest.raises(ValueError, match="format must be one of cec, ioh, parquet; got 'xls'"),
    ):
        export(store, "xls", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["cec", "ioh"])
def test_no_name_leads_out_of_the_folder(kind: str, tmp_path: Path) -> None:
    labels = ["../../up", "/etc/passwd", "..", *STRINGS[:3]]
    with Store(a_store(tmp_path / "study.db", labels, ["../C01", "C01"], 1, record=3)) as store:
        written = export(store, kind, tmp_path / "out")
    assert len(set(written)) == len(written) == {"cec": 12, "ioh": 24}[kind]
    assert all(path.resolve().is_relative_to((tmp_path / "out").resolve()) for path in written)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "study.db"]


@pytest.mark.parametrize("kind", ["cec", "ioh"])
def test_of_plans_that_contradict_each_other_the_last_or_the_chosen_one_is_written(kind: str, tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a"], ["C01", "C02"], 2, record=3)
    with Store(path, writable=True) as store:
        store.add_entries(entries_of(["a"], ["C01"], 2, record=3, seed=2, budget=900))
    with Store(path) as store:
        last = export(store, kind, tmp_path / "last")
        first = export(store, kind, tmp_path / "first", plan=1)
    files = {"cec": 1, "ioh": 2}[kind]
    assert (len(last), len(first)) == (files, 2 * files)
    end = {name: (tmp_path / name / first[0].relative_to(tmp_path / "first")).read_text() for name in ("last", "first")}
    assert end["last"].splitlines()[-1].startswith("900 ")
    assert end["first"].splitlines()[-1].startswith("20000 ")


def test_a_study_without_results_gives_no_files(tmp_path: Path) -> None:
    with Store(a_store(tmp_path / "study.db", ["a"], ["C01"], 2, undone=[("a", "C01")])) as store:
        assert export(store, "cec", tmp_path / "cec") == export(store, "ioh", tmp_path / "ioh") == []
