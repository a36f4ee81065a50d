import { describe, expect, it } from '#jest';
import type { Api } from '../../support/provider-answers.ts';
import { ask, fineAnswer, jsonAnswer, sentBody } from './fake-send.ts';

/** Sends an effort with 20,000 output tokens and returns the reasoning fields that the provider gets. */
async function effortFor(api: Api, model: string, effort: string): Promise<unknown> {
  const body = await sentBody(api, { max_tokens: 20_000, reasoning_effort: effort }, model);
  if (api === 'generate-content') return body.generationConfig?.thinkingConfig;
  if (api === 'responses') return body.reasoning?.effort;
  const { thinking, output_config, reasoning, reasoning_effort, reasoningConfig } =
    api === 'messages' ? body : (body.additionalModelRequestFields ?? {});
  const effortField = reasoning ?? reasoning_effort ?? reasoningConfig;
  return (
    effortField ?? ([thinking, output_config].every((one) => one === undefined) ? undefined : [thinking, output_config])
  );
}

/**
 * Does the same with a provider of plain chat completions, for which only clients of other interfaces are translated.
 */
async function toldToChat(model: string, effort: string): Promise<unknown> {
  const choice = { index: 0, message: { role: 'assistant', content: 'Fine.' }, finish_reason: 'stop' };
  const answer = jsonAnswer({ id: 'chat-1', object: 'chat.completion', created: 1, model, choices: [choice] });
  const body = { input: 'Hi.', max_tokens: 20_000, reasoning: { effort } };
  const { requests } = await ask({ api: 'chat-completions', interfaceId: 'responses', model, answer, body });
  return requests[0]?.body.reasoning_effort;
}

const off = [{ type: 'disabled' }, undefined];
const budget = (tokens: number) => [{ type: 'enabled', budget_tokens: tokens }, undefined];
const adaptive = (effort: string) => [{ type: 'adaptive', display: 'summarized' }, { effort }];
const least = (effort: string) => [undefined, { effort }];
const nova = (effort: string) => ({ type: 'enabled', maxReasoningEffort: effort });
const tokens = (thinkingBudget: number) => ({ thinkingBudget, includeThoughts: true });
const level = (thinkingLevel: string) => ({ thinkingLevel, includeThoughts: true });
const all = (value: unknown) => [value, value, value, value, value, value, value] as const;

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const claudes: readonly (readonly [string, readonly unknown[]])[] = [
  ['claude-3-haiku', all(undefined)],
  ['claude-sonnet-4-5', [off, ...[2_000, 4_000, 10_000, 16_000, 19_000, 19_000].map(budget)]],
  ['claude-sonnet-4-6', [off, ...['low', 'low', 'medium', 'high', 'high', 'max'].map(adaptive)]],
  ['claude-opus-4-7', [off, ...['low', 'low', 'medium', 'high', 'xhigh', 'max'].map(adaptive)]],
  ['claude-opus-5', [off, ...['low', 'low', 'medium', 'high', 'xhigh', 'max'].map(adaptive)]],
  ['claude-opus-5-5', [least('low'), ...['low', 'low', 'medium', 'high', 'xhigh', 'max'].map(adaptive)]],
  [
    'claude-sonnet-5-5',
    [[{ type: 'between_tools' }, undefined], ...['low', 'low', 'medium', 'high', 'xhigh', 'max'].map(adaptive)],
  ],
];

describe.each([
  ['gpt-5.4', ['none', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  ['gpt-5', ['minimal', 'minimal', 'low', 'medium', 'high', 'high', 'high']],
  ['openai/gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['gpt-5-chat-latest', all(undefined)],
  ['grok-4.3', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
] as const)('chat-completions: thinking of %s', (model, expected) => {
  it.each(efforts.map((effort, index) => [effort, expected[index]] as const))(
    'at the effort %s is what the model knows of it',
    async (effort, words) => {
      expect(await toldToChat(model, effort)).toEqual(words);
    },
  );
});

describe.each([
  ...claudes.map(([model, expected]) => ['messages', model, expected] as const),
  ...claudes.map(([model, expected]) => ['converse', `eu.anthropic.${model}-v1:0`, expected] as const),
  ['converse', 'openai.gpt-oss-120b-1:0', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  [
    'converse',
    'openai.gpt-5.2',
    ['none', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh'].map((effort) => ({ effort })),
  ],
  [
    'converse',
    'us.amazon.nova-2-lite-v1:0',
    [{ type: 'disabled' }, ...['low', 'low', 'medium', 'medium', 'medium', 'medium'].map(nova)],
  ],
  ['converse', 'amazon.nova-pro-v1:0', all(undefined)],
  ['converse', 'moonshotai.kimi-k3', ['low', 'low', 'low', 'low', 'high', 'high', 'max']],
  ['converse', 'moonshotai.kimi-k2.5', [off, ...[1, 2, 3, 4, 5, 6].map(() => [{ type: 'enabled' }, undefined])]],
  ['converse', 'moonshot.kimi-k2-thinking', all(undefined)],
  [
    'generate-content',
    'gemini-2.5-flash',
    [{ thinkingBudget: 0 }, ...[2_000, 4_000, 10_000, 16_000, 19_000, 19_000].map(tokens)],
  ],
  ['generate-content', 'gemini-2.5-pro', [tokens(128), ...[2_000, 4_000, 10_000, 16_000, 19_000, 19_000].map(tokens)]],
  [
    'generate-content',
    'gemini-3-pro-preview',
    [{ thinkingLevel: 'low' }, ...['low', 'low', 'medium', 'high', 'high', 'high'].map(level)],
  ],
  [
    'generate-content',
    'gemini-3.5-flash',
    [{ thinkingLevel: 'minimal' }, ...['minimal', 'low', 'medium', 'high', 'high', 'high'].map(level)],
  ],
  ['responses', 'gpt-5', ['minimal', 'minimal', 'low', 'medium', 'high', 'high', 'high']],
  ['responses', 'gpt-5.4-mini', ['none', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  ['responses', 'o4-mini', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['responses', 'gpt-5-chat-latest', all(undefined)],
  ['responses', 'grok-3-mini', ['low', 'low', 'low', 'low', 'high', 'high', 'high']],
  ['responses', 'grok-4.3-latest', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['responses', 'grok-4.5', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['responses', 'grok-4.7', ['low', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  ['responses', 'grok-4.20-multi-agent-0309', ['low', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  ['responses', 'grok-4.20-0309-reasoning', all(undefined)],
  ['responses', 'grok-4-fast-non-reasoning', all(undefined)],
  ['responses', 'grok-code-fast-1', all(undefined)],
] as const)('%s: thinking of %s', (api, model, expected) => {
  it.each(efforts.map((effort, index) => [effort, expected[index]] as const))(
    'at the effort %s is what the model knows of it',
    async (effort, words) => {
      expect(await effortFor(api, model, effort)).toEqual(words);
    },
  );
});

it.each([
  ['messages', 'claude-opus-4-6'],
  ['converse', 'anthropic.claude-opus-4-6-v1'],
] as const)('%s: a small bound turns no thinking off that has no budget', async (api, model) => {
  const body = await sentBody(api, { max_tokens: 500, reasoning_effort: 'high' }, model);
  expect(JSON.stringify(body)).toContain('"thinking":{"type":"adaptive","display":"summarized"}');
});

it('a profile of Bedrock that hides its model thinks as the catalogue names it', async () => {
  const model = 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc';
  expect(await effortFor('converse', model, 'high')).toBeUndefined();
  const body = { max_tokens: 20_000, reasoning_effort: 'high' };
  const { texts } = await ask({
    api: 'converse',
    model,
    catalogueId: 'anthropic/claude-opus-4.6',
    answer: fineAnswer('converse'),
    body,
  });
  expect(texts[0]).toContain('"output_config":{"effort":"high"}');
});
