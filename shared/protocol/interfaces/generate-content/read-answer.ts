// Reads an answer of generateContent, whole or a chunk of a stream. The reader is lenient, because an unknown part or
// field changes nothing.
import {
  type AnswerDetails,
  type AnswerEvent,
  type EventDetails,
  type EventReader,
  type EventReading,
  findMember,
  isEndMarker,
  isJsonObject,
  type JsonObject,
  type JsonText,
  pick,
  type ReadAnswer,
  toCount,
  type UsageReport,
} from '../../wire/index.ts';
import {
  endMarkerEvent,
  membersOf,
  ParsedEvent,
  parseEvent,
  readAnswerIn,
  readErrorObject,
  readUsageMember,
  textBytesIn,
  textBytesOf,
} from '../index.ts';

const usageMember = 'usageMetadata';

/** Returns undefined for a value that is not an object, so that nothing counts as reported. */
function readUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usage;
  const prompt = toCount(promptTokenCount);
  const thoughts = toCount(thoughtsTokenCount) ?? 0;
  const candidates = toCount(candidatesTokenCount);
  const tools = toCount(toolUsePromptTokenCount) ?? 0;
  const total = toCount(usage.totalTokenCount);
  // A prompt that was blocked has no candidates. Its total then shows that nothing was written.
  const written =
    candidates ??
    (total !== undefined && prompt !== undefined ? Math.max(0, total - prompt - tools - thoughts) : undefined);
  return {
    tokens: {
      input: prompt === undefined ? undefined : prompt + tools,
      cached: toCount(usage.cachedContentTokenCount) ?? 0,
      cacheWrite: 0,
      cacheWrite1h: 0,
      output: written === undefined ? undefined : written + thoughts,
      reasoning: thoughts,
      media: {
        audioInput: Math.max(
          0,
          countOf(usage.promptTokensDetails, 'AUDIO') - countOf(usage.cacheTokensDetails, 'AUDIO'),
        ),
        imageInput: Math.max(
          0,
          countOf(usage.promptTokensDetails, 'IMAGE') - countOf(usage.cacheTokensDetails, 'IMAGE'),
        ),
        audioOutput: countOf(usage.candidatesTokensDetails, 'AUDIO'),
        imageOutput: countOf(usage.candidatesTokensDetails, 'IMAGE'),
      },
    },
    members: usage,
  };
}

const countOf = (details: unknown, modality: string): number =>
  (Array.isArray(details) ? details : [])
    .filter((one) => isJsonObject(one) && one.modality === modality)
    .reduce((sum, { tokenCount }) => sum + (toCount(tokenCount) ?? 0), 0);

const factsShape = membersOf({
  error: {},
  modelVersion: {},
  promptFeedback: membersOf({ blockReason: {} }),
  candidates: { items: membersOf({ finishReason: {}, content: {}, index: {} }) },
});

export const readGenerated = (text: string): Promise<ReadAnswer> =>
  readAnswerIn(text, readDetails, readUsage, usageMember);

function readDetails(json: JsonText): ReadAnswer {
  const facts = pick(json, 0, factsShape) as JsonObject;
  if ((facts.error ?? null) !== null) return { kind: 'error', error: readErrorObject(json) };
  if (!Array.isArray(facts.candidates) && !isBlocked(facts)) return { kind: 'unreadable' };
  const candidates = findMember(json, 'candidates');
  const outputBytes = candidates === undefined ? 0 : textBytesIn(json, candidates, structuralNames);
  const usage = readUsage(readUsageMember(json, usageMember));
  return { kind: 'answer', answer: { text: json.text, json, usage, outputBytes, ...detailsOf(facts) } };
}

const isBlocked = ({ promptFeedback }: JsonObject): boolean =>
  isJsonObject(promptFeedback) && typeof promptFeedback.blockReason === 'string';

const candidatesIn = ({ candidates }: JsonObject): readonly JsonObject[] =>
  Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];

const isEnd = (reason: unknown): reason is string =>
  typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED';

function detailsOf(answer: JsonObject): AnswerDetails {
  const { modelVersion, promptFeedback } = answer;
  const reasons = candidatesIn(answer).flatMap(({ finishReason }) => (isEnd(finishReason) ? [finishReason] : []));
  const blocked = isBlocked(answer) && isJsonObject(promptFeedback) ? [String(promptFeedback.blockReason)] : [];
  return {
    model: typeof modelVersion === 'string' ? modelVersion : undefined,
    finishReasons: reasons.length + blocked.length === 0 ? undefined : [...reasons, ...blocked],
  };
}

/** Names of fields without text of the model. */
const structuralNames: ReadonlySet<string> = new Set([
  ...['role', 'finishReason', 'thoughtSignature', 'id', 'mimeType', 'data', 'safetyRatings', 'citationMetadata'],
  ...['groundingMetadata', 'urlContextMetadata', 'avgLogprobs', 'logprobsResult', 'finishMessage'],
]);

/** Opens a reader. A stream is complete if each of its candidates has ended, or its prompt was blocked. */
export function openEventReader(choices: number): EventReader {
  const ended = new Set<number>();
  let isComplete = false;

  function read({ name, text }: { readonly name?: string | undefined; readonly text: string }): EventReading {
    if (isComplete && isEndMarker(text)) return { kind: 'event', event: endMarkerEvent(name, text) };
    const event = parseEvent(text);
    if (event === undefined) return { kind: 'unreadable' };
    if ((event.error ?? null) !== null) return { kind: 'error', error: event };
    for (const [at, { finishReason, index }] of candidatesIn(event).entries())
      if (isEnd(finishReason)) ended.add(typeof index === 'number' ? index : at);
    isComplete ||= ended.size >= choices || isBlocked(event);
    return { kind: 'event', event: new ParsedEvent(name, text, detailsOfEvent(event, isComplete)) };
  }
  return { read, isComplete: () => isComplete, mayBeMarked: true };
}

function detailsOfEvent(event: JsonObject, isLast: boolean): EventDetails {
  const parts = candidatesIn(event).flatMap(({ content }) =>
    isJsonObject(content) && Array.isArray(content.parts) ? content.parts.filter(isJsonObject) : [],
  );
  const filled = parts.filter(isFilled);
  const details = detailsOf(event);
  return {
    ...details,
    hasOutput: filled.length > 0 || details.finishReasons !== undefined,
    isOnlyThinking: filled.length > 0 && filled.every(({ thought }) => thought === true),
    outputBytes: textBytesOf(parts, structuralNames),
    isLast,
    usage: readUsage(event[usageMember]),
  };
}

const isFilled = ({ thought: _thought, ...content }: JsonObject): boolean =>
  Object.values(content).some((value) => (value ?? null) !== null && value !== '');

/** Wraps a chunk that the gateway wrote itself. `usage` is the provider's report, if any. */
export function writtenEvent(event: JsonObject, usage: UsageReport | undefined, isLast: boolean): AnswerEvent {
  return new ParsedEvent(undefined, JSON.stringify(event), { ...detailsOfEvent(event, isLast), usage });
}
