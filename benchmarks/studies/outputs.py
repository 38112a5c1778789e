"""What a study has made so far, in files: the same command makes only what is missing."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learners.nmt.processor import denormals_as_zero
from task.atomic_files import write_bytes


@dataclass(frozen=True)
class Outputs:
    """Outputs of runs, and the CPU seconds that they took, in files: so an interrupted study resumes."""

    folder: Path

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what has this name; it is made the first time."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            start = time.process_time()
            with denormals_as_zero():
                made = make()
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = {"seconds": time.process_time() - start, "made": made}
            write_bytes(path, json.dumps(kept, ensure_ascii=False).encode())
            print(f"{self.folder.name}/{name}: {kept['seconds']:.0f} s", flush=True)
        return json.loads(path.read_text(encoding="utf-8"))["made"]

    def seconds(self) -> dict[str, float]:
        """Return the CPU seconds of everything that is kept, by name."""
        return {
            str(path.relative_to(self.folder).with_suffix("")): json.loads(path.read_text(encoding="utf-8"))["seconds"]
            for path in sorted(self.folder.rglob("*.json"))
        }
