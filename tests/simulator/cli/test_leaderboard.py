"""``banditmt leaderboard`` and the admin commands for roles, rebuilding and verifying."""

import io
import json
import re
import sqlite3
from dataclasses import replace

import pytest
from rich.console import Console

from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import documents, open_store
from leaderboard.families import Role, RoleKind
from leaderboard.profiles import Profiles, SystemProfile
from leaderboard.table import make_board
from simulator.cli import run
from simulator.cli.leaderboard import print_board, sparkline
from tests.lambdas import tasks
from tests.leaderboard import boards

LATE_DETAILS = ("late length", "1 word")


@pytest.fixture
def address(tmp_path):
    return f"sqlite:{tmp_path / 'store.db'}"


@pytest.fixture
def store(address):
    """A small competition: an oracle, a baseline, a finished learner, and an unfinished run."""
    store = open_store(address)
    tasks.load(store)
    service = Service(store)
    organiser, player = (tasks.participant(store, service, name) for name in ("organiser", "acme"))
    for who, system, suffix, rounds in (
        (organiser, "X-oracle", " secretref", None),
        (organiser, "X-static", "", None),
        (player, "X-learner", " secretref und", None),
        (player, "slow", "", 7),
    ):
        opened = service.open_run(who, "dev", system).run
        tasks.play(service, who, opened, rounds=rounds, translate=lambda s, suffix=suffix: s.source + suffix)
    yield store
    store.close()


@pytest.fixture
def banditmt(store, address, capsys):
    """Run a command; return its exit code, standard output and standard error."""

    def run_command(*words):
        code = run([*words, "--store", address])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_command


def designate(banditmt):
    assert banditmt("admin", "oracle", "set", "organiser", "X-oracle")[0] == 0
    assert banditmt("admin", "baseline", "mark", "organiser", "X-static")[0] == 0


class TestLeaderboard:
    def test_the_table(self, banditmt, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        designate(banditmt)
        code, out, _ = banditmt("leaderboard", "--phase", "dev")
        assert code == 0
        assert "phase dev (open), 14 rounds" in out
        assert re.search(r"1a +X-learner +acme", out)
        assert "X-oracle (oracle)" in out
        assert "slow (running at 50%)" in out
        assert "reward: sentBLEU|" in out

    def test_json_is_the_board(self, banditmt):
        designate(banditmt)
        code, out, _ = banditmt("leaderboard", "--phase", "dev", "--json")
        rows = {row["system"]: row for row in json.loads(out)["rows"]}
        assert (code, len(rows)) == (0, 4)
        assert rows["X-learner"]["gap_closed"] == pytest.approx(
            (rows["X-learner"]["reward"] - rows["X-static"]["reward"])
            / (rows["X-oracle"]["reward"] - rows["X-static"]["reward"])
        )

    def test_csv_and_latex(self, banditmt):
        assert banditmt("leaderboard", "--phase", "dev", "--csv")[1].count("\n") == 5
        assert banditmt("leaderboard", "--phase", "dev", "--latex")[1].endswith("\\end{tabular}\n")

    def test_figures(self, banditmt, tmp_path, monkeypatch):
        monkeypatch.setattr("leaderboard.figures.save_figures", lambda board, folder: [folder / f"{board.phase}.svg"])
        code, out, err = banditmt("leaderboard", "--phase", "dev", "--figures", str(tmp_path / "f"))
        assert (code, out) == (0, "")
        assert "dev.svg" in err
        monkeypatch.setattr("leaderboard.figures.save_figures", lambda *_: [])
        assert "phase mock has nothing to draw yet" in banditmt("leaderboard", "--phase", "mock", "--figures", ".")[2]

    def test_a_phase_without_rounds(self, banditmt):
        code, out, _ = banditmt("leaderboard", "--phase", "mock")
        assert code == 0
        assert "no rounds have been played yet" in out

    @pytest.mark.parametrize(
        ("words", "code", "complaint"),
        [
            (("--phase", "finals"), 2, "there is no phase finals (training, mock, dev)"),
            (("--phase", "dev", "--json", "--csv"), 2, "cannot be combined"),
            ((), 2, "--phase"),
        ],
    )
    def test_wrong_usage_is_one_line_on_standard_error(self, banditmt, words, code, complaint):
        exit_code, out, err = banditmt("leaderboard", *words)
        assert (exit_code, out) == (code, "")
        assert complaint in err
        assert err.count("\n") == 1

    def test_a_missing_store(self, tmp_path, capsys):
        assert run(["leaderboard", "--phase", "dev", "--store", f"sqlite:{tmp_path / 'none'}"]) == 1
        assert "there is no store at" in capsys.readouterr().err


class TestPrinting:
    def test_every_kind_of_row(self):
        console = Console(width=200, record=True, file=io.StringIO())
        print_board(boards.dev_board(), console)
        text = console.export_text()
        [row] = [line for line in text.splitlines() if "ELM-domain-adaptation" in line]
        assert row.split()[:-1] == [
            *("1a", "ELM-domain-adaptation", "elm", "1,192.6", "0.2982", "±0.0160", "+0.1382", "0.4166", "25.7%"),
            *("35.2", "45.5", "1.00", "1.00", "0.0%", "51.1", "+32.8", "91.7"),
        ]
        assert "CEDAR (abandoned at 22%)" in text

    @pytest.mark.parametrize(
        ("width", "dropped"),
        [
            (80, ["participant", "gain", "regret", *LATE_DETAILS, "held-out", "held-out gain", "S", "curve"]),
            (100, ["participant", "regret", "1 word", "held-out", "held-out gain", "S", "curve"]),
            (145, ["participant", "held-out gain", "S", "curve"]),
            (170, ["participant", "held-out gain"]),
            (180, ["participant"]),
            (200, []),
        ],
    )
    def test_a_narrow_terminal_drops_columns(self, width, dropped):
        console = Console(width=width, record=True, file=io.StringIO())
        print_board(boards.dev_board(), console)
        lines = console.export_text().splitlines()
        known = [
            *("#", "system", "participant", "reward", "mean", "95 %", "gain", "regret", "gap"),
            *("BLEU", "late BLEU", "length", *LATE_DETAILS, "held-out", "held-out gain", "S", "curve"),
        ]
        assert re.split(" {2,}", lines[1].strip()) == [heading for heading in known if heading not in dropped]
        assert all(len(line) <= width for line in lines[:14])
        assert ("█" * 5 in lines[2]) == ("curve" not in dropped)
        explained = [heading for heading in known if any(line.startswith(f"{heading}: ") for line in lines[14:-5])]
        unexplained = ("system", "participant", "reward", "mean", "regret")
        assert explained == [each for each in known if each not in (*dropped, *unexplained)]
        note = f"not shown, because the terminal is narrow: {', '.join(dropped)}"
        assert (note in " ".join(lines).replace("  ", " ")) == bool(dropped)

    def test_seeds_are_one_row_and_unfold_on_demand(self):
        seeds = [boards.summary(name, start=0.5, seed=number) for number, name in enumerate(("EL", "EL.s2"))]
        board = make_board(boards.dev_phase(), seeds, now=boards.NOW)
        folded, unfolded = (Console(width=200, record=True, file=io.StringIO()) for _ in range(2))
        print_board(board, folded)
        print_board(board, unfolded, each_seed=True)
        text = folded.export_text()
        assert "EL (2 seeds)" in text
        assert "EL.s2" not in text
        assert (
            "s.d.: standard deviation of the mean between seeds; 95 % of such a row covers sentences and seeds" in text
        )
        assert "--each-seed lists the seeds" in text
        assert [line.split()[0] for line in unfolded.export_text().splitlines()[2:5]] == ["1a", "EL", "EL.s2"]

    @pytest.mark.parametrize("width", [30, 80, 200])
    def test_a_run_that_earned_more_with_lower_corpus_bleu_is_marked(self, width):
        console = Console(width=width, record=True, file=io.StringIO())
        print_board(boards.marked_board(), console)
        text = console.export_text()
        words = " ".join(text.split())
        assert words.count("reward up, BLEU down") == 1
        assert "! reward up, BLEU down: in the last quarter, X-short earned +0.2479 per round compared with" in words
        assert "compared with X-static, but -23.4 BLEU (-28.2 to -18.5)" in words
        assert ("! 27.3" in text) == (width > 30)

    def test_consistency_has_a_column_where_a_system_was_measured(self):
        summaries = [boards.summary(name, 60, start=0.5) for name in ("X", "Y")]
        known = SystemProfile("acme", "X", consistency={"deixis": [81.5]})
        board = make_board(boards.dev_phase(), summaries, profiles=Profiles(systems=[known]), now=boards.NOW)
        console = Console(width=250, record=True)
        print_board(board, console)
        text = console.export_text()
        assert "consistency" in text
        assert "81.5" in text

    def test_full_information_has_a_column_where_there_is_such_a_run(self):
        roles = [Role("acme", "X-static", RoleKind.BASELINE), Role("acme", "X-better", RoleKind.FULL_INFORMATION)]
        runs = [boards.mixed_summary(name, *shares) for name, *shares in (("X-static", 0.5, 0.5), ("X-better", 1, 1))]
        board = make_board(boards.dev_phase(total=boards.MARKED_TOTAL), runs, roles, now=boards.NOW)
        console = Console(width=200, record=True, file=io.StringIO())
        print_board(board, console)
        text = console.export_text()
        assert "gain  full" in re.sub(" {2,}", "  ", text.splitlines()[1])
        assert "full: gain as a share of what the full-information run gained" in text
        assert "X-better (full-information)" in text

    def test_a_terminal_too_narrow_for_names_wraps_them(self):
        console = Console(width=64, record=True, file=io.StringIO())
        print_board(boards.dev_board(), console)
        lines = console.export_text().splitlines()
        assert all(len(line) <= 64 for line in lines[:20])
        [first] = [number for number, line in enumerate(lines) if line.startswith(" 1a")]
        assert lines[first] == " 1a  ELM-domain-adapta  0.2982   25.7%  35.2       45.5    1.00 "
        assert lines[first + 1].strip() == "tion", "nothing of a name is lost"

    @pytest.mark.parametrize(
        ("width", "first"),
        [
            (50, " 1a  ELM-domain-adaptati  0.2982  35.2       45.5 "),
            (40, " 1a  ELM-domain-adaptatio  0.2982  35.2 "),
            (30, " 1a  ELM-domain-adapt  0.2982 "),
        ],
    )
    def test_the_smallest_terminals_cut_no_number(self, width, first):
        console = Console(width=width, record=True, file=io.StringIO())
        print_board(boards.dev_board(), console)
        lines = console.export_text().partition("#:")[0].splitlines()
        assert first in lines
        assert all(len(line) <= width for line in lines)
        assert not any("…" in line[4:] for line in lines), (
            "nothing is cut; unfinished runs have this in place of a rank"
        )

    def test_one_long_name_drops_no_column(self):
        console = Console(width=200, record=True, file=io.StringIO())
        board = boards.dev_board()
        long = [replace(board.rows[0], system="x" * 64), *board.rows[1:]]
        print_board(replace(board, rows=long), console)
        lines = console.export_text().splitlines()
        assert re.split(" {2,}", lines[1].strip())[-4:] == ["held-out", "held-out gain", "S", "curve"]
        assert "".join(lines).count("x") >= 64

    def test_a_post_edit_phase_has_a_second_table_of_measures(self):
        console = Console(width=160, record=True, file=io.StringIO())
        print_board(boards.post_edit_board(), console)
        text = console.export_text()
        lines = text.splitlines()
        assert re.split(" {2,}", lines[1].strip()) == [
            *("#", "system", "participant", "reward", "mean", "95 %", "gain"),
            *("late BLEU", "length", *LATE_DETAILS, "curve"),
        ]
        assert "not shown" not in text
        assert re.search(r"system +BLEU ↑ +SBLEU ↑ +TER ↓ +R0 ↑ +R1 ↑ +R0\+1 ↑ +S ↓ +S cum\. ↓", text)
        [row] = [line for line in lines if re.search("BNMT-full +47", line)]
        assert " ".join(row.split()) == (
            "BNMT-full 47.8 ±2.4 61.2 ±1.9 25.6 ±1.3 56.3 ±3.4 80.1 ±2.9 67.4 ±2.8 94.3 ±3.9 96.6 ±4.5"
        )
        assert "TER ↓: Edits per hundred reference words" in lines
        assert "recall: R|k:0-1|words:content|stop:en/iso-0.7.1|scope:all|nrefs:1|case:mixed|tok:none|v:1" in lines

    @pytest.mark.parametrize("width", [80, 100])
    def test_a_narrow_terminal_shows_measures_without_intervals(self, width):
        console = Console(width=width, record=True, file=io.StringIO())
        print_board(boards.post_edit_board(), console)
        text = console.export_text()
        [row] = [line for line in text.splitlines() if re.search(r"BNMT-full +47\.8", line)]
        assert "intervals are not shown, because the terminal is narrow" in " ".join(text.split())
        assert row.split() == ["BNMT-full", "47.8", "61.2", "25.6", "56.3", "80.1", "67.4", "94.3", "96.6"]
        assert len(row) <= width

    def test_names_are_printed_as_plain_text(self):
        console = Console(width=400, record=True, file=io.StringIO())
        print_board(boards.hostile_board(), console)
        text = console.export_text()
        assert "<script>alert('x')</script>" in text
        assert "\u202e" not in text

    def test_more_groups_than_letters(self):
        console = Console(width=160, record=True, file=io.StringIO())
        board = boards.dev_board()
        many = [replace(row, group=27) if row.rank else row for row in board.rows]
        print_board(replace(board, rows=many), console)
        assert re.search(r" 1 +ELM-domain-adaptation", console.export_text())

    @pytest.mark.parametrize(
        ("values", "scale", "bars"), [([0, 0.5, 1], 1, "▁▅█"), ([0, 0], 0, "▁▁"), ([], 1, ""), ([2], 1, "█")]
    )
    def test_sparklines(self, values, scale, bars):
        assert sparkline(values, scale) == bars


class TestRoles:
    def test_roles_can_be_set_changed_and_removed(self, banditmt):
        designate(banditmt)
        assert banditmt("admin", "family", "set", "acme", "slow", "X")[1] == ("slow of acme: contestant, family X\n")
        banditmt("admin", "family", "set", "organiser", "X-static", "Y")
        assert banditmt("admin", "roles")[1].splitlines() == [
            "contestant        X           slow of acme",
            "oracle            X           X-oracle of organiser",
            "baseline          Y           X-static of organiser",
        ]
        banditmt("admin", "oracle", "unset", "organiser", "X-oracle")
        banditmt("admin", "baseline", "unmark", "organiser", "X-static")
        roles = json.loads(banditmt("admin", "roles", "--json")[1])
        assert [(role["system"], role["kind"], role["family"]) for role in roles] == [
            ("slow", "contestant", "X"),
            ("X-oracle", "contestant", "X"),
            ("X-static", "contestant", "X"),
        ]

    def test_a_role_of_a_system_that_was_never_played_comes_with_a_note(self, banditmt):
        assert banditmt("admin", "oracle", "set", "organiser", "X-oracel") == (
            0,
            "X-oracel of organiser: oracle, family X\n",
            "note: organiser has not played X-oracel yet (but X-oracle, X-static); check the name\n",
        )
        assert banditmt("admin", "baseline", "mark", "organiser", "X-static")[2] == ""
        assert banditmt("admin", "family", "set", "acme", "planned", "X")[2] == ""

    @pytest.mark.parametrize("kind", ["control", "full-information", "k-best-oracle"])
    def test_further_runs_for_comparison(self, banditmt, kind):
        assert banditmt("admin", kind, "set", "acme", "X-learner") == (
            0,
            f"X-learner of acme: {kind}, family X\n",
            "",
        )
        rows = json.loads(banditmt("leaderboard", "--phase", "dev", "--json")[1])["rows"]
        assert {row["system"]: (row["role"], row["rank"]) for row in rows}["X-learner"] == (kind, None)
        assert banditmt("admin", kind, "unset", "acme", "X-learner")[0] == 0
        assert banditmt("admin", "roles")[1] == "contestant        X           X-learner of acme\n"

    def test_our_own_systems_have_roles_by_their_names(self, banditmt, store):
        service = Service(store)
        house = tasks.participant(store, service, "banditmt")
        for system in ("X-oracle", "X-static", "X-learner"):
            tasks.play(service, house, service.open_run(house, "dev", system).run)
        assert banditmt("admin", "roles")[1].splitlines() == [
            "oracle            X           X-oracle of banditmt (by its name)",
            "baseline          X           X-static of banditmt (by its name)",
        ]
        assert [role["by_name"] for role in json.loads(banditmt("admin", "roles", "--json")[1])] == [True, True]
        assert banditmt("admin", "family", "set", "banditmt", "X-static", "Y")[1] == (
            "X-static of banditmt: baseline, family Y\n"
        )
        assert banditmt("admin", "oracle", "unset", "banditmt", "X-oracle")[0] == 0
        assert banditmt("admin", "roles")[1].splitlines() == [
            "contestant        X           X-oracle of banditmt",
            "baseline          Y           X-static of banditmt",
        ]

    @pytest.mark.parametrize(
        ("words", "code"), [(("nobody", "x"), 1), (("acme", "a b"), 2), (("acme", "x", "--family", "<>"), 2)]
    )
    def test_invalid_names_are_errors(self, banditmt, words, code):
        exit_code, out, err = banditmt("admin", "oracle", "set", *words)
        assert (exit_code, out, err.count("\n")) == (code, "", 1)

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (
                ("oracle", "unset", "acme", "never"),
                "never of acme is not marked as oracle; `banditmt admin roles` lists all roles",
            ),
            (
                ("baseline", "unmark", "organiser", "X-oracle"),
                "X-oracle of organiser is not marked as baseline; `banditmt admin roles` lists all roles",
            ),
            (
                ("oracle", "unset", "nobody", "x"),
                "there is no participant nobody; `participant list` shows all participants",
            ),
        ],
    )
    def test_only_an_existing_role_can_be_removed(self, banditmt, words, told):
        designate(banditmt)
        before = banditmt("admin", "roles")
        assert banditmt("admin", *words) == (1, "", f"banditmt: {told}\n")
        assert banditmt("admin", "roles") == before


PROVEN_AND_TRUSTED = (
    "proven, unless discrepancies are listed: scores, sums and texts belong together. Trusted: phases, participants, "
    "roles and withdrawals; 49 rounds that are linked without a ledger key; that no run, and no end of an unfinished "
    "run, was deleted at all (compare with --published); API keys, token keys, profiles and the description of the "
    "task; the clock of the service."
)


class TestRebuildAndVerify:
    def test_a_sound_store(self, banditmt, store):
        assert banditmt("admin", "rebuild") == (0, "4 runs summarised from 49 rounds\n", "")
        assert len(store.documents(documents.run_summaries("dev"))) == 4
        assert banditmt("admin", "verify") == (
            0,
            f"49 rounds of 4 runs verified, 0 discrepancies\n{PROVEN_AND_TRUSTED}\n",
            "",
        )
        verified = json.loads(banditmt("admin", "verify", "--phase", "mock", "--json")[1])
        assert verified.pop("trust").startswith("proven, unless discrepancies are listed: ")
        assert verified == {
            "runs": 0,
            "rounds": 0,
            "rounds_behind": 0,
            "withdrawn": [],
            "links": {"keyed": 0, "unkeyed": 0, "absent": 0, "foreign": 0},
            "discrepancies": [],
        }

    def test_verify_finds_a_manipulated_board_and_rebuild_repairs_it(self, banditmt, store):
        banditmt("admin", "rebuild", "--phase", "dev")
        [first, *_] = Registry(store).runs("dev")
        document = store.document(documents.run_summaries("dev"), first.id)
        store.replace(
            documents.run_summaries("dev"),
            first.id,
            {**document, "total": [*document["total"][:1], 1, *document["total"][2:]]},
        )
        code, out, _ = banditmt("admin", "verify")
        assert code == 1
        assert f"run {first.id}: the leaderboard does not match the ledger" in out
        assert json.loads(banditmt("admin", "verify", "--json")[1])["discrepancies"][0]["round"] is None
        banditmt("admin", "rebuild")
        assert banditmt("admin", "verify")[0] == 0

    def test_verify_first_brings_the_board_up_to_date(self, banditmt, store):
        assert store.documents(documents.run_summaries("dev")) == []
        assert banditmt("admin", "verify") == (
            0,
            f"49 rounds of 4 runs verified, 0 discrepancies\n{PROVEN_AND_TRUSTED}\n",
            "",
        )
        assert sorted(document["total"][0] for document in store.documents(documents.run_summaries("dev"))) == [
            7,
            14,
            14,
            14,
        ]

    def test_verify_finds_a_function_that_lags_behind_the_ledger(self, banditmt, store, monkeypatch):
        monkeypatch.setattr("simulator.cli.admin_verification.stack_region", lambda _: "eu-central-1")
        code, out, _ = banditmt("admin", "verify")
        assert (code, out.count("the leaderboard does not show its last 14 rounds; rebuild it")) == (1, 3)
        assert out.splitlines()[-2:] == [
            "49 rounds of 4 runs verified, 3 discrepancies",
            PROVEN_AND_TRUSTED,
        ]
        assert "7 rounds of runs in progress are not on the leaderboard yet" in out
        assert json.loads(banditmt("admin", "verify", "--json")[1])["rounds_behind"] == 7

    def test_verify_finds_a_run_without_a_record_and_rebuild_removes_it(self, banditmt, store):
        banditmt("admin", "rebuild")
        document = store.document(documents.run_summaries("dev"), Registry(store).runs("dev")[0].id)
        stray = {**document, "run": "b" * 26}
        store.replace(documents.run_summaries("dev"), "b" * 26, stray)
        code, out, _ = banditmt("admin", "verify")
        assert (code, out.splitlines()[0]) == (
            1,
            f"run {'b' * 26}: the leaderboard shows this run, but no participant opened it; rebuild it",
        )
        banditmt("admin", "rebuild")
        assert banditmt("admin", "verify")[0] == 0

    def test_verify_reports_a_damaged_ledger(self, banditmt, store):
        first, *_ = Registry(store).runs("dev")
        with sqlite3.connect(store.path) as raw:
            raw.execute(
                "UPDATE rounds SET statistics = x'00' FROM runs WHERE run = number AND position = 5 AND id = ?",
                (first.id,),
            )
        code, out, err = banditmt("admin", "verify")
        assert (code, err) == (1, "")
        assert f"run {first.id}, round 5: the statistics are not those of the translation" in out

    def test_a_withdrawn_run_is_verified_and_rebuilt_but_stays_off_the_board(self, banditmt, store):
        [learner] = [each for each in Registry(store).runs("dev") if each.system == "X-learner"]
        assert banditmt("admin", "run", "withdraw", learner.id, "--why", "trained on the references")[0] == 0
        assert banditmt("admin", "rebuild")[1] == "4 runs summarised from 49 rounds\n"
        assert banditmt("admin", "verify")[1].splitlines() == [
            f"withdrawn from the leaderboard, but verified like any other: {learner.id}",
            "49 rounds of 4 runs verified, 0 discrepancies",
            PROVEN_AND_TRUSTED,
        ]
        assert json.loads(banditmt("admin", "verify", "--json")[1])["withdrawn"] == [learner.id]
        code, out, err = banditmt("leaderboard", "--phase", "dev", "--json")
        assert (code, err) == (0, f"not shown: run {learner.id} was withdrawn (trained on the references)\n")
        assert {row["system"] for row in json.loads(out)["rows"]} == {"X-oracle", "X-static", "slow"}

    @pytest.mark.parametrize("command", ["rebuild", "verify"])
    def test_an_unknown_phase(self, banditmt, command):
        code, _, err = banditmt("admin", command, "--phase", "finals")
        assert (code, err) == (2, "banditmt: there is no phase finals (training, mock, dev)\n")


def test_the_page_is_exported_with_its_data(banditmt, tmp_path, monkeypatch):
    monkeypatch.setattr("leaderboard.publication.vega_bundle", lambda: b"vega")
    folder = tmp_path / "site"
    code, out, err = banditmt("leaderboard", "--phase", "dev", "--html", str(folder))
    assert (code, out) == (0, "")
    assert "index.html" in err
    assert "phase dev is open, and the page shows what the organiser sees: " in err
    assert "publish it only if everyone may see that" in err
    assert json.loads((folder / "data" / "dev.json").read_text())["phase"] == "dev"
    assert (folder / "vega.js").read_bytes() == b"vega"


def test_a_folder_that_cannot_be_written_is_a_one_line_error(banditmt, tmp_path):
    (tmp_path / "taken").write_text("")
    code, _, err = banditmt("leaderboard", "--phase", "dev", "--html", str(tmp_path / "taken"))
    assert (code, err.count("\n")) == (1, 1)
