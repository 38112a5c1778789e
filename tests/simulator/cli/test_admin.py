"""``banditmt admin``, as an organiser types it."""

import json
from types import SimpleNamespace

import pytest

from lambdas.registry import Registry, api_key_digest
from lambdas.service import Service
from lambdas.store import documents, open_store
from simulator.aws.usage_plan import UsagePlan
from simulator.cli import admin as admin_module
from simulator.cli import run
from simulator.errors import UsagePlanError
from tests.lambdas import tasks


@pytest.fixture
def address(tmp_path):
    return f"sqlite:{tmp_path / 'store.db'}"


@pytest.fixture
def store(address):
    store = open_store(address)
    tasks.load(store)
    yield store
    store.close()


@pytest.fixture
def admin(store, address, capsys):
    """Type a command; get its exit code, what it printed and what it complained."""

    def typed(*words):
        code = run(["admin", *words, "--store", address])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return typed


def as_json(result):
    code, out, err = result
    assert (code, err) == (0, "")
    return json.loads(out)


class TestParticipants:
    def test_adding_prints_the_key_once(self, admin, store):
        added = as_json(admin("participant", "add", "acme", "--json"))
        assert set(added) == {"participant", "api_key"}
        assert Service(store).authenticate(added["api_key"]).name == added["participant"] == "acme"
        listed = admin("participant", "list")
        assert "acme" in listed[1]
        assert added["api_key"] not in listed[1]

    def test_without_json_the_output_is_a_sentence(self, admin):
        code, out, _ = admin("participant", "add", "acme")
        assert code == 0
        assert out.startswith("API key of acme, shown only this once: bmt_")

    @pytest.mark.parametrize("name", ["a b", "", "<x>", "x" * 65])
    def test_an_invalid_name(self, admin, name):
        code, out, err = admin("participant", "add", name)
        assert (code, out) == (2, "")
        assert err.startswith("banditmt: the name of a participant is 1 to 64 characters")
        assert err.count("\n") == 1

    def test_a_name_that_is_taken(self, admin):
        admin("participant", "add", "acme")
        code, _, err = admin("participant", "add", "acme")
        assert code == 1
        assert "already" in err

    def test_disabling_and_enabling(self, admin, store):
        api_key = as_json(admin("participant", "add", "acme", "--json"))["api_key"]
        assert admin("participant", "disable", "acme")[0] == 0
        assert as_json(admin("participant", "list", "--json"))[0]["state"] == "disabled"
        assert admin("participant", "enable", "acme")[0] == 0
        assert Service(store).authenticate(api_key).name == "acme"

    @pytest.mark.parametrize("command", [("participant", "disable"), ("key", "rotate"), ("key", "revoke")])
    def test_a_participant_who_does_not_exist(self, admin, command):
        code, _, err = admin(*command, "nobody")
        assert code == 1
        assert "there is no participant nobody" in err


class TestProfiles:
    def test_a_team_says_who_it_is(self, admin):
        admin("participant", "add", "acme")
        code, out, _ = admin(
            "participant", "describe", "acme", "--display-name", "Ácme 研究所", "--url", "https://acme.example/mt"
        )
        assert (code, out.splitlines()) == (
            0,
            [
                "participant  acme",
                "display name Ácme 研究所",
                "affiliation  -",
                "url          https://acme.example/mt",
            ],
        )
        assert admin("participant", "describe", "acme", "--affiliation", "Uni X", "--url", "")[1].splitlines()[1:] == [
            "display name Ácme 研究所",
            "affiliation  Uni X",
            "url          -",
        ]
        assert as_json(admin("participant", "list", "--json"))[0]["display_name"] == "Ácme 研究所"

    def test_a_system_is_described(self, admin):
        admin("participant", "add", "acme")
        code, out, _ = admin("system", "describe", "acme", "el", "--description", "expected loss")
        assert (code, out.splitlines()) == (
            0,
            ["participant  acme", "system       el", "description  expected loss", "link         -"],
        )

    def test_the_consistency_of_a_system_is_measured(self, admin, tmp_path):
        admin("participant", "add", "acme")
        groups = [{"src": "a _eos b", "dst": ["x _eos y", "x _eos z"], "true_ind": place} for place in (0, 1)]
        for name in ("deixis_dev", "deixis_test"):
            (tmp_path / f"{name}.json").write_text(json.dumps(groups))
        (tmp_path / "losses").write_text("1\n2\n1\n2\n")
        words = ("system", "consistency", "acme", "el", "--set", str(tmp_path), "--scores", str(tmp_path / "losses"))
        code, out, _ = admin(*words)
        assert (code, out.splitlines()[-1]) == (0, "consistency  deixis_test 50.0")
        only_dev = (*words[:5], str(tmp_path / "deixis_dev.json"), *words[6:])
        assert "are for development (_dev): give a test set" in admin(*only_dev)[2]
        assert "give one of --scores, --program and --model" in admin(*words[:6])[2]

    @pytest.mark.parametrize(
        ("words", "code", "told"),
        [
            (("participant", "describe", "nobody", "--url", "https://x.example"), 1, "there is no participant nobody"),
            (("system", "describe", "nobody", "x"), 1, "there is no participant nobody"),
            (("system", "describe", "acme", "a b"), 2, "the name of a system is"),
            (("participant", "describe", "acme", "--url", "javascript:alert(1)"), 2, "the URL is not an address"),
            (("participant", "describe", "acme", "--display-name", "two\nlines"), 2, "the display name is one line"),
            (("system", "describe", "acme", "x", "--description", "x" * 501), 2, "has 501 characters, but at most 500"),
        ],
    )
    def test_what_is_refused(self, admin, words, code, told):
        admin("participant", "add", "acme")
        exit_code, out, err = admin(*words)
        assert (exit_code, out) == (code, "")
        assert told in err
        assert err.count("\n") == 1


class TestKeys:
    def test_rotating_revokes_the_old_key(self, admin, store):
        old = as_json(admin("participant", "add", "acme", "--json"))["api_key"]
        new = as_json(admin("key", "rotate", "acme", "--json"))["api_key"]
        assert Service(store).authenticate(new).name == "acme"
        assert self.valid(store, old, new) == [new]

    def test_the_old_key_can_be_kept(self, admin, store):
        old = as_json(admin("participant", "add", "acme", "--json"))["api_key"]
        new = as_json(admin("key", "rotate", "acme", "--json", "--keep-old"))["api_key"]
        assert self.valid(store, old, new) == [old, new]
        first, _ = as_json(admin("participant", "list", "--json"))[0]["keys"]
        assert admin("key", "revoke", "acme", "--key", first)[0] == 0
        assert len(self.valid(store, old, new)) == 1

    def test_revoking_all(self, admin, store):
        key = as_json(admin("participant", "add", "acme", "--json"))["api_key"]
        code, out, _ = admin("key", "revoke", "acme")
        assert (code, out.split()[0]) == (0, "1")
        assert self.valid(store, key) == []

    def test_revoking_an_unknown_key(self, admin):
        admin("participant", "add", "acme")
        code, _, err = admin("key", "revoke", "acme", "--key", "ffffffffff")
        assert code == 1
        assert "acme has no key ffffffffff" in err

    @pytest.mark.parametrize("prefix", ["", "1"])
    def test_revoking_an_ambiguous_key(self, admin, store, prefix):
        admin("participant", "add", "acme")
        for digest in ("1a" * 32, "1b" * 32):
            store.replace(
                documents.API_KEY, digest, {"digest": digest, "participant": "acme", "created_at": 1, "revoked": False}
            )
        code, _, err = admin("key", "revoke", "acme", "--key", prefix)
        assert code == 1
        assert "name one" in err
        assert len([kept for kept in Registry(store).keys("acme") if not kept.revoked]) == 3
        assert admin("key", "revoke", "acme", "--key", "1a1a1a1a")[0] == 0

    def valid(self, store, *keys):
        registry = Registry(store)
        digests = {kept.digest for kept in registry.keys("acme") if not kept.revoked}
        return [key for key in keys if api_key_digest(key) in digests]


class TestUsagePlan:
    """On AWS, every key has to be registered with API Gateway, too."""

    @pytest.fixture
    def calls(self):
        """The calls of API Gateway."""
        return []

    @pytest.fixture
    def plan(self, calls):
        return SimpleNamespace(
            add_key=lambda name, api_key: calls.append(("add_key", name, (api_key_digest(api_key) or "")[:8])),
            remove_keys=lambda name, short=None: calls.append(("remove_keys", name, short)),
        )

    @pytest.fixture
    def cloud(self, store, calls, plan, monkeypatch, capsys):
        """A function that runs a command on a stack; returns its exit code, the calls of API Gateway and its errors."""
        monkeypatch.setattr(admin_module, "open_existing_store", lambda address: store)

        def open_plan(plan_id, region):
            calls.append((plan_id, region))
            return plan

        monkeypatch.setattr(UsagePlan, "open", open_plan)

        def typed(*words, address="dynamodb:eu-central-1?prefix=task"):
            calls.clear()
            code = run(["admin", *words, "--store", address, "--usage-plan", "plan1"])
            return code, list(calls), capsys.readouterr().err

        return typed

    def keys(self, store, name="ada"):
        return {kept.short_digest for kept in Registry(store).keys(name) if not kept.revoked}

    def test_adding_a_participant_adds_the_key(self, cloud, store):
        code, calls, _ = cloud("participant", "add", "ada")
        assert (code, calls) == (0, [("plan1", "eu-central-1"), ("add_key", "ada", *self.keys(store))])

    def test_rotating_adds_the_new_key_and_then_removes_the_old_one(self, cloud, store):
        cloud("participant", "add", "ada")
        (old,) = self.keys(store)
        _, calls, _ = cloud("key", "rotate", "ada")
        assert calls[1:] == [("add_key", "ada", *self.keys(store)), ("remove_keys", "ada", old)]

    def test_the_old_key_stays_valid_if_api_gateway_refuses_the_new_one(self, cloud, store, plan):
        cloud("participant", "add", "ada")
        (old,) = self.keys(store)

        def refuse(name, api_key):
            raise UsagePlanError("API Gateway did not accept the key of ada")

        plan.add_key = refuse
        code, calls, err = cloud("key", "rotate", "ada")
        assert (code, calls[1:], "did not accept" in err) == (1, [], True)
        assert old in self.keys(store)

    def test_revoking_one_key_removes_only_that_one(self, cloud, store):
        cloud("participant", "add", "ada")
        cloud("key", "rotate", "ada", "--keep-old")
        one, _ = self.keys(store)
        assert cloud("key", "revoke", "ada", "--key", one)[1][1:] == [("remove_keys", "ada", one)]
        code, calls, _ = cloud("key", "revoke", "ada", "--key", one)  # again, as after a failure of API Gateway
        assert (code, calls[1:]) == (1, [("remove_keys", "ada", one)])

    def test_an_empty_key_removes_nothing(self, cloud, store):
        cloud("participant", "add", "ada")
        assert cloud("key", "revoke", "ada", "--key", "")[:2] == (1, [("plan1", "eu-central-1")])
        assert len(self.keys(store)) == 1

    def test_revoking_removes_all_keys(self, cloud):
        cloud("participant", "add", "ada")
        assert cloud("key", "revoke", "ada")[1][1:] == [("remove_keys", "ada", None)]

    def test_erasing_removes_the_keys_even_at_the_second_attempt(self, cloud, store, plan, monkeypatch):
        monkeypatch.setattr("lambdas.erasure.SETTLING_SECONDS", 0.0)
        cloud("participant", "add", "ada")
        assert cloud("participant", "erase", "ada")[:2] == (1, [("plan1", "eu-central-1")])  # not disabled yet
        Registry(store).set_disabled("ada", True)
        remove_keys = plan.remove_keys

        def refuse(name, prefix=None):
            raise UsagePlanError("API Gateway did not remove the keys of ada")

        plan.remove_keys = refuse
        assert cloud("participant", "erase", "ada")[0] == 1
        plan.remove_keys = remove_keys
        assert cloud("participant", "erase", "ada")[:2] == (
            0,
            [("plan1", "eu-central-1"), ("remove_keys", "ada", None)],
        )
        assert [who.name for who in Registry(store).participants()] == ["erased-1"]

    def test_a_plan_without_its_stack_is_refused_before_anything_happens(self, cloud, store):
        code, calls, err = cloud("participant", "add", "ada", address="dynamodb:http://127.0.0.1:8000")
        assert (code, calls, Registry(store).participant("ada")) == (1, [], None)
        assert "a usage plan needs the store of its stack" in err


class TestPhases:
    def test_opening_freezing_closing(self, admin):
        for command, state in (("close", "closed"), ("freeze", "frozen"), ("open", "open")):
            code, out, _ = admin("phase", command, "dev")
            assert code == 0
            assert f"phase dev is {state}" in out
            states = {row["phase"]: row["state"] for row in as_json(admin("phase", "list", "--json"))}
            assert states == {"training": "open", "mock": "open", "dev": state}

    def test_the_budget_of_runs(self, admin, store):
        assert "may open 7 runs" in admin("phase", "open", "dev", "--runs", "7")[1]
        record = Registry(store).phase("dev")
        assert record is not None
        assert record.runs == 7
        assert admin("phase", "open", "dev", "--runs", "-1")[0] == 2

    @pytest.mark.parametrize("words", [("close",), ("schedule", "--opens", "2027-01-01T00:00Z")])
    def test_a_phase_that_does_not_exist(self, admin, words):
        code, _, err = admin("phase", words[0], "test", *words[1:])
        assert (code, err) == (2, "banditmt: there is no phase test (training, mock, dev)\n")

    def test_scheduling(self, admin):
        times = ("--opens", "2127-03-01T12:00+01:00", "--closes", "2127-04-01T00:00:00Z")
        assert admin("phase", "schedule", "dev", *times) == (
            0,
            "phase dev is closed now; it opens at 2127-03-01T11:00:00Z and closes at 2127-04-01T00:00:00Z\n",
            "",
        )
        rows = {row["phase"]: row for row in as_json(admin("phase", "list", "--json"))}
        assert [rows["dev"][name] for name in ("state", "set_by", "opens_at", "closes_at")] == [
            "closed",
            "schedule",
            "2127-03-01T11:00:00Z",
            "2127-04-01T00:00:00Z",
        ]
        assert [rows["mock"][name] for name in ("state", "set_by", "opens_at", "closes_at")] == [
            "open",
            "hand",
            None,
            None,
        ]

    def test_one_time_is_enough(self, admin):
        assert admin("phase", "schedule", "dev", "--closes", "2127-04-01T00:00:00Z")[1] == (
            "phase dev is open now; it closes at 2127-04-01T00:00:00Z\n"
        )

    @pytest.mark.parametrize(("command", "state"), [("open", "open"), ("freeze", "frozen"), ("close", "closed")])
    def test_setting_the_state_by_hand_says_that_it_overrides_the_schedule(self, admin, command, state):
        admin("phase", "schedule", "dev", "--closes", "2127-04-01T00:00:00Z")
        assert admin("phase", command, "dev")[1].splitlines() == [
            f"phase dev is {state}; each participant may open 1,000 runs",
            "this overrides its schedule, which no longer counts; `admin phase schedule` sets a new one",
        ]
        assert len(admin("phase", command, "dev")[1].splitlines()) == 1

    @pytest.mark.parametrize(
        ("words", "code", "told"),
        [
            ((), 2, "give --opens, --closes or both"),
            (("--opens", "tomorrow"), 2, "not a time in ISO 8601: 'tomorrow'"),
            (("--opens", "2027-03-01T12:00"), 2, "has no time zone"),
            (
                ("--opens", "2027-03-01T12:00Z", "--closes", "2027-03-01T12:00Z"),
                1,
                "phase dev would close before it opens",
            ),
        ],
    )
    def test_a_schedule_that_is_refused(self, admin, words, code, told):
        exit_code, out, err = admin("phase", "schedule", "dev", *words)
        assert (exit_code, out) == (code, "")
        assert told in err
        assert err.count("\n") == 1
        assert as_json(admin("phase", "list", "--json"))[2]["set_by"] == "hand"


class TestRuns:
    @pytest.fixture
    def played(self, store):
        service = Service(store)
        player = tasks.participant(store, service)
        other = tasks.participant(store, service, "other")
        run_id = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run_id, rounds=2)
        service.open_run(other, "dev", "copy")
        return service.run(player, run_id)

    def test_listing(self, admin, played):
        rows = as_json(admin("run", "list", "--json"))
        assert [(row["participant"], row["phase"], row["rounds"], row["total"]) for row in rows] == [
            ("acme", "mock", 2, 5),
            ("other", "dev", 0, 14),
        ]
        assert rows[0]["reward"] == played.cumulative_reward
        assert [row["phase"] for row in as_json(admin("run", "list", "--json", "--phase", "dev"))] == ["dev"]
        assert [row["participant"] for row in as_json(admin("run", "list", "--json", "--participant", "acme"))] == [
            "acme"
        ]
        assert played.run[:10] in admin("run", "list")[1]

    @pytest.mark.parametrize(
        ("words", "code", "error"),
        [
            (("--phase", "nope"), 2, "there is no phase nope (training, mock, dev)"),
            (("--participant", "x"), 1, "there is no participant x; `participant list` shows all participants"),
        ],
    )
    def test_listing_runs_of_an_unknown_phase_or_participant(self, admin, words, code, error):
        assert admin("run", "list", *words) == (code, "", f"banditmt: {error}\n")

    def test_showing(self, admin, played):
        assert as_json(admin("run", "show", played.run, "--json"))["rounds"] == 2
        code, out, _ = admin("run", "show", played.run)
        assert code == 0
        assert "system       copy" in out

    def test_a_run_that_does_not_exist(self, admin):
        code, _, err = admin("run", "show", "x")
        assert code == 1
        assert "there is no run x" in err

    def test_withdrawing_and_restoring(self, admin, played):
        assert admin("run", "withdraw", played.run, "--why", "wrong model")[1] == (
            f"run {played.run} (copy of acme) is off the leaderboard of mock\n"
        )
        assert [row["withdrawn"] for row in as_json(admin("run", "list", "--json"))] == ["wrong model", None]
        assert "wrong model" in admin("run", "show", played.run)[1]
        assert admin("run", "restore", played.run, "--why", "it was right after all")[1] == (
            f"run {played.run} (copy of acme) is back on the leaderboard of mock\n"
        )
        assert [row["withdrawn"] for row in as_json(admin("run", "list", "--json"))] == [None, None]

    def test_a_decision_needs_a_run_a_reason_and_a_change(self, admin, played):
        assert admin("run", "withdraw", played.run)[0] == 2
        assert admin("run", "withdraw", "x", "--why", "?")[2] == (
            "banditmt: there is no run x; `run list` shows all runs\n"
        )
        assert admin("run", "restore", played.run, "--why", "?")[2] == (
            f"banditmt: run {played.run} is not withdrawn\n"
        )


class TestTokens:
    def test_rotating_and_voiding(self, admin, store):
        assert "runs in progress keep their key" in admin("tokens", "rotate")[1]
        assert set(Registry(store).key_ring().secrets) == {1, 2}
        assert "must ask for their sentence again" in admin("tokens", "rotate", "--void")[1]
        assert set(Registry(store).key_ring().secrets) == {3}


class TestStores:
    def test_a_store_that_does_not_exist_is_not_created(self, tmp_path, capsys):
        assert run(["admin", "participant", "list", "--store", f"sqlite:{tmp_path / 'typo.db'}"]) == 1
        assert "there is no store at" in capsys.readouterr().err
        assert not (tmp_path / "typo.db").exists()

    def test_an_invalid_address(self, capsys):
        assert run(["admin", "participant", "list", "--store", "mysql:x"]) == 2
        assert "a store is sqlite:PATH or dynamodb:REGION-OR-URL" in capsys.readouterr().err

    def test_the_environment_names_the_store(self, store, address, monkeypatch, capsys):
        monkeypatch.setenv("BANDITMT_STORE", address)
        assert run(["admin", "phase", "list", "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)) == 3
