"""CSV and LaTeX exports: complete, and safe with any name."""

import csv
import io

import pytest

from leaderboard.exports import to_csv, to_latex
from leaderboard.table import make_board
from tests.leaderboard import boards


def rows_of(board):
    return list(csv.DictReader(io.StringIO(to_csv(board))))


class TestCsv:
    def test_every_row_with_unrounded_numbers(self):
        board = boards.dev_board()
        read = rows_of(board)
        assert [row["run"] for row in read] == [row.run for row in board.rows]
        for line, row in zip(read, board.rows, strict=True):
            assert float(line["reward"]) == row.reward
            assert float(line["regret"]) == row.regret.value
            assert (float(line["interval_low"]), float(line["interval_high"])) == row.interval
            assert float(line["corpus_bleu"]) == row.passes[-1].corpus_bleu
            assert (line["status"], line["role"]) == (row.status.value, row.role.value)

    def test_unknown_values_are_empty(self):
        oracle_free = make_board(boards.dev_phase(), [boards.summary("x", 30, start=0.5)], now=boards.NOW)
        [line] = rows_of(oracle_free)
        unknown = ("rank", "group", "family", "interval_low", "regret", "regret_low", "regret_oracle", "corpus_bleu")
        assert {line[name] for name in unknown} == {""}

    def test_empty_board_has_a_header(self):
        assert to_csv(boards.empty_board()).startswith("rank,group,system,participant,run,")
        assert rows_of(boards.empty_board()) == []

    def test_hostile_names_are_kept_and_are_not_formulas(self):
        systems = {line["system"] for line in rows_of(boards.hostile_board())}
        assert "'=HYPERLINK(0)" in systems
        assert {name for name in boards.HOSTILE_NAMES if not name.startswith("=")} <= systems


class TestLatex:
    def test_a_table_of_finished_runs(self):
        text = to_latex(boards.dev_board())
        assert r"1 & ELM-domain-adaptation & 1,192.6 & 0.2982 & [0.2821, 0.3140] & 0.4166 & 25.7\,\% & 51.1 \\" in text
        assert "CEDAR" not in text
        lines = text.splitlines()
        assert lines.count(r"\midrule") == 2
        assert lines.index(next(line for line in lines if "SMT-static" in line)) < lines.index(
            next(line for line in lines if "ELM-domain-adaptation" in line)
        )
        assert "% reward: sentBLEU|" in text

    def test_unknown_values_are_dashes(self):
        one = make_board(boards.dev_phase(total=5), [boards.summary("x", 5, start=0.5)], now=boards.NOW)
        assert "1 & x & " in to_latex(one)
        assert r"& -- & -- & -- & -- \\" in to_latex(one)

    def test_an_empty_board(self):
        assert to_latex(boards.empty_board()).splitlines()[-3:] == [r"\midrule", r"\bottomrule", r"\end{tabular}"]

    @pytest.mark.parametrize("piece", [r"a\textbackslash{}\&b\_c\%d\$e\#f\{g\}\textasciitilde{}h\textasciicircum{}i"])
    def test_names_are_escaped(self, piece):
        assert piece in to_latex(boards.hostile_board())
