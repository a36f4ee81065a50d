// Chat completions, at OpenAI as at the many providers and servers that are like it.
import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import {
  byAnyEffort,
  canBeKeptFromThinking,
  isOpenAiThinker,
  thinksUnasked,
  thinksWithToolsOnResponsesOnly,
} from '../../../../configuration/catalogue/index.ts';
import { openAiStopsMax } from '../../../../foundation/constants/index.ts';
import type { HubCall } from '../../../../protocol/hub/index.ts';
import { readUsageReport } from '../../../../protocol/interfaces/chat-completions/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';
import { ruledMessages } from '../../target-rules/index.ts';
import { atMost, nonEmpty, read } from './body-members.ts';
import { chatEvents, readableCompletion } from './chat-answers.ts';
import { markedCall, markWord, withChatMarks } from './chat-marks.ts';
import type { HubTarget, TargetCall } from './hub-target.ts';
import { callOptions, isStrictFormat, withJsonWord, withOwnSchemas } from './json-format.ts';
import { knowsMarks, openAiCacheOptions } from './openai-cache-marks.ts';
import { openAiUsageIn } from './openai-usage.ts';
import { carriedNames, chatFieldsOf, joinFields, knowsVerbosity, openAiFields } from './optional-fields.ts';
import { plainPrompt } from './plain-prompt.ts';
import { packageName, watchThinking } from './plain-thinking.ts';
import { openAiStrictness } from './strict-schemas.ts';

export const target: HubTarget = {
  openModel({ knownAs, baseURL, fetch, nextStep }) {
    const thinking = watchThinking();
    return thinking.marked(
      new OpenAICompatibleChatLanguageModel(knownAs, {
        provider: packageName,
        url: ({ path }) => baseURL + path,
        headers: () => nextStep().then(() => ({})),
        fetch,
        supportsStructuredOutputs: true,
        metadataExtractor: thinking.extractor,
      }),
    );
  },
  toOptions(target) {
    const call = withJsonWord(markedCall(target));
    const { tools, ...options } = callOptions({ ...target, call: withOwnSchemas(call) });
    return {
      ...options,
      prompt: withChatMarks(
        plainPrompt(call.prompt, isPlain(target), target.rules.thinkingIn === 'parts'),
        markWord(target, isOpenAi(target)),
      ),
      ...(tools === undefined ? {} : { tools: tools.map(withoutLooseness) }),
      providerOptions: { [packageName]: { strictJsonSchema: isStrictFormat(call) } },
    } as LanguageModelV4CallOptions;
  },
  boundBody(body, target) {
    const { call, provider } = target;
    const boundName = isOpenAi(target) ? 'max_completion_tokens' : 'max_tokens';
    const isStream = read(body, 'stream') === true && provider.stream_usage !== false;
    return {
      max_tokens: undefined,
      [boundName]: atMost(read(body, 'max_tokens'), target.boundTokens),
      ...(isStream ? { stream_options: { include_usage: true } } : {}),
      ...(call.parallelToolCalls === undefined || call.tools === undefined
        ? {}
        : { parallel_tool_calls: call.parallelToolCalls }),
      ...(unsupportedStops(target).length === 0 ? {} : { stop: undefined }),
      ...(thinksAtOpenAi(target) ? { temperature: undefined, top_p: undefined } : {}),
      ...joinFields(reportedWords(target)),
      ...cacheOptionsOf(target),
      ...verbosityOf(target),
      ...thinkingOptions(target),
    };
  },
  rewritten(body, { rules }) {
    const ruled = ruledMessages(body, rules);
    return ruled === undefined ? [] : [[ruled.value, ruled.text]];
  },
  // Many servers refuse an unknown field, so a style in the file means that they know it.
  unknownReasoning: ({ reasoning_style: style }) => (style === undefined ? undefined : byAnyEffort),
  says: (target) =>
    new Set([
      ...carriedNames(reportedWords(target)),
      'image_detail',
      ...(markWord(target, isOpenAi(target)) === undefined ? [] : (['cache_marks', 'cache_options'] as const)),
    ]),
  strictness: openAiStrictness,
  leavesOut: (target) => (isKeptFromThinking(target) ? effortOf(target) : []),
  streamType: 'text/event-stream',
  readStream: chatEvents,
  readable: [readableCompletion],
  usageIn: (text) => openAiUsageIn(text, readUsageReport),
  unsupportedStops,
  originOf: ({ model, provider }) => `chat-completions-v1:${provider.id}:${model}`,
  readSigned: ({ [packageName]: google = {}, gw = {} } = {}) => ({
    // Gemini signs its calls here too.
    ...nonEmpty('signature', gw.signature ?? google.thoughtSignature),
  }),
  signedOptions(part, { signature }) {
    // Its thinking is not signed: its origin alone identifies the readers.
    if (part === 'reasoning') return { [packageName]: { reasoningMember: signature ?? 'reasoning_content' } };
    return signature === undefined || part !== 'tool-call' ? undefined : { google: { thoughtSignature: signature } };
  },
};

type Tool = NonNullable<HubCall['tools']>[number];

/** The default need not be sent, and not every provider knows the field. */
function withoutLooseness(tool: Tool): Tool {
  if (tool.type !== 'function' || tool.strict === true) return tool;
  const { strict: _loose, ...rest } = tool;
  return rest;
}

/** OpenAI and Microsoft, whose options and refusals are known. */
const isOpenAi = ({ provider, openAiNames }: TargetCall): boolean =>
  provider.kind === 'openai' || provider.kind === 'azure' || isOpenAiThinker(...openAiNames);

/** Options about user and storage. */
function reportedWords(target: TargetCall): ReturnType<typeof openAiFields> {
  const { call, provider } = target;
  if (isOpenAi(target)) {
    const { metadata, ...words } = openAiFields(call);
    // Accepted only with storage.
    return metadata === undefined || words.store === undefined ? words : { ...words, metadata };
  }
  return chatFieldsOf(provider.kind, call);
}

/** To others their marks say it. */
function cacheOptionsOf(target: TargetCall): JsonObject {
  const cacheOptions = target.call.optional.find(({ name }) => name === 'cache_options')?.value;
  const isKnown = isOpenAi(target) && knowsMarks(target.openAiNames);
  return isKnown && isJsonObject(cacheOptions) ? { prompt_cache_options: openAiCacheOptions(cacheOptions) } : {};
}

function verbosityOf({ call, openAiNames }: TargetCall): JsonObject {
  const verbosity = call.optional.find(({ name, value }) => name === 'verbosity' && typeof value === 'string');
  return verbosity !== undefined && knowsVerbosity(openAiNames) ? { verbosity: verbosity.value } : {};
}

const isPlain = (target: TargetCall): boolean => !isOpenAi(target);

const thinksAtOpenAi = ({ openAiNames, thinking }: TargetCall): boolean =>
  isOpenAiThinker(...openAiNames) && thinking?.kind !== 'off';

/** OpenAI's own that think take none. */
function unsupportedStops({ call, openAiNames }: TargetCall): readonly string[] {
  const stops = call.stopSequences ?? [];
  return isOpenAiThinker(...openAiNames) || stops.length > openAiStopsMax ? stops : [];
}

/** In the style that the provider's entry names. */
function thinkingOptions(target: TargetCall): JsonObject {
  const { thinking, provider } = target;
  const { reasoning_style: style } = provider;
  if (style === 'none') return {};
  if (isKeptFromThinking(target)) {
    return canBeKeptFromThinking(...target.openAiNames) ? { reasoning_effort: 'none' } : {};
  }
  if (thinking === undefined) return {};
  const { effort, tokens } = { effort: undefined, tokens: undefined, ...wordsOf(thinking) };
  if (style === 'object') return { reasoning: effort === undefined ? { max_tokens: tokens } : { effort } };
  return effort === undefined ? {} : { reasoning_effort: effort };
}

/** Refuses tools beside an effort, even its own default. */
const isKeptFromThinking = ({ call, openAiNames, thinking, provider }: TargetCall): boolean =>
  call.tools !== undefined &&
  (thinking === undefined ? thinksUnasked(...openAiNames) : thinking.kind !== 'off') &&
  thinksWithToolsOnResponsesOnly(...openAiNames) &&
  (provider.reasoning_style ?? 'effort') === 'effort';

const effortOf = ({ call, thinking }: TargetCall): string[] =>
  thinking === undefined ? [] : call.optional.flatMap(({ name, member }) => (name === 'thinking' ? [member] : []));

function wordsOf(thinking: NonNullable<TargetCall['thinking']>): { effort: string } | { tokens: number } | undefined {
  if (thinking.kind === 'off') return { effort: 'none' };
  if (thinking.kind === 'budget') return { tokens: thinking.tokens };
  return 'effort' in thinking ? { effort: thinking.effort } : undefined;
}
