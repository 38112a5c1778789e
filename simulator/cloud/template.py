"""The SAM template ``template.yaml``, read as AWS reads it, with the settings that a gateway needs.

AWS's own translator (the one of ``sam deploy``) translates the template, and its parameters, mappings and conditions
are resolved for one stage. The resources do not exist here, so references to them stay symbolic.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from simulator.cloud.rate_limiter import MethodPath, QuotaSettings, ThrottleSettings
from simulator.errors import TemplateError

TEMPLATE_PATH = Path(__file__).with_name("template.yaml")  # a link to the one at the top, so that wheels have it
REGION = "us-east-1"

PSEUDO_PARAMETERS = {
    "AWS::Region": REGION,
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::StackName": "banditmt",
    "AWS::URLSuffix": "amazonaws.com",
}
ALL_METHODS = ("*", "*")  # the method and path of a setting that applies to all methods
NO_VALUE = object()  # stands for AWS::NoValue


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """One HTTP method of one path."""

    method: str
    path: str  # with {parameters}
    function: str  # logical id
    key_required: bool
    schema: Mapping[str, Any] | None  # the request model that a JSON body must match, if there is one
    body_required: bool


@dataclass(frozen=True, slots=True)
class FunctionResource:
    """One Lambda function, as the template declares it."""

    name: str  # logical id
    handler: str  # module.attribute
    timeout: float
    memory: int
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """The status, headers and body of a response that the gateway itself sends."""

    status: int | None  # None for the default status of the type of response
    headers: Mapping[str, str]
    body: str  # contains $context.requestId

    @classmethod
    def read(cls, definition: Mapping[str, Any]) -> Self:
        status = definition.get("statusCode")
        prefix = "gatewayresponse.header."
        headers = {
            name.removeprefix(prefix): value.strip("'")  # literals are quoted in the template
            for name, value in definition.get("responseParameters", {}).items()
        }
        return cls(int(status) if status else None, headers, definition["responseTemplates"]["application/json"])


class SamTemplate:
    """The template, translated to CloudFormation for one stage."""

    def __init__(self, document: dict[str, Any], parameters: Mapping[str, str]) -> None:
        self.source = document
        self.cloudformation = _translate(document, parameters)
        defaults = {name: value.get("Default") for name, value in document.get("Parameters", {}).items()}
        self._values = {**PSEUDO_PARAMETERS, **defaults, **parameters}

    @classmethod
    def load(cls, stage: str = "local", path: Path = TEMPLATE_PATH) -> Self:
        from samtranslator.yaml_helper import yaml_parse

        try:
            document: dict[str, Any] = yaml_parse(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise TemplateError(f"{path} does not exist: run banditmt from a checkout of its repository") from None
        allowed = document["Parameters"]["Stage"]["AllowedValues"]
        if stage not in allowed:
            raise TemplateError(f"the template has no stage {stage!r}; it has {', '.join(allowed)}")
        return cls(document, {"Stage": stage})

    # settings of the gateway

    @cached_property
    def routes(self) -> list[Route]:
        """All methods of all paths, ordered by path."""
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
    def functions(self) -> dict[str, FunctionResource]:
        """The functions by logical id."""
        found = {}
        for name, properties in self.resources("AWS::Lambda::Function").items():
            found[name] = FunctionResource(
                name=name,
                handler=properties["Handler"],
                timeout=float(properties["Timeout"]),
                memory=int(properties["MemorySize"]),
                environment=properties.get("Environment", {}).get("Variables", {}),
            )
        return found

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of all functions together.

        Raises:
            TemplateError: A variable has different values in two functions.
        """
        merged: dict[str, str] = {}
        for function in self.functions.values():
            for name, value in function.environment.items():
                if merged.setdefault(name, value) != value:
                    raise TemplateError(f"the local cloud is one process: give {name} the same value in all functions")
        return merged

    @cached_property
    def api(self) -> dict[str, Any]:
        """The OpenAPI body of the REST API, as API Gateway would import it."""
        body: dict[str, Any] = self._only("AWS::ApiGateway::RestApi")["Body"]
        return body

    @cached_property
    def minimum_compression_size(self) -> int | None:
        """The size in bytes from which responses are compressed for clients that accept it; None for never."""
        size = self._only("AWS::ApiGateway::RestApi").get("MinimumCompressionSize")
        return None if size is None else int(size)

    @cached_property
    def gateway_responses(self) -> dict[str, GatewayResponse]:
        """The responses that the gateway itself sends, by type, such as ``THROTTLED``."""
        definitions = self.api["x-amazon-apigateway-gateway-responses"]
        return {kind: GatewayResponse.read(definition) for kind, definition in definitions.items()}

    @property
    def stage(self) -> str:
        return str(self._only("AWS::ApiGateway::Stage")["StageName"])

    @cached_property
    def _throttles(self) -> dict[MethodPath, ThrottleSettings]:
        """The throttle settings of the stage, by method and path; those of the other methods under ``ALL_METHODS``."""
        throttles = {}
        for entry in self._only("AWS::ApiGateway::Stage")["MethodSettings"]:
            # RFC 6901: a slash in the path is written ~1; the root is one slash
            method = (entry["HttpMethod"], entry["ResourcePath"].removeprefix("/").replace("~1", "/") or "/")
            rate, burst = float(entry["ThrottlingRateLimit"]), float(entry["ThrottlingBurstLimit"])
            throttles[method] = ThrottleSettings(rate, burst)
        unknown = set(throttles) - {ALL_METHODS} - {(route.method, route.path) for route in self.routes}
        if unknown:
            raise TemplateError(f"the template throttles methods that do not exist: {unknown}")
        if ALL_METHODS not in throttles:
            raise TemplateError("the template does not throttle all methods: add MethodSettings for * and /*")
        return throttles

    @property
    def stage_throttle(self) -> ThrottleSettings:
        """The limit on all requests together to methods without settings of their own."""
        return self._throttles[ALL_METHODS]

    @property
    def method_throttles(self) -> dict[MethodPath, ThrottleSettings]:
        """The limits on all requests together to methods with settings of their own."""
        return {method: settings for method, settings in self._throttles.items() if method != ALL_METHODS}

    @property
    def rejection_throttle(self) -> ThrottleSettings:
        """The limit on requests from one address without a route or a valid key.

        API Gateway has no such setting. The limit of the strictest method that needs no key is taken.
        """
        without_key = {(route.method, route.path) for route in self.routes if not route.key_required}
        throttles = [self._throttles.get(method, self.stage_throttle) for method in without_key]
        return min(throttles, key=lambda throttle: throttle.rate, default=self.stage_throttle)

    @property
    def key_throttle(self) -> ThrottleSettings:
        """The limit on requests with one key."""
        throttle = self._only("AWS::ApiGateway::UsagePlan")["Throttle"]
        return ThrottleSettings(float(throttle["RateLimit"]), float(throttle["BurstLimit"]))

    @property
    def key_quota(self) -> QuotaSettings:
        """The quota of requests with one key."""
        quota = self._only("AWS::ApiGateway::UsagePlan")["Quota"]
        return QuotaSettings(int(quota["Limit"]), quota["Period"])

    # resources and intrinsic functions

    def resources(self, kind: str) -> dict[str, Any]:
        """Return the resolved properties of all resources of one type, by logical id."""
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
        """Return the value with its intrinsic functions resolved; references to resources become their names."""
        if isinstance(value, list):
            return [item for item in map(self.resolve, value) if item is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            [(function, argument)] = value.items()
            if function == "Ref" or function.startswith("Fn::"):
                return self._call(function, argument)
        resolved = {key: self.resolve(item) for key, item in value.items()}
        return {key: item for key, item in resolved.items() if item is not NO_VALUE}

    def _call(self, function: str, argument: Any) -> Any:
        match function:
            case "Ref":
                return NO_VALUE if argument == "AWS::NoValue" else self._values.get(argument, argument)
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
        raise TemplateError(f"the local cloud does not support {function}")

    def _substitute(self, argument: Any) -> str:
        text, local = argument if isinstance(argument, list) else (argument, {})
        values = {**self._values, **{name: self.resolve(value) for name, value in local.items()}}
        return re.sub(r"\$\{([A-Za-z0-9_:.]+)\}", lambda found: str(values.get(found[1], found[1])), text)


def _translate(document: dict[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    # imported here, because they take a second to load and most commands never need them
    import boto3
    from samtranslator.model.exceptions import InvalidDocumentException
    from samtranslator.parser.parser import Parser
    from samtranslator.translator.translator import Translator

    # `sam package` replaces the folder with the address of its upload before the template is translated
    document["Globals"]["Function"]["CodeUri"] = "s3://packaged/bundle.zip"
    logging.getLogger("samtranslator").setLevel(logging.CRITICAL)  # it warns that there is no AWS account
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
        raise TemplateError(f"{path} is not connected to a function of the template")
    return found[1]
