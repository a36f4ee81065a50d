"""Every client library for Python, in its own words. Defaults are those of the library: retries included."""

import asyncio
import json

from pydantic import BaseModel

QUESTION = "Hello"
TOOL_QUESTION = "Call the tool"


class Label(BaseModel):
    label: str


def weather(city: str) -> str:
    """Asks about a city."""
    return "sunny"


TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Asks about a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


class OpenAiSdk:
    def __init__(self, base_url, api_key):
        from openai import OpenAI

        self.completions = OpenAI(base_url=base_url, api_key=api_key).chat.completions

    def answer(self, model):
        answer = self.completions.create(model=model, messages=[{"role": "user", "content": QUESTION}])
        return answer.choices[0].message.content, answer.usage.model_extra.get("cost")

    def keyed(self, model, key):
        messages = [{"role": "user", "content": QUESTION}]
        return self.completions.create(model=model, messages=messages, extra_headers={"Idempotency-Key": key}).id

    def stream(self, model):
        messages = [{"role": "user", "content": QUESTION}]
        chunks = self.completions.create(model=model, messages=messages, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

    def tools(self, model):
        messages = [{"role": "user", "content": TOOL_QUESTION}]
        first = self.completions.create(model=model, messages=messages, tools=[TOOL]).choices[0].message
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": weather(**json.loads(call.function.arguments))}
            for call in first.tool_calls
        ]
        last = self.completions.create(model=model, messages=[*messages, first, *results], tools=[TOOL])
        return last.choices[0].message.content

    def thinking_tools(self, model, stream):
        messages = [{"role": "user", "content": TOOL_QUESTION}]
        asked = {"model": model, "tools": [TOOL], "reasoning_effort": "high"}

        def ask(messages):
            if not stream:
                return self.completions.create(messages=messages, **asked).choices[0].message
            with self.completions.stream(messages=messages, **asked) as events:
                return events.get_final_completion().choices[0].message

        # The message as it came.
        first = ask(messages)
        results = [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in first.tool_calls]
        return ask([*messages, first, *results]).content

    def schema(self, model):
        messages = [{"role": "user", "content": QUESTION}]
        return self.completions.parse(model=model, messages=messages, response_format=Label).choices[0].message.parsed

    def streamed_schema(self, model):
        messages = [{"role": "user", "content": QUESTION}]
        with self.completions.stream(model=model, messages=messages, response_format=Label) as stream:
            return stream.get_final_completion().choices[0].message.parsed


class LangChain:
    def __init__(self, base_url, api_key):
        from langchain_openai import ChatOpenAI

        self.chat = lambda model: ChatOpenAI(model=model, base_url=base_url, api_key=api_key)

    def answer(self, model):
        answer = self.chat(model).invoke(QUESTION)
        return answer.content, answer.response_metadata["token_usage"].get("cost")

    def stream(self, model):
        return "".join(chunk.content for chunk in self.chat(model).stream(QUESTION))

    def tools(self, model):
        from langchain_core.messages import HumanMessage, ToolMessage

        bound = self.chat(model).bind_tools([TOOL])
        first = bound.invoke([HumanMessage(TOOL_QUESTION)])
        results = [ToolMessage(weather(**call["args"]), tool_call_id=call["id"]) for call in first.tool_calls]
        return bound.invoke([HumanMessage(TOOL_QUESTION), first, *results]).content

    def schema(self, model):
        return self.chat(model).with_structured_output(Label, method="json_schema").invoke(QUESTION)

    def streamed_schema(self, model):
        last = None
        for part in self.chat(model).with_structured_output(Label, method="json_schema").stream(QUESTION):
            last = part
        return last


class PydanticAi:
    def __init__(self, base_url, api_key):
        from pydantic_ai import Agent, NativeOutput
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        provider = OpenAIProvider(base_url=base_url, api_key=api_key)
        self.agent = lambda model, **more: Agent(OpenAIChatModel(model, provider=provider), **more)
        self.labelled = lambda model: self.agent(model, output_type=NativeOutput(Label))

    def answer(self, model):
        return self.agent(model).run_sync(QUESTION).output, None

    async def _stream(self, agent):
        async with agent.run_stream(QUESTION) as result:
            return await result.get_output()

    def stream(self, model):
        return asyncio.run(self._stream(self.agent(model)))

    def tools(self, model):
        return self.agent(model, tools=[weather]).run_sync(TOOL_QUESTION).output

    def schema(self, model):
        return self.labelled(model).run_sync(QUESTION).output

    def streamed_schema(self, model):
        return asyncio.run(self._stream(self.labelled(model)))


class PydanticAiResponses(PydanticAi):
    def __init__(self, base_url, api_key):
        from pydantic_ai import Agent, NativeOutput
        from pydantic_ai.models.openai import OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        # The provider that the name `openai:…` means.
        provider = OpenAIProvider(base_url=base_url, api_key=api_key)
        self.agent = lambda model, **more: Agent(OpenAIResponsesModel(model, provider=provider), **more)
        self.labelled = lambda model: self.agent(model, output_type=NativeOutput(Label))


class OpenAiAgents:
    def __init__(self, base_url, api_key):
        from agents import Agent, OpenAIChatCompletionsModel, set_tracing_disabled
        from openai import AsyncOpenAI

        # As the README shows it: chat completions in place of Responses, and no traces to OpenAI.
        set_tracing_disabled(True)
        self.agent = lambda model, **more: Agent(
            name="helper",
            model=OpenAIChatCompletionsModel(model, openai_client=AsyncOpenAI(base_url=base_url, api_key=api_key)),
            **more,
        )

    def run(self, agent, question=QUESTION):
        from agents import Runner

        return asyncio.run(Runner.run(agent, question)).final_output

    async def _stream(self, agent):
        from agents import Runner

        result = Runner.run_streamed(agent, QUESTION)
        async for _event in result.stream_events():
            pass
        return result.final_output

    def answer(self, model):
        return self.run(self.agent(model)), None

    def stream(self, model):
        return asyncio.run(self._stream(self.agent(model)))

    def tools(self, model):
        from agents import function_tool

        return self.run(self.agent(model, tools=[function_tool(weather)]), TOOL_QUESTION)

    def schema(self, model):
        return self.run(self.agent(model, output_type=Label))

    def streamed_schema(self, model):
        return asyncio.run(self._stream(self.agent(model, output_type=Label)))


class OpenAiAgentsDefault(OpenAiAgents):
    def __init__(self, base_url, api_key):
        from agents import Agent, set_default_openai_client, set_tracing_disabled
        from openai import AsyncOpenAI

        set_tracing_disabled(True)

        def agent(model, **more):
            # As the README shows it; again for each run, because each has an event loop of its own here.
            set_default_openai_client(AsyncOpenAI(base_url=base_url, api_key=api_key))
            return Agent(name="helper", model=f"openai/{model}", **more)

        self.agent = agent


class LiteLlm:
    def __init__(self, base_url, api_key):
        import litellm

        litellm.suppress_debug_info = True
        litellm.telemetry = False
        # `openai/` is LiteLLM's name for "in OpenAI's form"; the rest is the model of the gateway.
        self.complete = lambda model, content, **more: litellm.completion(
            model=f"openai/{model}",
            api_base=base_url,
            api_key=api_key,
            messages=content if isinstance(content, list) else [{"role": "user", "content": content}],
            **more,
        )

    def answer(self, model):
        answer = self.complete(model, QUESTION)
        return answer.choices[0].message.content, getattr(answer.usage, "cost", None)

    def keyed(self, model, key):
        return self.complete(model, QUESTION, extra_headers={"Idempotency-Key": key}).id

    def stream(self, model):
        chunks = self.complete(model, QUESTION, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

    def tools(self, model):
        first = self.complete(model, TOOL_QUESTION, tools=[TOOL]).choices[0].message
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": weather(**json.loads(call.function.arguments))}
            for call in first.tool_calls
        ]
        messages = [{"role": "user", "content": TOOL_QUESTION}, first, *results]
        return self.complete(model, messages, tools=[TOOL]).choices[0].message.content

    def schema(self, model):
        answer = self.complete(model, QUESTION, response_format=Label)
        return Label.model_validate_json(answer.choices[0].message.content)

    def streamed_schema(self, model):
        chunks = self.complete(model, QUESTION, response_format=Label, stream=True)
        return Label.model_validate_json("".join(chunk.choices[0].delta.content or "" for chunk in chunks))


class LlamaIndex:
    def __init__(self, base_url, api_key, **more):
        from llama_index.llms.openai_like import OpenAILike

        # As the README shows it: the class for OpenAI's own models refuses names that it does not know.
        self.llm = lambda model: OpenAILike(
            model=model,
            api_base=base_url,
            api_key=api_key,
            is_chat_model=True,
            is_function_calling_model=True,
            should_use_structured_outputs=True,
            **more,
        )

    def _message(self, content=QUESTION):
        from llama_index.core.llms import ChatMessage

        return [ChatMessage(role="user", content=content)]

    def answer(self, model):
        answer = self.llm(model).chat(self._message())
        return answer.message.content, answer.raw.usage.model_extra.get("cost")

    def stream(self, model):
        return "".join(part.delta or "" for part in self.llm(model).stream_chat(self._message()))

    def tools(self, model):
        from llama_index.core.llms import ChatMessage
        from llama_index.core.tools import FunctionTool

        llm = self.llm(model)
        tool = FunctionTool.from_defaults(weather)
        question = self._message(TOOL_QUESTION)[0]
        first = llm.chat_with_tools([tool], chat_history=[question])
        results = [
            ChatMessage(
                role="tool", content=weather(**call.tool_kwargs), additional_kwargs={"tool_call_id": call.tool_id}
            )
            for call in llm.get_tool_calls_from_response(first)
        ]
        return llm.chat_with_tools([tool], chat_history=[question, first.message, *results]).message.content

    def schema(self, model):
        return self.llm(model).as_structured_llm(Label).chat(self._message()).raw

    def streamed_schema(self, model):
        last = None
        for part in self.llm(model).as_structured_llm(Label).stream_chat(self._message()):
            last = part
        return last.raw


class Instructor:
    def __init__(self, base_url, api_key):
        import instructor
        from openai import OpenAI

        self.client = instructor.from_openai(
            OpenAI(base_url=base_url, api_key=api_key), mode=instructor.Mode.JSON_SCHEMA
        )

    def answer(self, model):
        label, completion = self.client.chat.completions.create_with_completion(
            model=model, messages=[{"role": "user", "content": QUESTION}], response_model=Label
        )
        return f"Hello! {label.label}", completion.usage.model_extra.get("cost")

    def keyed(self, model, key):
        _label, completion = self.client.chat.completions.create_with_completion(
            model=model,
            messages=[{"role": "user", "content": QUESTION}],
            response_model=Label,
            extra_headers={"Idempotency-Key": key},
        )
        return completion.id

    stream = None
    tools = None

    def schema(self, model):
        messages = [{"role": "user", "content": QUESTION}]
        return self.client.chat.completions.create(model=model, messages=messages, response_model=Label)

    def streamed_schema(self, model):
        messages = [{"role": "user", "content": QUESTION}]
        last = None
        for part in self.client.chat.completions.create_partial(model=model, messages=messages, response_model=Label):
            last = part
        return last


# By the file of requirements that they share, and the names that the README gives them.
CLIENTS = {
    "openai-3": {
        "openai (Python)": OpenAiSdk,
        "langchain-openai": LangChain,
        "pydantic-ai": PydanticAi,
        "openai-agents": OpenAiAgents,
        "pydantic-ai, openai:": PydanticAiResponses,
        "openai-agents, default": OpenAiAgentsDefault,
    },
    "openai-2": {
        "openai 2 (Python)": OpenAiSdk,
        "litellm": LiteLlm,
        "llama-index": LlamaIndex,
        "llama-index, max_retries=1": lambda base_url, api_key: LlamaIndex(base_url, api_key, max_retries=1),
        "instructor": Instructor,
    },
}
