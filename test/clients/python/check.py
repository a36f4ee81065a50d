"""Runs every client of one file of requirements against a gateway, on both base URLs, and prints what it saw as JSON,
on the last line of standard error.

What is expected is the same for all; `npm run test:python-clients` compares it and the README.
"""

import asyncio
import json
import logging
import os
import sys
import time
import urllib.request
import uuid
import warnings

import anyio

from clients import CLIENTS, Label

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

PAUSE_MAX_SECONDS = 0.005


def without_pauses():
    """Libraries wait for seconds before they come back."""
    sleep, async_sleep, any_sleep = time.sleep, asyncio.sleep, anyio.sleep
    time.sleep = lambda seconds: sleep(min(seconds, PAUSE_MAX_SECONDS))
    asyncio.sleep = lambda seconds, *rest: async_sleep(min(seconds, PAUSE_MAX_SECONDS), *rest)
    anyio.sleep = lambda seconds: any_sleep(min(seconds, PAUSE_MAX_SECONDS))


def requests_so_far(origin):
    """How many requests the gateway got since this was asked last."""
    with urllib.request.urlopen(f"{origin}/requests") as answer:
        return int(answer.read())


def outcome(work):
    try:
        value = work()
        return value.model_dump() if isinstance(value, Label) else value
    except Exception as error:  # What a user reads of it is the point.
        return {"failed": f"{type(error).__name__}: {error}"}


def provider_calls(simulator):
    """The bodies that providers got since this was asked last."""
    with urllib.request.urlopen(f"{simulator}/calls") as answer:
        calls = json.loads(answer.read())
    urllib.request.urlopen(urllib.request.Request(f"{simulator}/calls", method="DELETE")).close()
    return [call["body"] for call in calls]


def features(client, provider):
    model = f"{provider}/echo"
    seen = {"answer": outcome(lambda: client.answer(model))}
    for name in ("stream", "tools", "schema", "streamed_schema"):
        method = getattr(client, name)
        if method is not None:
            seen[name] = outcome(lambda: method(model))
    if hasattr(client, "keyed"):
        keys = [uuid.uuid4().hex] * 2 + [uuid.uuid4().hex]
        seen["keyed"] = [outcome(lambda: client.keyed(model, key)) for key in keys]
    if client.stream is not None:
        seen["broken_stream"] = outcome(lambda: client.stream(f"{provider}/broken"))
        seen["cut_stream"] = outcome(lambda: client.stream(f"{provider}/cut"))
    return seen


def thinking(client, providers, simulator):
    """By provider: what it got while its model thought and called tools, of a whole answer and of a stream."""
    seen = {}
    for provider in providers:
        seen[provider] = []
        for stream in (False, True):
            provider_calls(simulator)
            text = outcome(lambda: client.thinking_tools(f"{provider}/thinking", stream))
            seen[provider].append({"text": text, "bodies": provider_calls(simulator)})
    return seen


def errors(open_client, origin, kinds):
    seen = []
    for kind in kinds:
        requests_so_far(origin)
        failed = outcome(lambda: open_client(kind["key"]).answer(kind["model"]))
        seen.append({"requests": requests_so_far(origin), "text": failed.get("failed") if isinstance(failed, dict) else None})
    return seen


def main():
    asked = json.loads(os.environ["GW_CLIENTS"])
    origin, kinds = asked["origin"], asked["kinds"]
    without_pauses()
    seen = {}
    for name, client in CLIENTS[sys.argv[1]].items():
        bases = {}
        for base in asked["bases"]:
            open_client = lambda key: client(f"{origin}{base}", key)
            bases[base] = {
                "features": features(open_client(asked["key"]), "acme"),
                "errors": errors(open_client, origin, kinds),
            }
        opened = open_client(asked["key"])
        reached = [*([] if name in asked["speak_responses"] else asked["translated"])]
        seen[name] = {
            "bases": bases,
            "formats": {one: outcome(lambda: opened.answer(f"formats/{one}")) for one in asked["formats"]},
            "translated": {
                one: {"features": features(opened, one), "errors": errors(open_client, origin, asked["kinds_at"][one])}
                for one in reached
            },
        }
        if hasattr(opened, "thinking_tools"):
            seen[name]["thinking"] = thinking(opened, reached, asked["simulator"])
    # One line of its own: libraries print what they like.
    print(f"\n{json.dumps(seen)}", file=sys.stderr)


main()
