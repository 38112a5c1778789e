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

    def test_measures_of_a_post_edit_phase_with_their_intervals(self):
        board = boards.post_edit_board()
        for line, row in zip(rows_of(board), board.rows, strict=True):
            for name, estimate in row.measures.items():
                found = [line[name], line[f"{name}_low"], line[f"{name}_high"]]
                if estimate is None:
                    assert found == ["", "", ""]
                else:
                    assert float(found[0]) == estimate.value
                    assert found[1:] == [str(end) for end in estimate.interval or ("", "")]
            assert line["baseline"] == row.baseline

    def test_a_bandit_phase_has_the_slope_of_lost_reward_and_corpus_bleu(self):
        header = to_csv(boards.empty_board()).splitlines()[0]
        assert header.endswith(",slope,slope_low,slope_high,bleu,bleu_low,bleu_high")

    def test_gains_and_the_last_quarter(self):
        board = boards.marked_board()
        for line, row in zip(rows_of(board), board.rows, strict=True):
            assert float(line["single_words"]) == row.single_words
            assert float(line["late_corpus_bleu"]) == row.last_quarter.corpus_bleu
            assert float(line["late_length_ratio"]) == row.last_quarter.length_ratio
            if row.reward_gain:
                assert float(line["reward_gain"]) == row.reward_gain.value
                assert (float(line["reward_gain_low"]), float(line["reward_gain_high"])) == row.reward_gain.interval
                assert float(line["late_bleu_gain"]) == row.last_quarter.difference.corpus_bleu
        marks = {line["system"]: line["reward_up_bleu_down"] for line in rows_of(board)}
        assert marks == {"X-static": "", "X-short": "True", "X-better": "False"}

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
        assert (
            r"1 & ELM-domain-adaptation & 1,192.6 & 0.2982 & [0.2821, 0.3140] & +0.1382 & 0.4166 & 25.7\,\% & 51.1 & "
            r"91.7 [89.0, 95.0] & 35.2 & 45.5 & 1.00 & 1.00 & 0.0\,\% \\" in text
        )
        assert "CEDAR" not in text
        lines = text.splitlines()
        assert lines.count(r"\midrule") == 2
        assert lines.index(next(line for line in lines if "SMT-static" in line)) < lines.index(
            next(line for line in lines if "ELM-domain-adaptation" in line)
        )
        assert "% reward: sentBLEU|" in text

    def test_a_post_edit_phase_has_its_measures(self):
        lines = to_latex(boards.post_edit_board()).splitlines()
        measures = "BLEU & SBLEU & TER & R0 & R1 & R0+1 & S & S cum. & late BLEU & length & late length & one word"
        assert rf" & system & cumulative reward & mean & 95\,\% interval & gain & {measures} \\" in lines
        assert r"\begin{tabular}{rlrrrrrrrrrrrrrrrr}" in lines
        [row] = [line for line in lines if line.startswith("1 & ")]
        assert row.startswith(
            r"1 & BNMT-full & 451.9 & 0.4519 & [0.4309, 0.4733] & +0.3113 & 47.8 [45.3, 50.1] & 61.2 [59.1, 63.0] & "
        )
        assert "% recall: R|k:0-1|words:content|stop:en/iso-0.7.1|scope:all|nrefs:1|case:mixed|tok:none|v:1" in lines

    def test_unknown_values_are_dashes(self):
        one = make_board(boards.dev_phase(total=5), [boards.summary("x", 5, start=0.5)], now=boards.NOW)
        assert "1 & x & " in to_latex(one)
        assert r"& -- & -- & -- & -- & -- & 16.4 & -- & 1.00 & -- & 0.0\,\% \\" in to_latex(one)

    def test_a_run_that_earned_more_with_lower_corpus_bleu_has_a_dagger(self):
        lines = to_latex(boards.marked_board()).splitlines()
        note = "earned more than the baseline in the last quarter, but with significantly lower corpus BLEU"
        assert rf"% $^\dagger$: {note}" in lines
        assert [line.split(" & ")[1] for line in lines if "dagger" in line and line[0] != "%"] == ["X-short"]
        assert not any("dagger" in line for line in to_latex(boards.dev_board()).splitlines())

    def test_an_empty_board(self):
        assert to_latex(boards.empty_board()).splitlines()[-3:] == [r"\midrule", r"\bottomrule", r"\end{tabular}"]

    @pytest.mark.parametrize("piece", [r"a\textbackslash{}\&b\_c\%d\$e\#f\{g\}\textasciitilde{}h\textasciicircum{}i"])
    def test_names_are_escaped(self, piece):
        assert piece in to_latex(boards.hostile_board())
