"""What is specific to DynamoDB: the calls that a round costs, and how errors are translated."""

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

from lambdas import errors
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import StoreAddressError, StoreError, TextSide, documents, open_store
from lambdas.store.dynamodb import FUNCTION_CONFIG, MAX_BLOCK_BYTES, DynamoDBStore
from tests.lambdas import tasks
from tests.lambdas.store.test_contract import RUN, played


def record_calls(store):
    """Return a list to which every request to DynamoDB is added from now on, as (operation, table)."""
    calls: list[tuple[str, str]] = []

    def note(params, model, **_):
        calls.append((model.name, params.get("TableName", "").rsplit("-", 1)[-1]))

    store._client.meta.events.register("provide-client-params.dynamodb.*", note)
    return calls


class TestCalls:
    """The cost of a round in a warm function is one write unit, and nothing else."""

    @pytest.fixture
    def warm(self, moto):
        tasks.load(moto)
        service = Service(moto)
        key = Registry(moto).add_participant("acme")
        player = service.authenticate(key)
        tasks.play(service, player, service.open_run(player, "dev", "warming-up").run)
        run = service.open_run(player, "dev", "copy").run
        tasks.play(service, player, run, rounds=1)
        return service, key, run, record_calls(moto)

    def test_a_round_is_one_conditional_write_and_no_read(self, warm):
        service, key, run, calls = warm
        sentence = service.sentence(service.authenticate(key), run)
        rounds = 0
        while sentence:
            calls.clear()
            player = service.authenticate(key)
            sentence = service.translate(player, run, sentence.id, sentence.source).next
            assert calls == [("PutItem", "ledger")]
            rounds += 1
        assert rounds == 13

    def test_a_round_that_shows_its_post_edit_costs_the_same(self, moto):
        tasks.load(moto, phases=tasks.MIXED_PHASES)
        service = Service(moto)
        player = service.authenticate(Registry(moto).add_participant("acme"))
        tasks.play(service, player, service.open_run(player, "mock", "warming-up").run)
        run = service.open_run(player, "mock", "copy").run
        sentence = tasks.play(service, player, run, rounds=1)[0].next
        calls = record_calls(moto)
        answer = service.translate(player, run, sentence.id, sentence.source, -1.5)
        assert answer.post_edit == tasks.reference("mock", 1)
        assert calls == [("PutItem", "ledger")]

    def test_blocks_are_read_once_each(self, moto):
        tasks.load(moto)
        service = Service(moto)
        key = Registry(moto).add_participant("acme")
        calls = record_calls(moto)
        player = service.authenticate(key)
        run = service.open_run(player, "dev", "copy").run
        tasks.play(service, player, run)
        assert calls.count(("PutItem", "ledger")) == 1 + 14
        assert calls.count(("GetItem", "references")) == 4  # ten sentences in blocks of three
        # the key, its participant, the phase (once to open the run, once for the cache), the token keys, and four
        # blocks
        assert calls.count(("GetItem", "task")) == 1 + 1 + 2 + 1 + 4
        assert calls.count(("GetItem", "ledger")) == 1  # the opening of the run
        assert calls.count(("Query", "ledger")) == 2  # the progress of the run, and the first pending sentence
        assert calls.count(("Query", "task")) == 1  # the runs of this participant
        assert calls.count(("PutItem", "task")) == 1  # a claim on the run
        assert len(calls) == 15 + 4 + 9 + 1 + 2 + 1 + 1

    def test_reading_the_progress_of_a_run_is_one_query(self, warm):
        service, key, run, calls = warm
        player = service.authenticate(key)
        calls.clear()
        service.sentence(player, run)
        service.run(player, run)
        assert calls == [("Query", "ledger")] * 2

    def test_listing_phases_again_and_again_is_one_query(self, warm):
        """The health check needs no key, so repeating it must not cost anything."""
        service, _, _, calls = warm
        for _ in range(5):
            service.phases()
        assert calls == [("Query", "task")]

    def test_a_leaderboard_is_five_queries_however_many_runs_there_are(self, moto):
        """Summaries and withdrawals of the phase, roles, teams, systems; then it is cached."""
        service, player = tasks.start_service(moto)
        for system in ("one", "two"):
            tasks.play(service, player, service.open_run(player, "mock", system).run)
        cloud, calls = Service(moto, streamed=True), record_calls(moto)
        for _ in range(5):
            cloud.leaderboard(None, "mock")
        assert calls == [("GetItem", "task"), *[("Query", "task")] * 5]

    def test_a_repeated_request_is_one_failed_write_and_one_read(self, warm):
        service, key, run, calls = warm
        player = service.authenticate(key)
        last = service.run(player, run).last
        calls.clear()
        service.translate(player, run, last.id, last.translation)
        assert calls == [("PutItem", "ledger"), ("GetItem", "ledger")]


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def refusal(code, status=400):
    response: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "PutItem")


@pytest.mark.parametrize(
    "error",
    [
        refusal("ProvisionedThroughputExceededException"),
        refusal("ThrottlingException"),
        refusal("RequestLimitExceeded"),
        refusal("InternalServerError", 500),
        refusal("ServiceUnavailable", 503),
        EndpointConnectionError(endpoint_url="http://x"),
        ConnectTimeoutError(endpoint_url="http://x"),
        ReadTimeoutError(endpoint_url="http://x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_transient_errors_become_unavailable(moto, monkeypatch, error):
    monkeypatch.setattr(moto._client, "put_item", failing(error))
    monkeypatch.setattr(moto._client, "get_item", failing(error))
    for call in (lambda: moto.append(played(0)), lambda: moto.document(documents.PHASE, "dev")):
        with pytest.raises(errors.UnavailableError) as unavailable:
            call()
        assert unavailable.value.retry_after == 1


def test_other_errors_are_not_translated(moto, monkeypatch):
    monkeypatch.setattr(moto._client, "put_item", failing(refusal("ValidationException")))
    with pytest.raises(ClientError):
        moto.append(played(0))


def test_a_write_whose_response_was_lost_is_repeated_and_recognised(moto, monkeypatch):
    """botocore repeats a write after a timeout; the second attempt fails, and the service recognises its own round."""
    service, player = tasks.start_service(moto)
    run = service.open_run(player, "mock", "copy").run
    sentence = service.sentence(player, run)
    put_item = moto._client.put_item

    def twice(**request):
        put_item(**request)
        return put_item(**request)

    monkeypatch.setattr(moto._client, "put_item", twice)
    answer = service.translate(player, run, sentence.id, "rot")
    monkeypatch.undo()
    assert service.translate(player, run, sentence.id, "rot") == answer
    assert service.run(player, run).index == 1


class TestTables:
    def test_on_aws_tables_come_from_the_template(self, moto):
        with pytest.raises(StoreError, match=r"no table other-task: deploy template\.yaml first"):
            DynamoDBStore(moto._client, "other").prepare()

    def test_a_store_that_was_never_prepared(self, moto):
        store = DynamoDBStore(moto._client, "other", may_create=True)
        with pytest.raises(StoreError, match="load a task or deploy the template"):
            store.document(documents.PHASE, "dev")
        store.prepare()
        store.prepare()
        assert store.document(documents.PHASE, "dev") is None
        assert moto.document(documents.PHASE, "dev") is None

    def test_two_processes_can_create_the_tables_at_once(self, moto):
        store = DynamoDBStore(moto._client, "other", may_create=True)
        store._create_table("other-task", "S")
        store._create_table("other-task", "S")
        assert store._exists("other-task")

    def test_references_have_their_own_table(self, moto):
        tasks.load(moto)
        everything = repr(moto._client.scan(TableName=moto._task)["Items"])
        assert moto.block(TextSide.REFERENCES, "mock", 0) is not None
        assert moto._client.scan(TableName=moto._references)["Count"] == 2 + 4 + 2
        assert "'references'" not in everything


class TestBatches:
    def test_unprocessed_items_are_sent_again(self, moto, monkeypatch):
        monkeypatch.setattr("time.sleep", lambda _: None)
        refused: list[int] = []
        write = moto._client.batch_write_item

        def reluctant(RequestItems):  # noqa: N803
            ((table, puts),) = RequestItems.items()
            if len(refused) < 3:
                refused.append(len(puts))
                write(RequestItems={table: puts[:1]})
                return {"UnprocessedItems": {table: puts[1:]}}
            return write(RequestItems=RequestItems)

        monkeypatch.setattr(moto._client, "batch_write_item", reluctant)
        moto.put_blocks(TextSide.SOURCES, "dev", [(number, b"x") for number in range(10)])
        assert refused == [10, 9, 8]
        assert all(moto.block(TextSide.SOURCES, "dev", number) == b"x" for number in range(10))

    def test_a_storage_that_processes_nothing_is_unavailable(self, moto, monkeypatch):
        monkeypatch.setattr("time.sleep", lambda _: None)
        refuse = lambda RequestItems: {"UnprocessedItems": RequestItems}  # noqa: E731, N803
        monkeypatch.setattr(moto._client, "batch_write_item", refuse)
        with pytest.raises(errors.UnavailableError, match="no more writes"):
            moto.put_blocks(TextSide.SOURCES, "dev", [(0, b"x")])

    def test_a_block_that_is_too_large_is_refused(self, moto):
        with pytest.raises(StoreError, match="smaller blocks"):
            moto.put_blocks(TextSide.SOURCES, "dev", [(0, bytes(MAX_BLOCK_BYTES + 1))])


class TestAddresses:
    def test_a_region_and_a_prefix(self):
        store = DynamoDBStore.open("eu-central-1?prefix=wmt")
        assert store._client.meta.region_name == "eu-central-1"
        assert (store._task, store._references, store._ledger) == ("wmt-task", "wmt-references", "wmt-ledger")
        assert not store._may_create

    def test_a_local_server_needs_no_credentials(self, monkeypatch):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION"):
            monkeypatch.delenv(name, raising=False)
        store = DynamoDBStore.open("http://127.0.0.1:1")
        assert store._client.meta.endpoint_url == "http://127.0.0.1:1"
        assert store._task == "banditmt-task"
        assert store._may_create
        with pytest.raises(errors.UnavailableError):
            store.document(documents.PHASE, "dev")

    def test_a_local_server_with_credentials(self, monkeypatch):
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it would still have the credentials of another test
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine")
        client: Any = DynamoDBStore.open("http://127.0.0.1:1")._client
        assert client._request_signer._credentials.access_key == "mine"

    @pytest.mark.parametrize("place", ["not a region!", "http://[", "eu-central-1?table=x", "eu-central-1?prefix"])
    def test_an_invalid_address_is_refused(self, place):
        with pytest.raises(StoreAddressError):
            open_store(f"dynamodb:{place}")

    def test_an_address_is_opened(self):
        assert isinstance(open_store("dynamodb:eu-central-1"), DynamoDBStore)


def test_a_round_survives_the_round_trip_through_the_stream(moto):
    """Each item repeats the opening of its run, so a reader of the stream needs no further read."""
    moto.open_run(RUN)
    moto.append(played(0))
    item = moto._client.get_item(TableName=moto._ledger, Key={"pk": {"S": RUN.id}, "sk": {"N": "0"}})["Item"]
    assert (item["participant"], item["phase"], item["system"]) == ({"S": "acme"}, {"S": "dev"}, {"S": "baseline"})


class TestTimeouts:
    """How long a silent storage is waited for."""

    def test_a_function_gives_up_within_its_ten_seconds(self):
        config: Any = FUNCTION_CONFIG
        tries = config.retries["total_max_attempts"]
        pauses = sum(2**earlier for earlier in range(tries - 1))  # at most, in botocore's standard mode
        assert tries * (config.connect_timeout + config.read_timeout) + pauses == 7.5

    @pytest.mark.parametrize(("function", "seconds"), [("Scoring", 1), (None, 20)])
    def test_an_organiser_has_more_time_than_a_function(self, monkeypatch, function, seconds):
        monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME", raising=False)
        if function:
            monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", function)
        store = DynamoDBStore.open("http://127.0.0.1:1")
        config: Any = store._client.meta.config
        assert config.read_timeout == seconds
        store.close()
