"""The server half of the providers' wire formats: a request body in, an answer body or event stream out."""

from __future__ import annotations

from pytest_promptfuzz.targets.serving.contract import Answer, InvalidBodyError, Model
from pytest_promptfuzz.targets.serving.router import answer_http, endpoint, error_answer

__all__ = ["Answer", "InvalidBodyError", "Model", "answer_http", "endpoint", "error_answer"]
