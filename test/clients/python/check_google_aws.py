"""Google's and AWS's clients on models of every format: prints what they saw as JSON, on the last line of standard error.

`npm run test:python-clients` compares it with what is expected.
"""

import json
import logging
import os
import sys
import warnings

import boto3
from anthropic import AnthropicBedrock
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError
from google import genai
from google.genai import errors, types
from langchain_aws import ChatBedrockConverse
from langchain_core.messages import HumanMessage, ToolMessage
from pydantic import BaseModel

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

QUESTION, TOOL_QUESTION = "Hello", "Call the tool"


class Label(BaseModel):
    label: str


def get_weather(city: str) -> str:
    """Asks about a city."""
    return "sunny"


def failure(work, *classes):
    try:
        work()
        return None
    except classes as error:  # What a user reads of it is the point.
        return str(error)


class Google:
    """The results of tools go back without the ids of their calls."""

    def __init__(self, asked):
        options = types.HttpOptions(base_url=asked["origin"])
        self.client = genai.Client(api_key=asked["key"], http_options=options)
        self.models = self.client.models

    def answer(self, model):
        return self.models.generate_content(model=model, contents=QUESTION).text

    def stream(self, model):
        chunks = self.models.generate_content_stream(model=model, contents=QUESTION)
        return "".join(chunk.text or "" for chunk in chunks)

    def tools(self, model):
        thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=1024)
        config = types.GenerateContentConfig(tools=[get_weather], thinking_config=thinking)
        chat = self.client.chats.create(model=model, config=config)
        return [chat.send_message(TOOL_QUESTION).text, chat.send_message(QUESTION).text]

    def schema(self, model):
        config = {"response_mime_type": "application/json", "response_schema": Label}
        return self.models.generate_content(model=model, contents=QUESTION, config=config).parsed.model_dump()

    def count(self, model):
        return self.models.count_tokens(model=model, contents=QUESTION).total_tokens

    def failure(self, model):
        return failure(lambda: self.answer(model), errors.APIError)

    def broken(self, model):
        return failure(lambda: self.stream(model), errors.APIError)


class Boto:
    def __init__(self, _asked):
        # One try: a test counts what a provider was asked.
        self.runtime = boto3.client("bedrock-runtime", config=Config(retries={"total_max_attempts": 1}))

    def converse(self, model, messages, **more):
        return self.runtime.converse(modelId=model, messages=messages, inferenceConfig={"maxTokens": 3000}, **more)

    def answer(self, model):
        return self.converse(model, [user(QUESTION)])["output"]["message"]["content"][-1]["text"]

    def stream(self, model):
        events = self.runtime.converse_stream(modelId=model, messages=[user(QUESTION)])["stream"]
        deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
        return "".join(delta.get("text", "") for delta in deltas)

    def tools(self, model):
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        more = {
            "toolConfig": {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": schema}}}]},
            "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        }
        history = [user(TOOL_QUESTION)]
        message = self.converse(model, history, **more)["output"]["message"]
        calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        results = [{"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": "sunny"}]}} for call in calls]
        history += [message, {"role": "user", "content": results}]
        answer = self.converse(model, history, **more)["output"]["message"]
        last = self.converse(model, [*history, answer, user(QUESTION)], **more)["output"]["message"]
        return [answer["content"][-1]["text"], last["content"][-1]["text"]]

    def invoke(self, model):
        messages = [{"role": "user", "content": QUESTION}]
        body = json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 300, "messages": messages})
        return json.loads(self.runtime.invoke_model(modelId=model, body=body)["body"].read())["content"][-1]["text"]

    def count(self, model):
        counted = {"converse": {"messages": [user(QUESTION)]}}
        return self.runtime.count_tokens(modelId=model, input=counted)["inputTokens"]

    def failure(self, model):
        return failure(lambda: self.answer(model), ClientError)

    def broken(self, model):
        return failure(lambda: self.stream(model), EventStreamError)


def user(text):
    return {"role": "user", "content": [{"text": text}]}


class LangChain:
    """What it does not know of a model by its name is said: Claude behind an id of the catalogue."""

    def __init__(self, _asked):
        choices = ("auto", "any", "tool")
        self.chat = lambda model: ChatBedrockConverse(
            model=model, provider="anthropic", max_tokens=3000, disable_streaming=False, supports_tool_choice_values=choices
        )

    def answer(self, model):
        return self.chat(model).invoke(QUESTION).text

    def stream(self, model):
        return "".join(chunk.text for chunk in self.chat(model).stream(QUESTION))

    def tools(self, model):
        bound = self.chat(model).bind_tools([get_weather])
        history = [HumanMessage(TOOL_QUESTION)]
        first = bound.invoke(history)
        results = [ToolMessage("sunny", tool_call_id=call["id"]) for call in first.tool_calls]
        history += [first, *results]
        answer = bound.invoke(history)
        return [answer.text, bound.invoke([*history, answer, HumanMessage(QUESTION)]).text]

    def schema(self, model):
        return self.chat(model).with_structured_output(Label).invoke(QUESTION).model_dump()


class Anthropic:
    def __init__(self, asked):
        self.messages = AnthropicBedrock(
            base_url=f"{asked['tls_origin']}/bedrock", api_key=asked["key"], aws_region="us-east-1", max_retries=0
        ).messages
        self.asked = {"max_tokens": 1000, "messages": [{"role": "user", "content": QUESTION}]}

    def answer(self, model):
        return self.messages.create(model=model, **self.asked).content[-1].text

    def stream(self, model):
        with self.messages.stream(model=model, **self.asked) as stream:
            return stream.get_final_message().content[-1].text


CLIENTS = {"google-genai": Google, "boto3": Boto, "langchain-aws": LangChain, "anthropic, AnthropicBedrock": Anthropic}
ON_ECHO = ("answer", "stream", "tools", "schema", "invoke", "count")


def see(client, model_of):
    seen = {name: getattr(client, name)(model_of("echo")) for name in ON_ECHO if hasattr(client, name)}
    if hasattr(client, "broken"):
        seen["broken"] = client.broken(model_of("broken"))
        seen["limited"] = client.failure(model_of("limited"))
        seen["too_long"] = client.failure(model_of("too-long"))
    return seen


def main():
    asked = json.loads(os.environ["GW_CLIENTS"])
    seen = {}
    for name, client in CLIENTS.items():
        opened = client(asked)
        seen[name] = {
            one: see(opened, lambda behaviour: f"{one}/{'thinking' if behaviour == 'echo' else behaviour}")
            for one in asked["formats"]
        }
    google = Google(asked)
    embedded = google.models.embed_content(model="formats/embeddings", contents=["a", "b"]).embeddings
    seen["lists"] = {"models": [model.name for model in google.models.list()], "vectors": len(embedded)}
    # One line of its own: libraries print what they like.
    print(f"\n{json.dumps(seen)}", file=sys.stderr)


main()
