// Calls a provider whose interface differs from the client's interface. The source reads the call, the target's package
// writes the request and reads the answer, `send` transports the request and the answer, and the source writes the
// answer.

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import {
  type Candidate,
  listedName,
  modelNames,
  openAiNames,
  reasoningOf,
  thinkingOf,
  unknownModelReasoning,
} from '../../../configuration/catalogue/index.ts';
import { type HubApi, largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { nextTurn } from '../../../foundation/time/index.ts';
import {
  type AnswerHead,
  createToolNames,
  distinctCallIds,
  type HubCall,
  type HubPart,
  type HubSource,
  readCall,
  type Signer,
  withEveryResult,
  withOwnSigned,
  withStrictness,
} from '../../../protocol/hub/index.ts';
import { readInTurns, scanAnswer } from '../../../protocol/interfaces/index.ts';
import {
  type CallSize,
  type Envelopes,
  findMember,
  type JsonObject,
  type JsonText,
  replaceValues,
  stringifyInTurns,
} from '../../../protocol/wire/index.ts';
import { estimateInputTokens, outputBoundOf } from '../../billing/index.ts';
import type { AttemptFailure, CandidateOutcome, NoAnswer, ReachedVia, ReceivingSend } from '../../providers/index.ts';
import { rulesOf } from '../target-rules/index.ts';
import { describeWith, openParts, type ReadAttempt, readParts } from './answer-parts.ts';
import { boundedSend } from './bounded-send.ts';
import { failureOfAnswer, untranslatable } from './failure.ts';
import { createExchange, type Exchange } from './package-exchange.ts';
import { changesOf, scanPackageBody, writeFinalBody } from './sent-body.ts';
import { withoutEmptyStops } from './stops.ts';
import type { HubTarget, TargetCall, ToolArgumentPaths } from './targets/hub-target.ts';
import { loadTarget } from './targets/index.ts';

interface HubRequest {
  /** Translates calls of the client's interface. */
  readonly source: HubSource;
  /** Format of the provider. */
  readonly api: HubApi;
  /** The client's body, complete. */
  readonly body: JsonObject;
  /** Whether others get turns of the event loop between the steps of its translation. */
  readonly isLong: boolean;
  readonly stream: boolean;
  readonly size: CallSize;
  readonly clientModel: string;
  /** Id for an answer to which the provider gave no id; the ids of the answer's tool calls begin with this id. */
  readonly id: string;
  readonly times: Pick<AnswerHead, 'createdSeconds' | 'elapsedMs'>;
  readonly envelopes: Envelopes;
  /** True if the model can be forced to call a tool. */
  readonly canForceTools: boolean;
  /** True if the model has only whole answers, whichever delivery the client requested. */
  readonly asksWhole: boolean;
  /** The client's name of its output bound. */
  readonly boundMember: string;
  /** True if the gateway adds cache marks that its client does not set. */
  readonly addsCacheMarks: boolean;
  /** Fields outside the body that are not sent to another interface. */
  readonly leftOut: readonly string[];
}

interface HubAttempt extends ReadAttempt {
  readonly head: AnswerHead;
  /** Describes how the provider was called; known once the package has written its request. */
  readonly reachedVia: () => ReachedVia;
  readonly isLong: () => boolean;
}

/** Makes the call. Rejects if `send` does, or if the body breaks. */
export async function callThroughHub(
  request: HubRequest,
  candidate: Candidate,
  send: ReceivingSend,
): Promise<CandidateOutcome> {
  const { entry } = candidate;
  // Nothing that runs while the answer is awaited refers to the whole request, so its body can be freed.
  const { api, stream, asksWhole, size, id, times, clientModel, leftOut: leftOutBeside } = request;
  const target = await loadTarget(api);
  const bounded = boundedSend(send, request.isLong);
  const { isLong } = bounded;
  const asksStream = stream && !asksWhole;
  if (isLong()) await nextTurn();
  const source = await readCall(request.source(request.body, request.envelopes));
  const model = entry.upstream_model;
  const outputTokens = outputBoundOf(entry, size);
  const outputMaxTokens = Math.min(outputTokens, entry.max_output_tokens);
  const lowered = outputMaxTokens < outputTokens ? [request.boundMember] : [];
  if (isLong()) await nextTurn();
  const packageNames = createPackageNames(withoutEmptyStops(source.call));
  const { call, leftOut: looseTools } = withStrictness(packageNames.call, target.strictness);
  if (isLong()) await nextTurn();
  const raw = createRawArguments(id, target.toolArguments);
  const by = { model, provider: candidate.provider };
  const { prompt, leftOut: foreignThinking } = withOwnSigned(call.prompt, target, by);
  const { canForceTools, addsCacheMarks } = request;
  const modelFacts = factsOf(candidate, target, call.reasoning, outputMaxTokens);
  const targetCall: TargetCall = {
    call: { ...call, prompt: withEveryResult(prompt) },
    rules: rulesOf(api, candidate),
    canForceTools,
    addsCacheMarks,
    ...modelFacts,
  };
  const stops = [...new Set(target.unsupportedStops?.(targetCall))];
  let leftOut: readonly string[] = [];
  const exchange = createExchange({
    send: bounded.send,
    stream: asksStream,
    target,
    async body(text) {
      const finalBody = await sentBody(text, target, targetCall, isLong());
      leftOut = [...finalBody.leftOut, ...foreignThinking, ...looseTools, ...lowered, ...leftOutBeside];
      return finalBody.text;
    },
    takeOut: raw.takeOut,
    refusedText: bounded.refusedText,
    isLong,
  });
  const head: AnswerHead = {
    id,
    ...times,
    model,
    clientModel,
    estimatedInputTokens: () => estimateInputTokens(candidate, size),
    seal: request.envelopes.seal,
    ...readersOf(target, by),
  };
  try {
    if (isLong()) await nextTurn();
    const options = target.toOptions(targetCall);
    if (isLong()) await nextTurn();
    const opened = target.openModel({ ...modelFacts, ...exchange.settings, generateId: toolCallIds(id) });
    const distinct = distinctCallIds();
    const undoRenames = (part: HubPart) => distinct(packageNames.partOf(partWithArguments(part, raw.putBack)));
    const attempt = {
      model: opened,
      options,
      source,
      target,
      exchange,
      head,
      stream: asksStream,
      undoRenames,
      reachedVia: () => ({ format: api, leftOut }),
      stops,
      isLong,
    };
    return await (stream ? openStream(attempt) : askOnce(attempt));
  } catch (error) {
    return readFailure(error, exchange);
  }
}

/** Returns the body that is sent, made from the body that the package wrote. */
async function sentBody(text: string, target: HubTarget, targetCall: TargetCall, isLong: boolean) {
  const written = scanPackageBody(text);
  if (isLong) await nextTurn();
  const { changes, leftOut } = changesOf(written, target, targetCall);
  if (isLong) await nextTurn();
  const inside = target.rewriteValues?.(written, targetCall);
  if (isLong) await nextTurn();
  return { text: writeFinalBody(written, changes, inside), leftOut };
}

/** Returns properties of a model, by its names and provider. */
function factsOf(
  candidate: Candidate,
  target: HubTarget,
  preference: HubCall['reasoning'],
  outputMaxTokens: number,
): Pick<
  TargetCall,
  'model' | 'packageModel' | 'provider' | 'names' | 'openAiNames' | 'outputMaxTokens' | 'reasoning' | 'thinking'
> {
  const { provider, entry } = candidate;
  const model = entry.upstream_model;
  const names = modelNames(candidate);
  const reasoning = reasoningOf(...names) ?? target.unknownReasoning?.(provider) ?? unknownModelReasoning;
  const thinking = thinkingOf(preference, outputMaxTokens, reasoning);
  return {
    model,
    packageModel: listedName(entry),
    provider,
    names,
    openAiNames: openAiNames(candidate),
    outputMaxTokens,
    reasoning,
    thinking,
  };
}

const readersOf = ({ originOf, readSigned, refusalOf = () => undefined }: HubTarget, by: Signer) => ({
  origin: originOf(by),
  readSigned,
  refusalOf,
});

async function askOnce(attempt: HubAttempt): Promise<CandidateOutcome> {
  const { source, exchange, head, reachedVia, isLong } = attempt;
  const fold = source.openFold(head);
  let { model } = head;
  const write = (part: HubPart) => {
    if (part.type === 'response-metadata') model = part.modelId ?? model;
    return fold.write(part);
  };
  for await (const { failure } of readParts(await openParts(attempt), attempt, write)) {
    if (failure !== undefined) return noAnswer(failure);
  }
  exchange.answer()?.drain();
  if (isLong()) await nextTurn();
  const { whole, around = (text) => text, ...folded } = fold.answer();
  const written = { model, text: around(await stringifyInTurns(whole)), ...folded };
  const json = await readInTurns(written.text, (scanned) => scanned, largeBodyMaxBytes);
  if (json === undefined) return noAnswer({ kind: 'failed', cause: 'answer_too_large', unusedAnswer: written });
  return { kind: 'json', answer: { ...written, json }, reachedVia: reachedVia() };
}

async function openStream(attempt: HubAttempt): Promise<CandidateOutcome> {
  const { source, exchange, head, reachedVia } = attempt;
  const batches = readParts(await openParts(attempt), attempt, source.openWriter(head));
  return { kind: 'stream', batches, drain: () => exchange.answer()?.drain(), reachedVia: reachedVia() };
}

const noAnswer = (failure: AttemptFailure): NoAnswer => ({ kind: 'failure', failure });

/** Reads the failure. The failure of `send` takes precedence, because a package wraps it in errors of its own. */
export function readFailure(error: unknown, exchange: Exchange): NoAnswer {
  const failure = exchange.failure();
  if (failure !== undefined) return noAnswer(failure);
  const brokenCall = exchange.broken();
  if (brokenCall !== undefined) throw brokenCall.error;
  if (!exchange.isUnsent()) return noAnswer(failureOfAnswer(error, describeWith(exchange), 'unreadable_answer'));
  const cannot = untranslatable(error);
  if (cannot === undefined) throw error;
  return noAnswer(cannot);
}

/**
 * Characters of a call's own id in the ids of its tool calls, which are short enough to be sent to every provider
 * unchanged.
 */
const idCharactersMax = 28;

function toolCallIds(id: string): () => string {
  const known = id.replaceAll(/\W/g, '').slice(-idCharactersMax);
  let count = 0;
  return () => {
    count += 1;
    return `call_${known}_${count}`;
  };
}

// Names of tools that packages look up in plain objects, where they find inherited properties: `constructor`,
// `toString`. Such a tool gets another name for the package, and for the provider.

interface PackageNames {
  readonly call: HubCall;
  readonly partOf: (part: HubPart) => HubPart;
}

const nameMaxCharacters = 64;
const isInherited = (name: string): boolean => name in Object.prototype;

function createPackageNames(call: HubCall): PackageNames {
  const used = new Set(namesIn(call));
  const names = createToolNames();
  const inherited = [...used].filter((name) => isInherited(name) || names.short(name) !== name);
  if (inherited.length === 0) return { call, partOf: (part) => part };
  const packageNames = new Map<string, string>();
  for (const name of inherited) {
    const short = names.short(name);
    let other = short === name || used.has(short) ? `${short.slice(0, nameMaxCharacters - 2)}_` : short;
    while (used.has(other)) other += '_';
    used.add(other);
    packageNames.set(name, other);
  }
  const clientNames = new Map(Array.from(packageNames, ([name, other]) => [other, name]));
  const rename = (names: ReadonlyMap<string, string>) =>
    function renamed<Part extends object>(part: Part): Part {
      if (!('toolName' in part) || typeof part.toolName !== 'string') return part;
      return { ...part, toolName: names.get(part.toolName) ?? part.toolName };
    };
  const [give, restore] = [rename(packageNames), rename(clientNames)];
  const { tools, toolChoice, prompt } = call;
  return {
    call: {
      ...call,
      ...(tools && { tools: tools.map((tool) => ({ ...tool, name: packageNames.get(tool.name) ?? tool.name })) }),
      ...(toolChoice && { toolChoice: give(toolChoice) }),
      prompt: prompt.map((message) =>
        typeof message.content === 'string'
          ? message
          : ({ ...message, content: message.content.map((part) => give(part)) } as LanguageModelV4Message),
      ),
    },
    partOf: restore,
  };
}

function* namesIn({ tools = [], prompt }: HubCall): Generator<string> {
  for (const { name } of tools) yield name;
  for (const { content } of prompt) {
    if (typeof content === 'string') continue;
    for (const part of content) if ('toolName' in part) yield part.toolName;
  }
}

// Preserves arguments of tool calls as the provider wrote them. A package would parse them, which rounds long numbers,
// and refuses an answer with a field called `__proto__`. So it gets placeholders, which are replaced in its output.

interface RawArguments {
  /** Returns an answer, or an event, for a package. */
  readonly takeOut: (text: string) => string;
  readonly putBack: (text: string) => string;
}

/** Step of a path that stands for each item of a list. */
const eachItem = '*';

/** Creates the placeholders. `id` must be unguessable, or the model could forge a placeholder. */
function createRawArguments(id: string, shape: ToolArgumentPaths | undefined): RawArguments {
  const texts = new Map<string, string>();
  return {
    takeOut(text) {
      if (shape === undefined || !text.includes(shape.hint)) return text;
      const json = scanAnswer(text);
      if (json === undefined) return text;
      const replaced = Array.from(argumentsIn(json, shape), (value) => {
        const standIn = JSON.stringify({ [`arguments of ${id}`]: texts.size });
        texts.set(standIn, json.slice(value));
        return [value, standIn] as const;
      });
      return replaced.length === 0 ? text : replaceValues(json, replaced);
    },
    putBack: (text) => (texts.size === 0 ? text : (texts.get(text) ?? text)),
  };
}

function* argumentsIn(json: JsonText, { paths }: ToolArgumentPaths): Generator<number> {
  // The values are in their sequence in the text, because an answer, or an event, has them in one place only.
  for (const path of paths) yield* valuesAt(json, 0, path);
}

function* valuesAt(json: JsonText, value: number, [step, ...rest]: readonly string[]): Generator<number> {
  if (step === undefined) {
    // After an empty object the arguments may follow in pieces.
    if (json.isObject(value) && json.next(value) > value + 1) yield value;
  } else if (step === eachItem) {
    if (json.isArray(value)) for (const item of json.inside(value)) yield* valuesAt(json, item, rest);
  } else if (json.isObject(value)) {
    const member = findMember(json, step, value);
    if (member !== undefined) yield* valuesAt(json, member, rest);
  }
}

/** Applies `change` to texts of arguments, and to JSON that the model wrote as arguments. */
function partWithArguments(part: HubPart, change: (text: string) => string): HubPart {
  if (part.type === 'tool-call') return { ...part, input: change(part.input) };
  if (part.type !== 'tool-input-delta' && part.type !== 'text-delta') return part;
  const delta = change(part.delta);
  return delta === part.delta ? part : { ...part, delta };
}
