import { Agent, OpenAIChatCompletionsModel, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import * as z from 'zod';
import {
  type ClientUnderTest,
  type Connection,
  question,
  toolName,
  toolQuestion,
  toolResult,
} from './client-under-test.ts';

export function openaiAgents(connection: Connection): ClientUnderTest {
  // As the README shows it: no traces to OpenAI.
  const client = new OpenAI(connection);
  return clientOf(new Runner({ tracingDisabled: true }), (model) => new OpenAIChatCompletionsModel(client, model));
}

/** Speaks Responses. */
export function openaiAgentsDefault(connection: Connection): ClientUnderTest {
  const modelProvider = new OpenAIProvider({ openAIClient: new OpenAI(connection) });
  return clientOf(new Runner({ tracingDisabled: true, modelProvider }), (model) => model);
}

function clientOf(runner: Runner, modelOf: (model: string) => string | OpenAIChatCompletionsModel): ClientUnderTest {
  const agent = (model: string) => new Agent({ name: 'helper', model: modelOf(model) });
  const labelled = (model: string) =>
    new Agent({ name: 'labeller', model: modelOf(model), outputType: z.object({ label: z.string() }) });
  return {
    async answer(model) {
      const { finalOutput = '', rawResponses } = await runner.run(agent(model), question);
      return { text: finalOutput, cost: (rawResponses[0]?.providerData as { usage?: { cost?: number } })?.usage?.cost };
    },
    async stream(model) {
      const result = await runner.run(agent(model), question, { stream: true });
      let text = '';
      for await (const part of result.toTextStream()) text += part;
      await result.completed;
      return text;
    },
    async tools(model) {
      const asked: unknown[] = [];
      const weather = tool({
        name: toolName,
        description: 'Asks about a city',
        parameters: z.object({ city: z.string() }),
        execute: async (input) => {
          asked.push(input);
          return toolResult;
        },
      });
      const { finalOutput = '' } = await runner.run(agent(model).clone({ tools: [weather] }), toolQuestion);
      return { text: finalOutput, asked };
    },
    schema: async (model) => (await runner.run(labelled(model), question)).finalOutput,
    async streamedSchema(model) {
      const result = await runner.run(labelled(model), question, { stream: true });
      await result.completed;
      return result.finalOutput;
    },
  };
}
