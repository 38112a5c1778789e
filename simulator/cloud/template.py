"""Reads ``template.yaml`` as AWS would, and extracts what a gateway needs to know.

The template is translated with AWS's own translator (as in ``sam deploy``), and its parameters, mappings and conditions
are resolved for one stage. Resources do not exist here, so references to them stay symbolic.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from simulator.cloud.throttle import Quota, Rate
from simulator.errors import TemplateError

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
REGION = "us-east-1"

PSEUDO_PARAMETERS = {
    "AWS::Region": REGION,
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::StackName": "banditmt",
    "AWS::URLSuffix": "amazonaws.com",
}
EVERYWHERE = ("*", "*")  # a method and a path, as a limit for all of them names these
NOTHING = object()  # what AWS::NoValue stands for


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """One method of one path."""

    method: str
    path: str  # with {parameters}
    function: str  # logical id
    key_required: bool
    schema: Mapping[str, Any] | None  # that a JSON body is checked against, if the template wants that
    body_required: bool


@dataclass(frozen=True, slots=True)
class Function:
    """One Lambda function."""

    name: str  # logical id
    handler: str  # module.attribute
    timeout: float
    memory: int
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """How the gateway words one of its own refusals."""

    status: int | None  # None: whatever the refusal has by nature
    headers: Mapping[str, str]
    body: str  # with $context.requestId in it

    @classmethod
    def read(cls, definition: Mapping[str, Any]) -> Self:
        status = definition.get("statusCode")
        prefix = "gatewayresponse.header."
        headers = {
            name.removeprefix(prefix): value.strip("'")  # a literal is quoted in the template
            for name, value in definition.get("responseParameters", {}).items()
        }
        return cls(int(status) if status else None, headers, definition["responseTemplates"]["application/json"])


class Template:
    """The translated template for one stage."""

    def __init__(self, document: dict[str, Any], parameters: Mapping[str, str]) -> None:
        self.source = document
        self.cloudformation = _translate(document, parameters)
        defaults = {name: value.get("Default") for name, value in document.get("Parameters", {}).items()}
        self._values = {**PSEUDO_PARAMETERS, **defaults, **parameters}

    @classmethod
    def load(cls, stage: str = "local", path: Path = TEMPLATE) -> Self:
        from samtranslator.yaml_helper import yaml_parse

        try:
            document: dict[str, Any] = yaml_parse(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise TemplateError(f"there is no {path}: run banditmt from a checkout of its repository") from None
        allowed = document["Parameters"]["Stage"]["AllowedValues"]
        if stage not in allowed:
            raise TemplateError(f"the template has no stage {stage!r}; it has {', '.join(allowed)}")
        return cls(document, {"Stage": stage})

    # what a gateway asks

    @cached_property
    def routes(self) -> list[Route]:
        """Every method of every path, in the order of their paths."""
        return sorted(self._routes(), key=lambda route: (route.path, route.method))

    def _routes(self) -> Iterator[Route]:
        body = self.api
        validators = body.get("x-amazon-apigateway-request-validators", {})
        for path, methods in body["paths"].items():
            for method, operation in methods.items():
                validator = validators.get(operation.get("x-amazon-apigateway-request-validator"), {})
                request = operation.get("requestBody", {}) if validator.get("validateRequestBody") else {}
                yield Route(
                    method=method.upper(),
                    path=path,
                    function=_function_of(operation, path),
                    key_required=any("api_key" in scheme for scheme in operation.get("security", [])),
                    schema=self._schema(request),
                    body_required=request.get("required", False),
                )

    def _schema(self, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if not request:
            return None
        reference = request["content"]["application/json"]["schema"]["$ref"]
        schema: Mapping[str, Any] = self.api["components"]["schemas"][reference.rpartition("/")[2]]
        return schema

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The functions by logical id."""
        found = {}
        for name, properties in self.resources("AWS::Lambda::Function").items():
            found[name] = Function(
                name=name,
                handler=properties["Handler"],
                timeout=float(properties["Timeout"]),
                memory=int(properties["MemorySize"]),
                environment=properties.get("Environment", {}).get("Variables", {}),
            )
        return found

    @property
    def environment(self) -> dict[str, str]:
        """What all functions find in their environment."""
        environments = [function.environment for function in self.functions.values()]
        if any(environment != environments[0] for environment in environments):
            raise TemplateError("the local cloud is one process: its functions need to share one environment")
        return dict(environments[0])

    @cached_property
    def api(self) -> dict[str, Any]:
        """The OpenAPI body of the REST API, as it would be imported into API Gateway."""
        body: dict[str, Any] = self._only("AWS::ApiGateway::RestApi")["Body"]
        return body

    @cached_property
    def compressed_from(self) -> int | None:
        """The size in bytes from which on answers are compressed for clients that can read it; None is never."""
        size = self._only("AWS::ApiGateway::RestApi").get("MinimumCompressionSize")
        return None if size is None else int(size)

    @cached_property
    def gateway_responses(self) -> dict[str, GatewayResponse]:
        definitions = self.api["x-amazon-apigateway-gateway-responses"]
        return {kind: GatewayResponse.read(definition) for kind, definition in definitions.items()}

    @property
    def stage(self) -> str:
        return str(self._only("AWS::ApiGateway::Stage")["StageName"])

    @cached_property
    def rates(self) -> dict[tuple[str, str], Rate]:
        """What everybody together may ask of a method and path that have a limit of their own, and EVERYWHERE else."""
        limits = {}
        for entry in self._only("AWS::ApiGateway::Stage")["MethodSettings"]:
            # RFC 6901: a slash within the path is written ~1; the root is one slash
            place = (entry["HttpMethod"], entry["ResourcePath"].removeprefix("/").replace("~1", "/") or "/")
            limits[place] = Rate(float(entry["ThrottlingRateLimit"]), float(entry["ThrottlingBurstLimit"]))
        unknown = set(limits) - {EVERYWHERE} - {(route.method, route.path) for route in self.routes}
        if unknown or EVERYWHERE not in limits:
            raise TemplateError(f"a throttle is for all methods (* and /*) or for one that exists: {unknown}")
        return limits

    @property
    def stage_rate(self) -> Rate:
        """What everybody together may ask of all that has no limit of its own."""
        return self.rates[EVERYWHERE]

    @property
    def own_rates(self) -> dict[tuple[str, str], Rate]:
        """What everybody together may ask of a method that has a limit of its own."""
        return {place: rate for place, rate in self.rates.items() if place != EVERYWHERE}

    @property
    def key_rate(self) -> Rate:
        """What each key may ask."""
        throttle = self._only("AWS::ApiGateway::UsagePlan")["Throttle"]
        return Rate(float(throttle["RateLimit"]), float(throttle["BurstLimit"]))

    @property
    def key_quota(self) -> Quota:
        quota = self._only("AWS::ApiGateway::UsagePlan")["Quota"]
        return Quota(int(quota["Limit"]), quota["Period"])

    # resources and the functions in them

    def resources(self, kind: str) -> dict[str, Any]:
        """The resolved properties of all resources of one type."""
        return {
            name: self.resolve(resource["Properties"])
            for name, resource in self.cloudformation["Resources"].items()
            if resource["Type"] == kind and self._exists(resource)
        }

    def _only(self, kind: str) -> Any:
        found = list(self.resources(kind).values())
        if len(found) != 1:
            raise TemplateError(f"expected one {kind} in the template, but found {len(found)}")
        return found[0]

    def _exists(self, resource: Mapping[str, Any]) -> bool:
        return "Condition" not in resource or self._condition(resource["Condition"])

    def _condition(self, name: str) -> bool:
        return bool(self.resolve(self.cloudformation["Conditions"][name]))

    def resolve(self, value: Any) -> Any:
        """The value with parameters, mappings and conditions put in; references to resources become their names."""
        if isinstance(value, list):
            return [item for item in map(self.resolve, value) if item is not NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            [(function, argument)] = value.items()
            if function == "Ref" or function.startswith("Fn::"):
                return self._call(function, argument)
        resolved = {key: self.resolve(item) for key, item in value.items()}
        return {key: item for key, item in resolved.items() if item is not NOTHING}

    def _call(self, function: str, argument: Any) -> Any:
        match function:
            case "Ref":
                return NOTHING if argument == "AWS::NoValue" else self._values.get(argument, argument)
            case "Fn::GetAtt":
                return ".".join(argument) if isinstance(argument, list) else argument
            case "Fn::FindInMap":
                table, row, column = self.resolve(argument)
                return self.cloudformation["Mappings"][table][row][column]
            case "Fn::Sub":
                return self._substitute(argument)
            case "Fn::Join":
                return str(argument[0]).join(map(str, self.resolve(argument[1])))
            case "Fn::If":
                return self.resolve(argument[1] if self._condition(argument[0]) else argument[2])
            case "Fn::Equals":
                first, second = self.resolve(argument)
                return str(first) == str(second)
            case "Fn::Not":
                return not self.resolve(argument)[0]
        raise TemplateError(f"the local cloud does not know {function}")

    def _substitute(self, argument: Any) -> str:
        text, local = argument if isinstance(argument, list) else (argument, {})
        values = {**self._values, **{name: self.resolve(value) for name, value in local.items()}}
        return re.sub(r"\$\{([A-Za-z0-9_:.]+)\}", lambda found: str(values.get(found[1], found[1])), text)


def _translate(document: dict[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    # here and not above, because they take a second to load and most commands never need them
    import boto3
    from samtranslator.model.exceptions import InvalidDocumentException
    from samtranslator.parser.parser import Parser
    from samtranslator.translator.translator import Translator

    # packaging replaces the folder by the address of its upload before the template is translated
    document["Globals"]["Function"]["CodeUri"] = "s3://packaged/bundle.zip"
    logging.getLogger("samtranslator").setLevel(logging.CRITICAL)  # it warns about the absence of its own AWS account
    session = boto3.Session(region_name=REGION)
    try:
        translated: dict[str, Any] = Translator({}, Parser(), boto_session=session).translate(
            document, dict(parameters)
        )
    except InvalidDocumentException as invalid:
        raise TemplateError("; ".join(error.message for error in invalid.causes)) from None
    return translated


def _function_of(operation: Mapping[str, Any], path: str) -> str:
    uri = operation["x-amazon-apigateway-integration"]["uri"]
    found = re.search(r"functions/([A-Za-z0-9]+)\.Arn/invocations", uri)
    if not found:
        raise TemplateError(f"{path} is not answered by a function of the template")
    return found[1]
