"""A whole answer of each format, and a key that nothing may show."""

from __future__ import annotations

KEY = "sk-secret-0123456789abcdef"
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-5-mini-2025-08-07",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "SPAM"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
}
RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "gpt-5-mini-2025-08-07",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "SPAM", "annotations": []}],
        }
    ],
    "usage": {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
}
MESSAGES = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"type": "text", "text": "SPAM"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 12, "output_tokens": 3},
}
