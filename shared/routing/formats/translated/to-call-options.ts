// A chat completion as a call of the language-model interface. What the target has no word for is left out, never guessed.
import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isRawNumber } from '../../../foundation/ids/index.ts';
import { isJsonObject } from '../../../protocol/wire/index.ts';
import { type Thinking, thinkingOf } from './thinking.ts';
import { toPrompt } from './to-prompt.ts';
import { toResponseFormat, toToolOptions } from './to-tools.ts';
import type { TranslatedApi } from './translated-api.ts';

type Body = Readonly<Record<string, unknown>>;

export interface CallTarget {
  readonly api: TranslatedApi;
  /** As the provider names it. */
  readonly model: string;
  /** Output tokens, thinking included. */
  readonly boundTokens: number;
  readonly thinking: Thinking | 'none' | undefined;
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  /** The answer is to be JSON. */
  readonly wantsJson: boolean;
}

export const toCallTarget = (body: Body, api: TranslatedApi, model: string, boundTokens: number): CallTarget => ({
  api,
  model,
  boundTokens,
  thinking: thinkingOf(body, boundTokens),
  toolChoice: toToolOptions(body).toolChoice,
  wantsJson: toResponseFormat(body.response_format, api, false).responseFormat !== undefined,
});

export function toCallOptions(
  body: Body,
  { api, model, boundTokens, thinking }: CallTarget,
): LanguageModelV4CallOptions {
  const toolOptions = toToolOptions(body);
  const hasTools = toolOptions.tools !== undefined && toolOptions.toolChoice?.type !== 'none';
  const { responseFormat, isAnyJson } = toResponseFormat(body.response_format, api, toolOptions.tools !== undefined);
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop;
  return {
    prompt: toPrompt(body.messages, { api, toolsAsText: api === 'converse' && !hasTools }),
    maxOutputTokens: boundTokens,
    ...sampling(body, api, model),
    // Written as it came: a package compares it with nothing.
    ...(isRawNumber(body.seed) ? { seed: body.seed as unknown as number } : numberMember('seed', body.seed)),
    ...(api === 'converse' ? {} : numberMember('topK', body.top_k)),
    ...(api === 'generate-content' ? penalties(body) : {}),
    ...(Array.isArray(stop) ? { stopSequences: stop.filter((one) => typeof one === 'string') } : {}),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...toolOptions,
    ...(thinking === undefined ? {} : { reasoning: thinking === 'none' ? 'none' : thinking.effort }),
    providerOptions: providerOptions(body, api, isAnyJson, thinking),
  };
}

/** Claude refuses both together. Anthropic's package knows. */
function sampling(body: Body, api: TranslatedApi, model: string) {
  const temperature = numberMember('temperature', body.temperature);
  const isOneOfThem = api === 'converse' && /anthropic|claude/.test(model) && 'temperature' in temperature;
  return { ...temperature, ...(isOneOfThem ? {} : numberMember('topP', body.top_p)) };
}

const penalties = (body: Body) => ({
  ...numberMember('frequencyPenalty', body.frequency_penalty),
  ...numberMember('presencePenalty', body.presence_penalty),
});

/** One that JavaScript would round is far beyond any of these. */
const numberMember = <Name extends string>(name: Name, value: unknown): { [name in Name]?: number } =>
  typeof value === 'number' || isRawNumber(value)
    ? ({ [name]: typeof value === 'number' ? value : Number(value.rawJSON) } as { [name in Name]?: number })
    : {};

function providerOptions(
  body: Body,
  api: TranslatedApi,
  isAnyJson: boolean,
  thinking: CallTarget['thinking'],
): SharedV4ProviderOptions {
  if (api === 'generate-content') {
    // Without it thoughts are billed, but not shown.
    const isShown = isJsonObject(thinking);
    return isShown ? { google: { thinkingConfig: { includeThoughts: true } } } : {};
  }
  const anthropic = {
    ...(body.parallel_tool_calls === false ? { disableParallelToolUse: true } : {}),
    ...(isAnyJson ? { structuredOutputMode: 'jsonTool' } : {}),
  };
  // Arguments come checked by the provider, as its own default has it; not every host of Claude knows the other way.
  return { anthropic: api === 'messages' ? { ...anthropic, toolStreaming: false } : anthropic };
}
