"""Runs the client of Anthropic against a gateway, and prints what it saw as JSON, on the last line of standard error.

`npm run test:python-clients` compares it with what is expected.
"""

import json
import logging
import os
import sys
import time
import urllib.request

from anthropic import Anthropic, APIError

logging.disable(logging.CRITICAL)

PAUSE_MAX_SECONDS = 0.005
HELLO = {"max_tokens": 1000, "messages": [{"role": "user", "content": "Hello"}]}
TOOL = {
    "name": "get_weather",
    "description": "Asks about a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def without_pauses():
    """The library waits for seconds before it comes back."""
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, PAUSE_MAX_SECONDS))


def requests_so_far(origin):
    """How many requests the gateway got since this was asked last."""
    with urllib.request.urlopen(f"{origin}/requests") as answer:
        return int(answer.read())


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def described(error):
    body = error.body if isinstance(error.body, dict) else {}
    return {
        "class": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "request_id": getattr(error, "request_id", None),
        "code": body.get("error", {}).get("details", {}).get("error_code"),
        "type": body.get("error", {}).get("type"),
        "text": str(error),
    }


def failure(work):
    try:
        work()
        return None
    except APIError as error:  # What a user reads of it is the point.
        return described(error)


def message(client):
    raw = client.messages.with_raw_response.create(model="acme/echo", **HELLO)
    answer = raw.parse()
    return {"text": text_of(answer), "request_id": answer._request_id, "cost": raw.headers.get("x-gw-cost")}


def final_of(client, **asked):
    with client.messages.stream(**{**HELLO, **asked}) as stream:
        return stream.get_final_message()


def tools(client):
    """A tool after a thinking block, and its result with the block."""
    question = {"role": "user", "content": "Call the tool get_weather"}
    asked = {"model": "acme/echo", "tools": [TOOL], "thinking": {"type": "adaptive"}}
    first = final_of(client, **asked, messages=[question])
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "sunny"}
        for block in first.content
        if block.type == "tool_use"
    ]
    answered = [question, {"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    second = final_of(client, **asked, messages=answered)
    return {"blocks": [block.type for block in first.content], "text": text_of(second)}


def errors(origin, kinds):
    seen = []
    for kind in kinds:
        client = Anthropic(base_url=origin, auth_token=kind["key"], api_key=None)
        requests_so_far(origin)
        failed = failure(lambda: client.messages.create(model=kind["model"], **HELLO))
        seen.append({**(failed or {}), "requests": requests_so_far(origin)})
    return seen


def main():
    asked = json.loads(os.environ["GW_CLIENTS"])
    origin = asked["origin"]
    without_pauses()
    client = Anthropic(base_url=origin, auth_token=asked["key"], api_key=None)
    counted = {name: value for name, value in HELLO.items() if name != "max_tokens"}
    seen = {
        "message": message(client),
        "stream": text_of(final_of(client, model="acme/echo")),
        "tools": tools(client),
        "count": client.messages.count_tokens(model="acme/echo", **counted).input_tokens,
        "broken": failure(lambda: final_of(client, model="acme/broken")),
        "cut": failure(lambda: final_of(client, model="messages/cut")),
        "formats": {
            one: failure(lambda: client.messages.create(model=f"formats/{one}", **HELLO)) for one in asked["formats"]
        },
        "errors": errors(origin, asked["kinds"]),
    }
    # One line of its own: libraries print what they like.
    print(f"\n{json.dumps(seen)}", file=sys.stderr)


main()
