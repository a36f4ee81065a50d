import { Agent, OpenAIChatCompletionsModel, OpenAIProvider, Runner, tool, type Usage } from '@openai/agents';
import OpenAI from 'openai';
import * as z from 'zod';
import {
  type ClientConnection,
  type ClientUnderTest,
  question,
  type Tokens,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

export function openaiAgents(connection: ClientConnection): ClientUnderTest {
  // The client is configured as the README shows, and sends no traces to OpenAI.
  const client = new OpenAI(connection);
  return clientOf(new Runner({ tracingDisabled: true }), (model) => new OpenAIChatCompletionsModel(client, model));
}

/** Calls Responses. */
export function openaiAgentsDefault(connection: ClientConnection): ClientUnderTest {
  const modelProvider = new OpenAIProvider({ openAIClient: new OpenAI(connection) });
  return clientOf(new Runner({ tracingDisabled: true, modelProvider }), (model) => model);
}

const tokensOf = ({ inputTokens: input, outputTokens: output }: Usage): Tokens => ({ input, output });

function clientOf(runner: Runner, modelOf: (model: string) => string | OpenAIChatCompletionsModel): ClientUnderTest {
  const agent = (model: string) => new Agent({ name: 'helper', model: modelOf(model) });
  const labelled = (model: string) =>
    new Agent({ name: 'labeller', model: modelOf(model), outputType: z.object({ label: z.string() }) });
  async function streamAgent(running: Agent, prompt: string, read: (text: string) => void = () => {}) {
    const result = await runner.run(running, prompt, { stream: true });
    for await (const text of result.toTextStream()) read(text);
    await result.completed;
    return result;
  }
  return {
    async answer(model) {
      const { finalOutput = '', rawResponses, state } = await runner.run(agent(model), question);
      const { usage } = (rawResponses[0]?.providerData ?? {}) as { usage?: { cost?: number } };
      return { text: finalOutput, cost: usage?.cost, tokens: tokensOf(state.usage) };
    },
    stream: async (model, read) => tokensOf((await streamAgent(agent(model), question, read)).state.usage),
    async tools(model, { stream = false, effort, labelled: isLabelled = false } = {}) {
      const inputs: unknown[] = [];
      const weather = tool({
        name: toolName,
        description: 'Asks about a city',
        parameters: z.object({ city: z.string() }),
        execute: async (input) => {
          inputs.push(input);
          return toolResult;
        },
      });
      const modelSettings = effort === undefined ? {} : { reasoning: { effort } };
      // The cast is safe, because the type of the output makes no difference to a run.
      const asking = ((isLabelled ? labelled(model) : agent(model)) as Agent).clone({
        tools: [weather],
        modelSettings,
      });
      const run = stream ? streamAgent(asking, toolQuestion) : runner.run(asking, toolQuestion);
      const { finalOutput = '' } = await run;
      return { text: isLabelled ? JSON.stringify(finalOutput) : String(finalOutput), inputs };
    },
    schema: async (model) => (await runner.run(labelled(model), question)).finalOutput,
    streamedSchema: async (model) => {
      const result = await runner.run(labelled(model), question, { stream: true });
      await result.completed;
      return result.finalOutput;
    },
  };
}
