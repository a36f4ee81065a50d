// Requests and answers of as many parts as they may hold: each part is looked at a few times, however many there are, and others have the
// event loop between the steps of a translation.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { describe, expect, it } from '#jest';
import type { HubApi } from '../../../shared/foundation/constants/index.ts';
import { readHubNeeds } from '../../../shared/protocol/interfaces/responses/response-hub-needs.ts';
import { addResults } from '../../../shared/routing/formats/hub/middle/index.ts';
import { sourceOf } from '../../../shared/routing/formats/hub/sources/index.ts';
import { partsAtOnceMax } from '../../../shared/routing/formats/hub/targets/answer-pieces.ts';
import { plainPrompt } from '../../../shared/routing/formats/hub/targets/plain-prompt.ts';
import { ask, completionOf, jsonAnswer, turnsOf } from './fake-send.ts';

const count = 1_000;
/** How often one of the parts is looked at: for its kind, its place, and what it says. */
const looksMax = 20;

/** Parts that count how often this member of them is read. */
function countedParts<Part extends object>(name: string, make: (index: number) => Part) {
  let reads = 0;
  const parts = Array.from({ length: count }, (_one, index) => {
    const part = make(index);
    const value = part[name as keyof Part];
    return Object.defineProperty(part, name, {
      enumerable: true,
      get() {
        reads += 1;
        return value;
      },
    });
  });
  return { parts, looks: () => reads / count };
}

describe('of very many parts each is looked at a few times only', () => {
  const named = (index: number) => ({ type: 'function', name: `f${index}` });

  it.each([
    ['that are declared', 0, 'forced_tool', count],
    ['that are not', count, 'tools', 0],
  ] as const)('where a choice allows tools %s', (_which, offset, kind, allowed) => {
    const tools = countedParts('type', named);
    const chosen = countedParts('type', (index) => named(count - 1 - index + offset));
    const body = {
      input: '?',
      tools: tools.parts,
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: chosen.parts },
    };
    expect(readHubNeeds(body)).toEqual([{ kind, member: 'tool_choice' }]);
    expect(sourceOf('responses')(body).call.tools ?? []).toHaveLength(allowed);
    expect(tools.looks()).toBeLessThan(looksMax);
    expect(chosen.looks()).toBeLessThan(looksMax);
  });

  it('where instructions stand among results', () => {
    const result = { type: 'tool-result', toolCallId: 'c', toolName: 'f', output: { type: 'text', value: 'r' } };
    const { parts, looks } = countedParts('role', (index) =>
      index % 2 === 0 ? { role: 'system', content: `${index}` } : { role: 'tool', content: [result] },
    );
    const roles = plainPrompt(parts as LanguageModelV4Prompt, false).map(({ role }) => role);
    expect(roles).toEqual([...Array(count / 2).fill('tool'), ...Array(count / 2).fill('system')]);
    expect(looks()).toBeLessThan(looksMax);
  });

  it('where results make one message: it grows, and is not written anew for each', () => {
    const prompt: LanguageModelV4Prompt = [];
    const result = {
      type: 'tool-result',
      toolCallId: 'c',
      toolName: 'f',
      output: { type: 'text', value: 'r' },
    } as const;
    const message = { role: 'tool', content: [result] } as const;
    addResults(prompt, { ...message, content: [...message.content] });
    const [first] = prompt;
    for (let more = 1; more < count; more += 1) addResults(prompt, { ...message, content: [...message.content] });
    expect(prompt).toHaveLength(1);
    expect(prompt[0]).toBe(first);
    expect(first?.content).toHaveLength(count);
    expect(message.content).toHaveLength(1);
  });
});

/** Packages of some formats have a step between what they make of a call and what they write of that. */
const steps: readonly [HubApi, number][] = [
  ['messages', 7],
  ['responses', 7],
  ['chat-completions', 7],
  ['converse', 6],
  ['generate-content', 6],
];

describe.each(steps)('a long request to a provider of %s', (api, stepsMin) => {
  it('is translated in steps, between which others have the event loop', async () => {
    const interfaceId = api === 'messages' ? 'chat-completions' : 'messages';
    const turnsWith = (characters: number) =>
      turnsOf(() => {
        const messages = [{ role: 'user', content: 'x'.repeat(characters) }];
        return ask({ api, interfaceId, body: { messages }, answer: { kind: 'failed', cause: 'status_500' } });
      });
    await turnsWith(1);
    expect((await turnsWith(300_000)) - (await turnsWith(1))).toBeGreaterThanOrEqual(stepsMin);
  });
});

it('a whole answer of Responses of very many texts is read in pieces, however many values its package would get', async () => {
  const texts = Array.from({ length: 24_000 }, (_one, index) => ({ type: 'output_text', text: `${index} ` }));
  const answer = { output: [{ type: 'message', content: texts }], usage: { input_tokens: 7, output_tokens: 1 } };
  const asked = ask({ api: 'responses', answer: jsonAnswer(answer), body: {} });
  expect(await turnsOf(() => asked)).toBeGreaterThan(texts.length / partsAtOnceMax);
  expect(completionOf((await asked).outcome).choices[0].message.content).toBe(texts.map(({ text }) => text).join(''));
});

describe('a whole answer of ten thousand calls', () => {
  const calls = 10_000;
  const each = <One>(make: (index: number) => One) => Array.from({ length: calls }, (_one, index) => make(index));
  const answers = {
    'generate-content': {
      candidates: [
        {
          content: { role: 'model', parts: each((i) => ({ functionCall: { name: 'f', args: { i } } })) },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 },
    },
    responses: {
      id: 'resp_1',
      model: 'm',
      output: each((i) => ({
        type: 'function_call',
        id: `fc_${i}`,
        call_id: `c${i}`,
        name: 'f',
        arguments: `{"i":${i}}`,
      })),
      usage: { input_tokens: 7, output_tokens: 1, total_tokens: 8 },
    },
  };

  it.each(['generate-content', 'responses'] as const)(
    'of %s is read in pieces, each in a turn of its own, and is one answer of one call: in order, with its end and its usage',
    async (api) => {
      const asked = ask({ api, answer: jsonAnswer(answers[api]), body: {} });
      const turns = await turnsOf(() => asked);
      const { outcome, sent } = await asked;
      const { choices, usage } = completionOf(outcome);
      const made: { id: string; function: { arguments: string } }[] = choices[0].message.tool_calls;
      expect(made.map((call) => JSON.parse(call.function.arguments).i)).toEqual(each((i) => i));
      expect(new Set(made.map(({ id }) => id)).size).toBe(calls);
      expect([choices[0].finish_reason, usage.prompt_tokens, sent.length]).toEqual(['tool_calls', 7, 1]);
      expect(turns).toBeGreaterThan(calls / partsAtOnceMax);
    },
  );
});
