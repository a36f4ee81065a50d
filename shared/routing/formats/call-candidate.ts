// Calls a candidate in the format that it speaks, and reads its answer as the client's interface does.
import {
  type Candidate,
  canBeKeptFromThinking,
  isOpenAiThinker,
  relayedEffort,
  thinksUnasked,
} from '../../configuration/catalogue/index.ts';
import type { ProviderKind } from '../../configuration/model-list/index.ts';
import { servingApis, upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import {
  type BytesAnswer,
  BytesEvent,
  type CacheMarks,
  type ClientInterface,
  type ClientRequest,
  type PassedOn,
} from '../../protocol/interfaces/index.ts';
import {
  type AskedReasoning,
  type Envelopes,
  isJsonObject,
  isJsonText,
  type PolicyOptions,
  parseJson,
  readEvents,
} from '../../protocol/wire/index.ts';
import {
  type CandidateAnswer,
  type CandidateOutcome,
  type CandidateRequest,
  type EventBatch,
  type NoAnswer,
  type OpenPart,
  type Pause,
  type ReachedVia,
  type ReceivingSend,
  readStream,
  type Send,
} from '../providers/index.ts';
import { adaptedSend } from './adapted-send.ts';
import { canBeForced, chooseFormat } from './capabilities.ts';
import { failureOfAnswer, unreadableAnswer } from './failure-of-answer.ts';
import type { InOtherDelivery } from './other-delivery.ts';
import { receivingSend } from './received-answer.ts';
import { marksCache, withRelayedMarks } from './relayed-cache-marks.ts';

/** Rejects where `send` does, or where the body breaks. */
export async function callCandidate(
  call: FormatCall,
  candidate: Candidate,
  { send, openPart, pause, createdSeconds }: CandidateExchange,
): Promise<CandidateOutcome> {
  const { adapt, dropped: droppedPaths } = adaptedSend(candidate.provider);
  const openAdapted: OpenPart = () => {
    const part = openPart();
    return { ...part, send: adapt(part.send) };
  };
  const outcome = await callWith(call, candidate, { send: adapt(send), openPart: openAdapted, pause, createdSeconds });
  const dropped = [...(call.request.leftOut ?? []), ...droppedPaths()];
  if (outcome.kind === 'failure' || dropped.length === 0) return outcome;
  const { reachedVia } = outcome;
  return { ...outcome, reachedVia: { ...reachedVia, leftOut: [...reachedVia.leftOut, ...dropped] } };
}

async function callWith(
  call: FormatCall,
  candidate: Candidate,
  { send, openPart, pause, createdSeconds }: CandidateExchange,
): Promise<CandidateOutcome> {
  const { request } = call;
  const way = chooseFormat(candidate, request);
  if (way === undefined) throw new Error(`the plan has a provider that does not serve ${request.interfaceId}`);
  const api = way.kind === 'relay' ? servingApis[request.interfaceId].own : way.api;
  const received = receivingSend(send, { api, stream: request.stream });
  if (way.kind === 'relay' && request.bytes !== undefined) return relayBytes(call, candidate, send, request.bytes);
  if (way.kind === 'relay') return relay(call, candidate, received);
  const [lacking] = way.lacks;
  // The planner skips such a candidate; here nothing is dropped silently either.
  if (lacking !== undefined) return cannotSay(lacking.member);
  const itself = await request.answerItself?.(nextTurn);
  if (itself !== undefined) return { kind: 'json', answer: itself, reachedVia: { format: way.api, leftOut: [] } };
  // Loaded with the first call of such a provider.
  const { callThroughHub, runPackageTask } = await import('./hub/index.ts');
  const { model: askedModel, stream } = request;
  const { clientInterface } = call;
  const size = request.size();
  const { envelopes } = call;
  const { correlationId: id } = call.scope;
  if (way.kind === 'task') {
    const { readAnswer } = clientInterface;
    const { form } = request;
    const task = {
      api: way.api,
      body: request.wholeBody(),
      form,
      size,
      askedModel,
      id,
      createdSeconds,
      readAnswer,
      pause,
    };
    return runPackageTask(clientInterface, task, candidate, openPart);
  }
  const source = await clientInterface.translation?.();
  if (source === undefined) throw new Error(`calls of ${clientInterface.id} are not translated`);
  return callThroughHub(
    {
      source,
      api: way.api,
      askedModel,
      stream,
      size,
      characters: request.text().text.length,
      body: request.wholeBody(),
      canForceTools: canBeForced(candidate),
      marksCache: marksCache(candidate, size),
      leftOut: betasIn(call),
      id,
      createdSeconds,
      envelopes,
    },
    candidate,
    received,
  );
}

const cannotSay = (param: string): NoAnswer => ({
  kind: 'failure',
  failure: { kind: 'invalid', param, reason: 'unsupported_parameter', cause: 'not_translatable' },
});

/** Reads SDKs' name of the field that becomes these headers. */
const betasIn = ({ passedOn: { headers } }: FormatCall): readonly string[] =>
  Object.keys(headers).some((name) => /-beta$/i.test(name)) ? ['betas'] : [];

/** A call, as far as formats read it. */
export interface FormatCall {
  readonly clientInterface: ClientInterface;
  readonly request: ClientRequest;
  readonly passedOn: PassedOn;
  /** Its id is that of an answer to which the provider gives none. */
  readonly scope: { readonly correlationId: string };
  readonly envelopes: Envelopes;
  /** Under `zdr` no provider may keep anything of the call. */
  readonly policy: Pick<PolicyOptions, 'zdr'>;
}

/** How one candidate is reached. */
export interface CandidateExchange {
  readonly send: Send;
  readonly openPart: OpenPart;
  readonly pause: Pause;
  /** For an answer to which the provider gives no time. */
  readonly createdSeconds: number;
}

// Relays to a provider with the client's own interface: the body is sent unchanged except for the gateway's fields, and
// answers and events are returned unchanged.

/** Rejects where `send` does, or where the body breaks. */
async function relay(call: FormatCall, candidate: Candidate, send: ReceivingSend): Promise<CandidateOutcome> {
  const { clientInterface, request } = call;
  const relayed = relayedRequest(call, candidate, request.stream ? 'text/event-stream' : 'application/json');
  const received = await send(relayed.request);
  if (received.kind === 'failure') return received;
  const { own } = servingApis[request.interfaceId];
  const { choices } = request.size();
  const isAsked = received.isStream === request.stream;
  const sent = isAsked ? received : await inOtherDelivery(received, clientInterface, choices);
  if (sent.kind === 'failure') return sent;
  const reachedVia: ReachedVia = { format: own, leftOut: relayed.leftOut() };
  if (!request.stream) return readWhole(sent, clientInterface, reachedVia);
  const reader = clientInterface.openEventReader(choices);
  const batches = readStream(readEvents(sent.body, upstreamEventMaxBytes), reader, sent);
  return { kind: 'stream', batches, drain: sent.drain, reachedVia };
}

/** The same for an answer that is no text: its pieces are handed on as they come. */
async function relayBytes(
  call: FormatCall,
  candidate: Candidate,
  send: Send,
  { accept, typeOf }: BytesAnswer,
): Promise<CandidateOutcome> {
  const relayed = relayedRequest(call, candidate, accept);
  const sent = await send(relayed.request);
  if (sent.kind === 'failure') return sent;
  const contentType = typeOf(sent.contentType);
  if (contentType === undefined) return failureInPlace(sent);
  const { own } = servingApis[call.request.interfaceId];
  const reachedVia: ReachedVia = { format: own, leftOut: relayed.leftOut() };
  return { kind: 'stream', batches: piecesOf(sent, contentType), drain: sent.drain, reachedVia };
}

/** It ends well where the body does. */
async function* piecesOf(
  { body, eventCame }: CandidateAnswer,
  contentType: string,
): AsyncGenerator<EventBatch, void, undefined> {
  for await (const bytes of body) {
    eventCame();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (text !== '') yield { events: [new BytesEvent(contentType, text)] };
  }
}

/** Another answer under a good status: an error, or none that the client asked for. */
async function failureInPlace({ readText, describe }: CandidateAnswer): Promise<NoAnswer> {
  const text = (await readText()) ?? '';
  const error = isJsonText(text) ? parseJson(text) : undefined;
  return isJsonObject(error) && isJsonObject(error.error)
    ? failureOfAnswer({ kind: 'error', error }, describe)
    : unreadableAnswer;
}

interface RelayedRequest {
  readonly request: CandidateRequest;
  /** Known once the request was made. */
  readonly leftOut: () => readonly string[];
}

function relayedRequest(
  { clientInterface, request, passedOn, policy }: FormatCall,
  candidate: Candidate,
  accept: string,
): RelayedRequest {
  let leftOut: readonly string[] = [];
  const relayed: CandidateRequest = {
    path: clientInterface.upstreamPath + (passedOn.query === '' ? '' : `?${passedOn.query}`),
    headers: passedOn.headers,
    accept,
    body() {
      const { text, form, ...written } = request.upstreamBody(targetOf(candidate, policy.zdr === true));
      ({ leftOut } = written);
      if (form !== undefined) return form;
      const { cacheMarks } = clientInterface;
      const isMarked = cacheMarks !== undefined && takesMarks(cacheMarks, candidate);
      return isMarked && marksCache(candidate, request.size()) ? withRelayedMarks(text, cacheMarks.onTools) : text;
    },
  };
  return { request: relayed, leftOut: () => leftOut };
}

async function readWhole(
  { readText, describe }: CandidateAnswer,
  { readAnswer }: ClientInterface,
  reachedVia: ReachedVia,
): Promise<CandidateOutcome> {
  const text = await readText();
  if (text === undefined) return unreadableAnswer;
  const read = await readAnswer(text);
  return read.kind === 'answer' ? { kind: 'json', answer: read.answer, reachedVia } : failureOfAnswer(read, describe);
}

const takesMarks = ({ kinds }: CacheMarks, { provider }: Candidate): boolean =>
  kinds === undefined || (provider.kind !== undefined && kinds.includes(provider.kind));

/** Loaded with the first answer that comes in the other delivery. */
const inOtherDelivery = async (...received: Parameters<InOtherDelivery>) =>
  (await import('./other-delivery.ts')).inOtherDelivery(...received);

const targetOf = ({ entry, model, provider }: Candidate, zdr: boolean) => ({
  zdr,
  wantsNoEffortWithTools:
    (provider.reasoning_style ?? 'effort') === 'effort' &&
    [thinksUnasked, canBeKeptFromThinking].every((holds) => holds(entry.upstream_model, model.id)),
  model: entry.upstream_model,
  takesNewerBound: isOfOpenAi(provider.kind) && isOpenAiThinker(entry.upstream_model, model.id),
  reasoningStyle: provider.reasoning_style ?? 'effort',
  effortOf: (asked: AskedReasoning) => relayedEffort(asked, entry.upstream_model, model.id),
  readsGoogleSignatures: googleHost.test(provider.base_url),
  reportsStreamUsage: provider.stream_usage !== false,
  defaultBound:
    entry.default_output_tokens === undefined
      ? undefined
      : { tokens: entry.default_output_tokens, chatMember: outputBoundMember(provider.kind) },
});

/** Host of Gemini's chat completions. */
const googleHost = /^https:\/\/[\w.-]+\.googleapis\.com\//;

/** OpenAI's reasoning models refuse `max_tokens`; of the others not all know the newer name. */
const outputBoundMember = (kind: ProviderKind | undefined): string =>
  isOfOpenAi(kind) ? 'max_completion_tokens' : 'max_tokens';

const isOfOpenAi = (kind: ProviderKind | undefined): boolean => kind === 'openai' || kind === 'azure';
