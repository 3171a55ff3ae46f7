"""Anthropic Messages: the request body, made from chat messages in the OpenAI style."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.targets.formats.reading import parse_json
from pytest_promptfuzz.targets.formats.writing import parts_of, plain_messages, plain_parameters

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import Request

DEFAULT_MAX_TOKENS = 1024
"""The API insists on a limit; this one is used where the request names none."""

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
_TOOL_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def build_body(request: Request, model: str) -> dict[str, Any]:
    """The JSON body, as the SDK sends it.

    System and developer messages are lifted to ``system``, assistant tool calls become ``tool_use`` blocks,
    tool messages ``tool_result`` blocks of one user message. Parameters may carry the names of this API or
    those of chat completions (``max_completion_tokens``, ``stop``, nested ``tools``, ``tool_choice``).
    ``max_tokens`` is ``DEFAULT_MAX_TOKENS`` where nothing is said.

    Raises:
        UsageError: For a value that JSON cannot hold, or tool arguments that are not JSON.
    """
    parameters = _parameters(plain_parameters(request.parameters))
    system: list[Any] = []
    messages: list[dict[str, Any]] = []
    for message in plain_messages(request.messages):
        if message.get("role") in ("system", "developer"):
            system.append(message.get("content"))
        else:
            _append(messages, message)
    if not messages:
        msg = "The request holds system messages only, and this API needs a user message. Add one."
        raise UsageError(msg)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": DEFAULT_MAX_TOKENS,
        "messages": messages,
        **parameters,
    }
    if system:
        if "system" in body:
            msg = "The request has system messages and the parameter system=. Use one of the two."
            raise UsageError(msg)
        body["system"] = _system(system)
    return body


def _system(contents: list[Any]) -> str | list[Any]:
    if all(isinstance(each, str) for each in contents):
        return "\n\n".join(contents)
    return [part for each in contents for part in parts_of(each)]


def _append(messages: list[dict[str, Any]], message: dict[str, Any]) -> None:
    role = message.get("role")
    if role == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": message.get("tool_call_id", ""),
            "content": _content(message),
        }
        last = messages[-1] if messages else {}
        results = last.get("content")
        # Results of calls made together belong in one user message.
        if last.get("role") == "user" and isinstance(results, list) and _only_results(results):
            results.append(result)
        else:
            messages.append({"role": "user", "content": [result]})
        return
    if message.get("tool_calls"):
        texts = parts_of(message["content"]) if message.get("content") else []
        messages.append(
            {"role": role, "content": [*texts, *(_tool_use(call) for call in message["tool_calls"])]}
        )
        return
    messages.append({**message, "content": _content(message)})


def _only_results(blocks: list[Any]) -> bool:
    return bool(blocks) and all(
        isinstance(each, dict) and each.get("type") == "tool_result" for each in blocks
    )


def _content(message: dict[str, Any]) -> Any:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return [_block(part) for part in parts_of(content)]


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") != "image_url":
        return part
    image = part.get("image_url")
    url = image.get("url", "") if isinstance(image, dict) else str(image)
    found = _DATA_URL.fullmatch(url)
    if not found:
        return {"type": "image", "source": {"type": "url", "url": url}}
    return {"type": "image", "source": {"type": "base64", "media_type": found[1], "data": found[2]}}


def _tool_use(call: Any) -> dict[str, Any]:
    function = call.get("function", {}) if isinstance(call, dict) else {}
    name, arguments = function.get("name", ""), function.get("arguments") or "{}"
    try:
        value = parse_json(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        msg = f"The arguments of tool call {name!r} in the messages are not JSON: {arguments[:80]!r}."
        raise UsageError(msg) from None
    return {"type": "tool_use", "id": call.get("id", ""), "name": name, "input": value}


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    parameters = dict(given)
    for other in ("max_completion_tokens", "max_output_tokens"):
        if other in parameters:
            parameters.setdefault("max_tokens", parameters[other])
            del parameters[other]
    if "stop" in parameters:
        stop = parameters.pop("stop")
        if stop is not None:
            parameters["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if isinstance(parameters.get("tools"), list):
        parameters["tools"] = [_tool(tool) for tool in parameters["tools"]]
    choice = parameters.get("tool_choice")
    if isinstance(choice, str):
        parameters["tool_choice"] = {"type": _TOOL_CHOICES.get(choice, choice)}
    elif isinstance(choice, dict) and isinstance(choice.get("function"), dict):
        parameters["tool_choice"] = {"type": "tool", "name": choice["function"].get("name", "")}
    return parameters


def _tool(tool: Any) -> Any:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict):
        return tool
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    converted = {"name": function.get("name", ""), "input_schema": schema}
    for key in ("description", "strict"):
        if key in function:
            converted[key] = function[key]
    return converted
