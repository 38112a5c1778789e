"""A minimal web server: the files of a folder, with no headers but their type."""

from pathlib import PurePosixPath

from leaderboard.page import CONTENT_TYPES
from simulator.cloud.http_messages import HttpResponse


class StaticFiles:
    """An application that serves the files of a folder."""

    def __init__(self, folder):
        self._folder = folder

    def respond(self, request):
        path = self._folder / request.path.removeprefix("/")
        if not path.is_file():
            return HttpResponse(404, [], b"")
        content_type = CONTENT_TYPES.get(PurePosixPath(path.name).suffix, "application/octet-stream")
        return HttpResponse(200, [("Content-Type", content_type)], path.read_bytes())

    def reject_early(self, request):
        return None

    def reject(self, reason):
        return HttpResponse(reason.value, [], b"")
