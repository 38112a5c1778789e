"""The plainest web server there is: the files of a folder, without any headers but their type."""

from pathlib import PurePosixPath

from leaderboard.page import CONTENT_TYPES
from simulator.cloud.messages import Response


class StaticFiles:
    """An application that knows nothing about the page."""

    def __init__(self, folder):
        self._folder = folder

    def answer(self, request):
        path = self._folder / request.path.removeprefix("/")
        if not path.is_file():
            return Response(404, [], b"")
        content_type = CONTENT_TYPES.get(PurePosixPath(path.name).suffix, "application/octet-stream")
        return Response(200, [("Content-Type", content_type)], path.read_bytes())

    def admit(self, request):
        return None

    def refuse(self, refusal):
        return Response(refusal.value, [], b"")
