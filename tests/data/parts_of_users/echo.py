from pytest_promptfuzz.targets.model import Request, ToolCall, Usage, WireRequest

from pytest_promptfuzz import Response, UsageError


class Echo:
    """A target that answers with a word of the prompt: ``echo:upper``."""

    def __init__(self, how):
        self.name = f"echo:{how}"
        self.change = {"upper": str.upper, "lower": str.lower}[how]

    def prepare(self, request: Request) -> WireRequest:
        messages = [dict(each) for each in request.messages]
        return WireRequest(f"promptfuzz://{self.name}/1", {"messages": messages, **request.parameters})

    def parse(self, body) -> Response:
        calls = tuple(ToolCall(each, {}) for each in body["tools"])
        return Response(body["text"], calls, Usage(1, 1), self.name, "stop")

    def send(self, request: Request):
        said = request.messages[-1]["content"].casefold()
        return {"text": self.change("parcel" if "parcel" in said else "invoice"), "tools": []}

    async def asend(self, request: Request):
        return self.send(request)


def echo(name, **options):
    if options:
        raise UsageError("echo takes no options")
    return Echo(name.partition(":")[2])
