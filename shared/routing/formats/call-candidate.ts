// Calls a candidate in its format, and reads its answer as the client's interface does.
import type { Candidate, ProviderDocument } from '../../configuration/catalogue/index.ts';
import { bodyDepthMax, servingApis, upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import {
  type BytesAnswer,
  BytesEvent,
  type CacheMarks,
  type ClientInterface,
  type ClientRequest,
  type PassedOn,
} from '../../protocol/interfaces/index.ts';
import {
  type Envelopes,
  isJsonObject,
  isJsonText,
  jsonTextOf,
  type PolicyOptions,
  parseJson,
  readEvents,
  rewriteMembers,
  scanJson,
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
  type ReceivedAnswer,
  type ReceivingSend,
  readStream,
  type Send,
} from '../providers/index.ts';
import { adaptedSend } from './adapted-send.ts';
import { chooseFormat, supportsForcedTool } from './capabilities.ts';
import { failureOfAnswer, unreadableAnswer } from './failure-of-answer.ts';
import type { InClientDelivery } from './other-delivery.ts';
import { receivingSend } from './received-answer.ts';
import { addsCacheMarks, withRelayedMarks } from './relayed-cache-marks.ts';
import { rulesOf, withRuledMessages } from './target-rules/index.ts';
import { upstreamTarget } from './upstream-target.ts';

/** Calls the candidate. Rejects if `send` rejects, or if the body breaks. */
export async function callCandidate(
  call: FormatCall,
  candidate: Candidate,
  { send, openPart, pause, createdSeconds, elapsedMs }: CandidateExchange,
): Promise<CandidateOutcome> {
  const { adapt, dropped: droppedPaths } = adaptedSend(candidate.provider);
  const addressed = (behind: Send) => adapt(addressedSend(candidate.provider, behind));
  const openAdapted: OpenPart = () => {
    const part = openPart();
    return { ...part, send: addressed(part.send) };
  };
  const outcome = await callWith(call, candidate, {
    send: addressed(send),
    openPart: openAdapted,
    pause,
    createdSeconds,
    elapsedMs,
  });
  const dropped = [...(call.modelCall.request.leftOut ?? []), ...droppedPaths()];
  if (outcome.kind === 'failure' || dropped.length === 0) return outcome;
  const { reachedVia } = outcome;
  return { ...outcome, reachedVia: { ...reachedVia, leftOut: [...reachedVia.leftOut, ...dropped] } };
}

async function callWith(
  call: FormatCall,
  candidate: Candidate,
  { send, openPart, pause, createdSeconds, elapsedMs }: CandidateExchange,
): Promise<CandidateOutcome> {
  const { request } = call.modelCall;
  const asksWhole = asksForWhole(candidate, request);
  const way = chooseFormat(candidate, request);
  if (way === undefined) throw new Error(`the plan has a provider that does not serve ${request.interfaceId}`);
  const api = way.kind === 'relay' ? servingApis[request.interfaceId].native : way.api;
  const receive = receivingSend(send, { api, stream: request.stream && !asksWhole });
  if (way.kind === 'relay' && request.bytes !== undefined) return relayBytes(call, candidate, receive, request.bytes);
  if (way.kind === 'relay') return relay(call, candidate, receive);
  const [lacking] = way.unsupportedNeeds;
  // The planner skips such a candidate; here nothing is dropped silently either.
  if (lacking !== undefined) return cannotSay(lacking.member);
  const itself = request.answerItself?.();
  if (itself !== undefined) return { kind: 'json', answer: itself, reachedVia: { format: way.api, leftOut: [] } };
  // The module is loaded with the first call of such a provider.
  const { callThroughHub, runPackageTask } = await import('./hub/index.ts');
  const { model: clientModel, stream } = request;
  const { clientInterface, scope } = call.parsed;
  const size = request.size();
  const { envelopes } = call.terms;
  const { correlationId: id } = scope;
  if (way.kind === 'task') {
    const { readAnswer } = clientInterface;
    const { form } = request;
    const task = {
      api: way.api,
      body: request.wholeBody(),
      form,
      size,
      clientModel,
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
      clientModel,
      stream,
      size,
      isLong: request.text().isLong,
      body: request.wholeBody(),
      canForceTools: supportsForcedTool(candidate),
      asksWhole,
      boundMember: outputBoundIn(request),
      addsCacheMarks: addsCacheMarks(candidate, size),
      leftOut: betasIn(call),
      id,
      times: { createdSeconds, elapsedMs },
      envelopes,
    },
    candidate,
    receive,
  );
}

/**
 * True if a model calls tools only in whole answers. The gateway then requests a whole answer, and the client gets it
 * as a stream.
 */
const asksForWhole = ({ entry }: Candidate, { stream, raw }: ClientRequest): boolean =>
  stream && entry.supported_params.tools_in_streams === false && Array.isArray(raw.tools) && raw.tools.length > 0;

/** Returns the client's own name of its output bound. */
const outputBoundIn = ({ outputBoundMember: usual = 'max_tokens', raw }: ClientRequest): string =>
  (raw.max_completion_tokens ?? null) === null ? usual : 'max_completion_tokens';

const cannotSay = (param: string): NoAnswer => ({
  kind: 'failure',
  failure: { kind: 'invalid', param, reason: 'unsupported_parameter', cause: 'not_translatable' },
});

/** Reports dropped beta headers under the SDKs' option name, `betas`. */
const betasIn = ({ parsed }: FormatCall): readonly string[] =>
  Object.keys(parsed.passedOn.headers).some((name) => /-beta$/i.test(name)) ? ['betas'] : [];

/** The parts of a call that formats read. */
interface FormatCall {
  readonly parsed: {
    readonly clientInterface: ClientInterface;
    readonly passedOn: PassedOn;
    /** Scope of the call. An answer without an id gets the id of the call. */
    readonly scope: { readonly correlationId: string };
  };
  /** Contains the request that is sent, which may differ from the client's request. */
  readonly modelCall: { readonly request: ClientRequest };
  readonly terms: {
    readonly envelopes: Envelopes;
    /** Policy; under `zdr` no provider may store anything of the call. */
    readonly policy: Pick<PolicyOptions, 'zdr'>;
  };
}

/** The means to call one candidate. */
interface CandidateExchange {
  readonly send: Send;
  readonly openPart: OpenPart;
  readonly pause: Pause;
  /** Time of creation for an answer in which the provider states none. */
  readonly createdSeconds: number;
  /** Returns the milliseconds since the provider was called. */
  readonly elapsedMs: () => number;
}

// Relays to a provider with the client's own interface. The body is sent unchanged except for the gateway's fields, and
// answers and events are returned unchanged.

/** Relays the call. Rejects if `send` does, or if the body breaks. */
async function relay(call: FormatCall, candidate: Candidate, send: ReceivingSend): Promise<CandidateOutcome> {
  const { clientInterface } = call.parsed;
  const { request } = call.modelCall;
  const { framing } = clientInterface;
  const streamType = framing?.contentType ?? 'text/event-stream';
  const relayed = relayedRequest(call, candidate, request.stream ? streamType : 'application/json');
  const answer = await send(relayed.request);
  if (answer.kind === 'failure') return answer;
  const { native } = servingApis[request.interfaceId];
  const { choices } = request.size();
  const clientAnswer = isInClientDelivery(answer, request)
    ? answer
    : await inClientDelivery(answer, clientInterface, { stream: request.stream, choices });
  if (clientAnswer.kind === 'failure') return clientAnswer;
  const reachedVia: ReachedVia = { format: native, leftOut: relayed.leftOut() };
  if (!request.stream) return readWhole(clientAnswer, clientInterface, reachedVia);
  const reader = clientInterface.openEventReader(choices);
  const events = (framing?.read ?? readEvents)(clientAnswer.body, upstreamEventMaxBytes);
  return { kind: 'stream', batches: readStream(events, reader, clientAnswer), drain: clientAnswer.drain, reachedVia };
}

/**
 * True if the answer has the delivery that the client requested. The interface knows whether a stream with the type of
 * bytes consists of events.
 */
const isInClientDelivery = ({ isStream, contentType }: ReceivedAnswer, { stream }: ClientRequest): boolean =>
  isStream === stream && !bytesType.test(contentType);

const bytesType = /^(audio\/|(application|binary)\/octet-stream)/;

/** Loads the module with the first answer in the other delivery. */
const loadOtherDelivery = () => import('./other-delivery.ts');

const inClientDelivery: InClientDelivery = async (...args) => (await loadOtherDelivery()).toClientDelivery(...args);

/** Relays an answer that is not text. The pieces of the answer are passed on as they arrive. */
async function relayBytes(
  call: FormatCall,
  candidate: Candidate,
  receive: ReceivingSend,
  { accept, typeOf }: BytesAnswer,
): Promise<CandidateOutcome> {
  const relayed = relayedRequest(call, candidate, accept);
  const answer = await receive(relayed.request);
  if (answer.kind === 'failure') return answer;
  if (!answer.isStream) return failureInPlace(answer);
  const isEvents = answer.contentType.startsWith('text/event-stream');
  const contentType = typeOf(isEvents ? '' : answer.contentType);
  if (contentType === undefined) return failureInPlace(answer);
  const { native } = servingApis[call.modelCall.request.interfaceId];
  const reachedVia: ReachedVia = { format: native, leftOut: relayed.leftOut() };
  const batches = isEvents
    ? (await loadOtherDelivery()).inBytes(answer, call.parsed.clientInterface, contentType)
    : piecesOf(answer, contentType);
  return { kind: 'stream', batches, drain: answer.drain, reachedVia };
}

/** Yields the pieces; the answer is complete if the body ends without an error. */
async function* piecesOf(
  { body, onEvent }: CandidateAnswer,
  contentType: string,
): AsyncGenerator<EventBatch, void, undefined> {
  for await (const bytes of body) {
    onEvent();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (text !== '') yield { events: [new BytesEvent(contentType, text)] };
  }
}

/** Reads another answer with a success status, which is an error or does not have the requested delivery. */
async function failureInPlace({ readText, describe }: CandidateAnswer): Promise<NoAnswer> {
  const text = (await readText()) ?? '';
  const error = isJsonText(text) ? parseJson(text) : undefined;
  return isJsonObject(error) && isJsonObject(error.error)
    ? failureOfAnswer({ kind: 'error', error }, describe)
    : unreadableAnswer;
}

interface RelayedRequest {
  readonly request: CandidateRequest;
  /** Returns the dropped fields; known once the request was made. */
  readonly leftOut: () => readonly string[];
}

const withQuery = (path: string, { query }: PassedOn): string => (query === '' ? path : `${path}?${query}`);

function relayedRequest(
  { parsed, modelCall, terms }: FormatCall,
  candidate: Candidate,
  accept: string,
): RelayedRequest {
  const { clientInterface, passedOn } = parsed;
  const { request } = modelCall;
  let leftOut: readonly string[] = [];
  const relayed: CandidateRequest = {
    path: withQuery(
      clientInterface.upstreamPath({ model: candidate.entry.upstream_model, stream: request.stream }),
      passedOn,
    ),
    headers: { ...passedOn.headers, ...request.headers },
    accept,
    body() {
      const {
        text: written,
        form,
        leftOut: unsent,
      } = request.upstreamBody(upstreamTarget(candidate, terms.policy.zdr === true));
      leftOut = unsent;
      if (form !== undefined) return form;
      const isChat = servingApis[request.interfaceId].native === 'chat-completions';
      const ruled = isChat && withRuledMessages(written, request.text(), rulesOf('chat-completions', candidate));
      const { text } = ruled || { text: written };
      if (ruled) leftOut = [...unsent, ...ruled.leftOut];
      const { cacheMarks } = clientInterface;
      const isMarked = cacheMarks !== undefined && takesMarks(cacheMarks, candidate);
      const markedText =
        isMarked && addsCacheMarks(candidate, request.size()) ? withRelayedMarks(text, cacheMarks.onTools) : text;
      return asksForWhole(candidate, request) ? withoutStream(markedText) : markedText;
    },
  };
  return { request: relayed, leftOut: () => leftOut };
}

function withoutStream(text: string): string {
  const scanned = scanJson(text, { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') return text;
  return rewriteMembers(
    scanned.json,
    new Map<string, unknown>([
      ['stream', false],
      ['stream_options', undefined],
    ]),
  );
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

// Addresses of kinds whose interfaces are at different paths below a base URL, and deviations of their bodies.

type Addressed = Pick<ProviderDocument, 'kind' | 'base_url'>;

/** Returns a `send` that sends requests to the address that the provider's kind has for them. */
function addressedSend(provider: Addressed, send: Send): Send {
  const { kind, base_url: url } = provider;
  if (kind === 'cohere')
    return (request) => send({ ...request, path: coherePath(new URL(url).pathname, request.path) });
  if (kind !== 'vertex' || !googleFolder.test(url)) return send;
  return (request) => (request.path.startsWith('/messages') ? send(claudeOnVertex(request)) : send(request));
}

/**
 * Returns Cohere's path. Chat and embeddings are at the compatibility path, and reranking is below `/v2`. Any other
 * address stays unchanged.
 */
function coherePath(basePath: string, path: string): string {
  if (basePath !== '/' && basePath !== '/v2') return path;
  const up = basePath === '/v2' ? '/..' : '';
  return path === '/rerank' ? `${up}/v2${path}` : `${up}/compatibility/v1${path}`;
}

const googleFolder = /\/publishers\/google$/;
/**
 * Version of Claude's interface (docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude,
 * November 2026).
 */
const vertexVersion = 'vertex-2023-10-16';

/** Adapts a request for Vertex, where the model is in the path and the version in the body. */
function claudeOnVertex(request: CandidateRequest): CandidateRequest {
  const [path = ''] = request.path.split('?');
  const text = request.body();
  const body: unknown = typeof text === 'string' && isJsonText(text) ? parseJson(text) : {};
  const { model, stream } = body as { readonly model?: unknown; readonly stream?: unknown };
  const isCount = path.endsWith('/count_tokens');
  const name = isCount ? 'count-tokens' : encodeURIComponent(String(model));
  const method = stream === true ? 'streamRawPredict' : 'rawPredict';
  const changes = new Map<string, unknown>([
    ['anthropic_version', vertexVersion],
    ...(isCount ? [] : ([['model', undefined]] as const)),
  ]);
  return {
    ...request,
    path: `/../anthropic/models/${name}:${method}`,
    body: () => (typeof text === 'string' ? rewriteMembers(jsonTextOf(body), changes) : text),
  };
}
