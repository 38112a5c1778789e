"""The ordinary values of a learner as JSON and arrays, and back, each with its type.

JSON has no tuples, no keys but text, no arrays and no random generators. Such a value becomes an object that names its
type under ``TYPE_KEY``; arrays and tensors are kept beside the JSON. Decoding runs no code from the file, unlike
unpickling: it builds only the types that are listed here.
"""

import math
import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
import numpy.typing as npt

from learners.errors import SnapshotError

TYPE_KEY = "\x00type"  # no text of a task contains control characters, so no dictionary of words has this key
ARRAY_KINDS = frozenset("biuf")  # booleans, integers, floats: never objects
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
DEFAULT_FACTORIES = {kind.__name__: kind for kind in (int, float, str, list, dict, set)}
ADVICE = (
    "keep plain values (numbers, text, lists, dicts, numpy arrays, torch tensors, random generators), "
    "or define save and load"
)

_EXACT_SCALARS = {NoneType, bool, int, str}  # a subclass, such as an enumeration, would come back as its base

Array = npt.NDArray[Any]
Json = Any


class Encoder:
    """Encodes values as JSON, and collects the arrays in them."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.plain = True  # whether all values so far are of types that JSON has
        self._names: dict[int, str] = {}  # of everything that can change, by its identity or its memory
        self._alive: list[object] = []  # keeps encoded objects, since identities of deleted ones are used again

    def encode(self, value: Any, name: str) -> Json:
        """Return a value as JSON.

        Args:
            value: Numbers, text, containers, arrays, tensors or random generators, nested in any way.
            name: What errors call the value.

        Raises:
            SnapshotError: The value, or one inside it, is not finite, has another type, or occurs twice.
        """
        kind = type(value)
        if kind in _EXACT_SCALARS:
            return value
        if kind is float:
            if not math.isfinite(value):
                raise SnapshotError(f"{name} is {value}, but a snapshot holds only finite numbers: has it diverged?")
            return value
        if isinstance(value, np.generic):
            return self._tag("number", array=self._add(np.asarray(value), name))
        if kind is tuple:
            return self._tag("tuple", items=self._items(value, name))
        self._refuse_shared_value(value, id(value), name)
        return self._container(value, name) if kind in CONTAINERS else self._other(value, name)

    def _container(self, value: Any, name: str) -> Json:
        kind = type(value)
        if kind is list:
            return self._items(value, name)
        if kind is dict and TYPE_KEY not in value and all(type(key) is str for key in value):
            return {key: self.encode(item, f"{name}[{key!r}]") for key, item in value.items()}
        if kind is set:
            return self._tag("set", items=self._items(value, name))
        if kind is deque:
            return self._tag("deque", items=self._items(value, name), maxlen=value.maxlen)
        if kind is defaultdict:
            factory = getattr(value.default_factory, "__name__", "")
            if DEFAULT_FACTORIES.get(factory) is not value.default_factory:
                raise _unsupported(name, f"defaultdict of {value.default_factory!r}")
            return self._tag("defaultdict", items=self._pairs(value, name), factory=factory)
        return self._tag(kind.__name__, items=self._pairs(value, name))

    def _other(self, value: Any, name: str) -> Json:
        kind = type(value)
        if kind is np.ndarray:
            return self._tag("array", array=self._add(value, name))
        if kind is random.Random:
            return self._tag("random", state=self.encode(value.getstate(), name))
        if kind is np.random.Generator and value.bit_generator.state["bit_generator"] in BIT_GENERATORS:
            return self._tag("generator", state=self.encode(value.bit_generator.state, name))
        if f"{kind.__module__}.{kind.__name__}" == "torch.Tensor":  # without loading torch for those who do not use it
            return self._tensor(value, name)
        raise _unsupported(name, f"{kind.__module__}.{kind.__qualname__}")

    def _tensor(self, tensor: Any, name: str) -> Json:
        if not tensor.is_leaf:
            raise SnapshotError(f"{name} is a tensor with a gradient graph, which a snapshot cannot hold: detach it")
        if tensor.numel():
            self._refuse_shared_value(tensor, tensor.untyped_storage().data_ptr(), name)
        try:
            values = tensor.detach().cpu().numpy()
        except TypeError:
            raise _unsupported(name, f"tensor of {tensor.dtype}") from None
        where, gradient = str(tensor.device), tensor.requires_grad
        return self._tag("tensor", array=self._append(values, name), device=where, requires_grad=gradient)

    def _tag(self, kind: str, **parts: Json) -> Json:
        self.plain = False
        return {TYPE_KEY: kind, **parts}

    def _items(self, values: Collection[Any], name: str) -> Json:
        if set(map(type, values)) <= _EXACT_SCALARS:  # long lists of token ids, without a look at each of them
            return list(values)
        return [self.encode(value, f"{name}[{place}]") for place, value in enumerate(values)]

    def _pairs(self, values: Mapping[Any, Any], name: str) -> Json:
        return [
            [self.encode(key, f"the key {key!r} of {name}"), self.encode(value, f"{name}[{key!r}]")]
            for key, value in values.items()
        ]

    def _add(self, array: Array, name: str) -> int:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner is not array:
            self._refuse_shared_value(owner, id(owner), name)
        return self._append(array, name)

    def _append(self, array: Array, name: str) -> int:
        check_numeric(array, name)
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _refuse_shared_value(self, value: object, identity: int, name: str) -> None:
        """Raise SnapshotError for a value that occurs twice: it would be loaded as two, which change separately."""
        if identity in self._names:
            raise SnapshotError(f"{name} and {self._names[identity]} are one object, or share memory: copy one of them")
        self._names[identity] = name
        self._alive.append(value)


def _unsupported(name: str, kind: str) -> SnapshotError:
    return SnapshotError(f"{name} is a {kind}, which a snapshot cannot hold: {ADVICE}")


def check_numeric(array: Array, name: str) -> None:
    """Raise SnapshotError if an array holds anything but numbers."""
    if array.dtype.kind not in ARRAY_KINDS:
        raise SnapshotError(f"{name} is an array of {array.dtype}, but a snapshot holds arrays of numbers only")


# Each type of container, and how to build it from its decoded items and the parts of its tag.
CONTAINERS: Mapping[type, Callable[[list[Any], Mapping[str, Json]], Any]] = {
    list: lambda items, _: items,
    tuple: lambda items, _: tuple(items),
    set: lambda items, _: set(items),
    dict: lambda items, _: dict(items),
    deque: lambda items, tag: deque(items, tag["maxlen"]),
    Counter: lambda items, _: Counter(dict(items)),
    OrderedDict: lambda items, _: OrderedDict(items),
    defaultdict: lambda items, tag: defaultdict(DEFAULT_FACTORIES[tag["factory"]], items),
}
_BUILDERS = {kind.__name__: build for kind, build in CONTAINERS.items()}


def decode(tree: Json, arrays: Sequence[Array]) -> Any:
    """Return the value that an ``Encoder`` encoded.

    Args:
        tree: What ``Encoder.encode`` returned.
        arrays: What the encoder collected.

    Raises:
        ValueError, LookupError, TypeError: No encoder made the tree.
    """
    if isinstance(tree, list):
        return [decode(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if TYPE_KEY not in tree:
        return {key: decode(item, arrays) for key, item in tree.items()}
    kind = tree[TYPE_KEY]
    if kind in _BUILDERS:
        return _BUILDERS[kind]([decode(item, arrays) for item in tree["items"]], tree)
    if kind == "number":
        return arrays[tree["array"]][()]
    if kind == "array":
        return arrays[tree["array"]]
    if kind == "tensor":
        return _tensor(arrays[tree["array"]], tree)
    if kind == "random":
        generator = random.Random()
        generator.setstate(decode(tree["state"], arrays))
        return generator
    if kind == "generator":
        return _generator(decode(tree["state"], arrays))
    raise ValueError(f"a snapshot holds no {kind}")


def _tensor(array: Array, tag: Mapping[str, Json]) -> Any:
    import torch  # takes seconds to load, and only learners that use it need it

    try:
        tensor = torch.from_numpy(array).to(tag["device"])
    except (RuntimeError, AssertionError):  # a torch without CUDA asserts
        raise SnapshotError(f"the snapshot has a tensor on {tag['device']}, which this machine lacks") from None
    return tensor.requires_grad_(tag["requires_grad"])


def _generator(state: Mapping[str, Any]) -> np.random.Generator:
    if state["bit_generator"] not in BIT_GENERATORS:
        raise ValueError(f"numpy has no bit generator {state['bit_generator']}")
    bit_generator = getattr(np.random, state["bit_generator"])()
    bit_generator.state = state
    return np.random.Generator(bit_generator)
