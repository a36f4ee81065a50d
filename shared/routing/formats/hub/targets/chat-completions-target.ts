// Translates calls to chat completions, at OpenAI and at the many providers and servers with the same interface.
import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import {
  anyEffortReasoning,
  canBeKeptFromThinking,
  isOpenAiReasoningModel,
  thinksByDefault,
  thinksWithToolsInResponsesOnly,
} from '../../../../configuration/catalogue/index.ts';
import { openAiStopsMax, upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { createDistinctIds, type HubCall, impliedFinishReason } from '../../../../protocol/hub/index.ts';
import { readUsageReport } from '../../../../protocol/interfaces/chat-completions/index.ts';
import { scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  type EventText,
  isEndMarker,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type PlacedRead,
  readEvents,
  readToEnd,
  rewriteMembers,
} from '../../../../protocol/wire/index.ts';
import { ruledMessages } from '../../target-rules/index.ts';
import { atMost, type Bytes, eventBytes, nonEmpty, parsedObject, read } from './body-members.ts';
import { markedCall, markWord, withChatMarks } from './chat-marks.ts';
import type { HubTarget, TargetCall } from './hub-target.ts';
import { callOptions, isStrictFormat, withJsonWord, withOwnSchemas } from './json-format.ts';
import { knowsMarks, openAiCacheOptions } from './openai-cache-marks.ts';
import { chatUsage, openAiUsageIn, readableOpenAiUsage } from './openai-usage.ts';
import { carriedNames, chatFieldsOf, joinFields, knowsVerbosity, openAiFields } from './optional-fields.ts';
import { plainPrompt } from './plain-prompt.ts';
import { packageName, watchThinking } from './plain-thinking.ts';
import { openAiStrictness } from './strict-schemas.ts';

/**
 * Matches arguments that are an object, null, or missing. In a text of the model the quotes have a backslash before
 * them.
 */
const otherArguments = /"arguments"\s*:\s*[^"\s]|"function"\s*:\s*\{\s*"name"\s*:\s*"[^"]*"\s*\}/;
const wholeMessage = /"message"\s*:\s*\{/;

/** True for answers that must be corrected; most need not be parsed. */
const hasDialect = (text: string): boolean => otherArguments.test(text) || hasCallWithId(text);
const hasDialectInPieces = (text: string): boolean =>
  otherArguments.test(text) || hasCallWithId(text) || (wholeMessage.test(text) && !text.includes('"delta"'));

/** Returns the choices of an answer as the package reads them. */
const usualChoices = (choices: unknown): unknown =>
  openCallIds()(
    mapObjects(choices, (choice) =>
      isJsonObject(choice.message) ? { ...choice, message: withTexts(choice.message, noArguments) } : choice,
    ),
    'message',
  );

/** Returns the choices of a chunk with usual pieces. */
const usualPieces = (choices: unknown): unknown =>
  mapObjects(choices, ({ message, ...choice }) => {
    const piece = choice.delta ?? message;
    if (!isJsonObject(piece)) return choice;
    // In a stream each call has an index.
    const calls = mapObjects(piece.tool_calls, (call, index) => ({ index, ...call }));
    return {
      ...choice,
      delta: withTexts({ ...piece, ...(piece.tool_calls === undefined ? {} : { tool_calls: calls }) }, ''),
    };
  });

/** Arguments of a call that has none. */
const noArguments = '{}';

const withTexts = (message: JsonObject, none: string): JsonObject =>
  message.tool_calls === undefined
    ? message
    : {
        ...message,
        tool_calls: mapObjects(message.tool_calls, (call) =>
          isJsonObject(call.function) ? { ...call, function: withText(call.function, none) } : call,
        ),
      };

const mapObjects = (list: unknown, change: (item: JsonObject, at: number) => JsonObject): unknown =>
  Array.isArray(list) ? list.map((item: unknown, at) => (isJsonObject(item) ? change(item, at) : item)) : list;

/** Matches events that have to be parsed. */
const finalFields = /"usage"\s*:\s*[^n\s]|"finish_reason"\s*:\s*"/;

/** End of a stream that ended with its format's end marker, without a finish reason. */
const missingFinishReason = JSON.stringify({
  choices: [{ index: 0, delta: {}, finish_reason: impliedFinishReason }],
  usage: null,
});

const hasFinished = ({ choices }: JsonObject): boolean =>
  Array.isArray(choices) && choices.some((choice) => isJsonObject(choice) && isEndWord(choice.finish_reason));

/** Returns the choices; an empty finish reason counts as missing, because the package would interpret it as the end. */
const choicesOf = ({ choices }: JsonObject): unknown =>
  Array.isArray(choices)
    ? choices.map((choice) =>
        isJsonObject(choice) && !isEndWord(choice.finish_reason) ? { ...choice, finish_reason: null } : choice,
      )
    : (choices ?? []);

export const target: HubTarget = {
  openModel({ packageModel, baseURL, fetch }) {
    const thinking = watchThinking();
    return thinking.marked(
      new OpenAICompatibleChatLanguageModel(packageModel, {
        provider: packageName,
        url: ({ path }) => baseURL + path,
        headers: () => ({}),
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
        plainPrompt(call.prompt, isPlain(target), target.rules.thinkingPlace === 'parts'),
        markWord(target, isOpenAi(target)),
      ),
      ...(tools === undefined ? {} : { tools: tools.map(withoutLooseness) }),
      providerOptions: { [packageName]: { strictJsonSchema: isStrictFormat(call) } },
    } as LanguageModelV4CallOptions;
  },
  finalChanges(body, target) {
    const { call, provider } = target;
    const boundName = isOpenAi(target) ? 'max_completion_tokens' : 'max_tokens';
    const isStream = read(body, 'stream') === true && provider.stream_usage !== false;
    return {
      max_tokens: undefined,
      [boundName]: atMost(read(body, 'max_tokens'), target.outputMaxTokens),
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
  rewriteValues(body, { rules }) {
    const ruled = ruledMessages(body, rules);
    return ruled === undefined ? [] : [[ruled.value, ruled.text]];
  },
  // Many servers refuse an unknown field, so a style in the file means that they know it.
  unknownReasoning: ({ reasoning_style: style }) => (style === undefined ? undefined : anyEffortReasoning),
  supportedOptions: (target) =>
    new Set([
      ...carriedNames(reportedWords(target)),
      'image_detail',
      ...(markWord(target, isOpenAi(target)) === undefined ? [] : (['cache_marks', 'cache_options'] as const)),
    ]),
  strictness: openAiStrictness,
  changedPaths: (target) => (isKeptFromThinking(target) ? effortOf(target) : []),
  streamType: 'text/event-stream',
  readStream: chatEvents,
  answerSteps: [readableCompletion],
  usageIn: (text) => openAiUsageIn(text, readUsageReport),
  unsupportedStops,
  originOf: ({ model, provider }) => `chat-completions-v1:${provider.id}:${model}`,
  readSigned: ({ [packageName]: google = {}, gw = {} } = {}) => ({
    // Gemini signs its calls in this field too.
    ...nonEmpty('signature', gw.signature ?? google.thoughtSignature),
  }),
  signedOptions(part, { signature }) {
    // The thinking has no signature. Only its origin shows which providers can read it.
    if (part === 'reasoning') return { [packageName]: { reasoningMember: signature ?? 'reasoning_content' } };
    return signature === undefined || part !== 'tool-call' ? undefined : { google: { thoughtSignature: signature } };
  },
};

type Tool = NonNullable<HubCall['tools']>[number];

/** Removes the default value, which is optional and unknown to some providers. */
function withoutLooseness(tool: Tool): Tool {
  if (tool.type !== 'function' || tool.strict === true) return tool;
  const { strict: _loose, ...rest } = tool;
  return rest;
}

/** True for OpenAI and Microsoft, whose options and refusals are known. */
const isOpenAi = ({ provider, openAiNames }: TargetCall): boolean =>
  provider.kind === 'openai' || provider.kind === 'azure' || isOpenAiReasoningModel(...openAiNames);

/** Returns options about user and storage. */
function reportedWords(target: TargetCall): ReturnType<typeof openAiFields> {
  const { call, provider } = target;
  if (isOpenAi(target)) {
    const { metadata, ...words } = openAiFields(call);
    // Providers accept metadata only with storage.
    return metadata === undefined || words.store === undefined ? words : { ...words, metadata };
  }
  return chatFieldsOf(provider.kind, call);
}

/** Returns the cache options; other providers get marks instead. */
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
  isOpenAiReasoningModel(...openAiNames) && thinking?.kind !== 'off';

/** Returns unsupported stop sequences. OpenAI's own models with thinking accept no stop sequences. */
function unsupportedStops({ call, openAiNames }: TargetCall): readonly string[] {
  const stops = call.stopSequences ?? [];
  return isOpenAiReasoningModel(...openAiNames) || stops.length > openAiStopsMax ? stops : [];
}

/** Returns the options in the style that the provider's entry names. */
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

/** True for a model that refuses tools together with an effort, even its own default. */
const isKeptFromThinking = ({ call, openAiNames, thinking, provider }: TargetCall): boolean =>
  call.tools !== undefined &&
  (thinking === undefined ? thinksByDefault(...openAiNames) : thinking.kind !== 'off') &&
  thinksWithToolsInResponsesOnly(...openAiNames) &&
  (provider.reasoning_style ?? 'effort') === 'effort';

const effortOf = ({ call, thinking }: TargetCall): string[] =>
  thinking === undefined ? [] : call.optional.flatMap(({ name, member }) => (name === 'thinking' ? [member] : []));

function wordsOf(thinking: NonNullable<TargetCall['thinking']>): { effort: string } | { tokens: number } | undefined {
  if (thinking.kind === 'off') return { effort: 'none' };
  if (thinking.kind === 'budget') return { tokens: thinking.tokens };
  return 'effort' in thinking ? { effort: thinking.effort } : undefined;
}

// Makes answers of chat completions readable for their package: with a usage that the package accepts, with valid
// chunks, and with the end that the provider sent.

/** Returns a whole answer for the package. */
function readableCompletion(text: string): string {
  const json = scanAnswer(text);
  if (json === undefined) return text;
  const usage = readableOpenAiUsage(read(json, 'usage'), chatUsage) ?? null;
  const choices = hasDialect(text) ? { choices: usualChoices(read(json, 'choices')) } : {};
  return rewriteMembers(json, new Map(Object.entries({ ...choices, usage })));
}

async function* chatEvents(bytes: AsyncIterable<Uint8Array>, _takeOut: unknown, onEnd: () => void): Bytes {
  let isFinished = false;
  let hasUsage = false;
  /** Set after an event that is not a chunk. An end without a finish reason is then a failure. */
  let isGarbled = false;
  const callIds = openCallIds();
  const read = ({ text }: EventText): PlacedRead<readonly string[]> => {
    if (isEndMarker(text)) return { read: isFinished || isGarbled ? [] : [missingFinishReason], place: 'end' };
    const hasOther = hasDialectInPieces(text);
    if (!hasOther && !finalFields.test(text)) {
      if (text.includes('"choices"') || text.includes('"error"')) return { read: [text] };
      isGarbled ||= parsedObject(text) === undefined;
      return { read: [] };
    }
    const parsed = parsedObject(text);
    if (parsed === undefined) return { read: [text] };
    const event: JsonObject = hasOther ? { ...parsed, choices: callIds(usualPieces(parsed.choices), 'delta') } : parsed;
    isFinished ||= hasFinished(event);
    const { x_groq: groq } = event;
    const reported = event.usage ?? (isJsonObject(groq) ? groq.usage : undefined);
    const usage = readableOpenAiUsage(reported, chatUsage) ?? null;
    hasUsage ||= usage !== null;
    return { read: [JSON.stringify({ ...event, choices: choicesOf(event), usage })], isAddition: usage !== null };
  };
  const batches = readEvents(bytes, upstreamEventMaxBytes);
  try {
    // The answer is complete at its end, even if the connection breaks later. Some servers report usage after the end.
    for await (const together of readToEnd(batches, read, { isWanted: () => !hasUsage, onEnd })) {
      yield eventBytes(together.flat().map((text) => ({ text })));
    }
  } catch (error) {
    if (!isFinished) throw error;
  }
}

// Corrects chat completions of servers that their package cannot read: arguments of calls that are not texts, and a
// whole message in place of pieces.

/** True if a tool call begins, whose id may be the id of an earlier call. */
function hasCallWithId(text: string): boolean {
  const at = text.indexOf('"tool_calls"');
  return at >= 0 && text.includes('"id"', at);
}

/**
 * Gives distinct ids to calls of one answer, if a model gave one id to several calls. An index shows to which call a
 * piece belongs.
 */
function openCallIds(): (choices: unknown, name: 'message' | 'delta') => unknown {
  const distinct = createDistinctIds();
  const known = new Map<string, string>();
  const ownId = (place: string, id: unknown): unknown => {
    if (typeof id !== 'string' || id === '') return id;
    const distinctId = known.get(place) ?? distinct(id);
    known.set(place, distinctId);
    return distinctId;
  };
  return (choices, name) =>
    mapObjects(choices, (choice, choiceAt) => {
      const message = choice[name];
      if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return choice;
      const calls = mapObjects(message.tool_calls, (call, at) => {
        const place = `${choice.index ?? choiceAt} ${call.index ?? at}`;
        return 'id' in call ? { ...call, id: ownId(place, call.id) } : call;
      });
      return { ...choice, [name]: { ...message, tool_calls: calls } };
    });
}

function withText(calledFunction: JsonObject, none: string): JsonObject {
  const { arguments: written } = calledFunction;
  if (typeof written === 'string') return calledFunction;
  return { ...calledFunction, arguments: (written ?? null) === null ? none : JSON.stringify(written) };
}
