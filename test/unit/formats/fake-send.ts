// A fake `send`: it stores what it was called with, and answers with bytes cut wherever a test wants.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import type { HubApi, InterfaceId } from '../../../shared/foundation/constants/index.ts';
import { interfaceList } from '../../../shared/protocol/interface-list/index.ts';
import { readHubNeeds } from '../../../shared/protocol/interfaces/chat-completions/hub-needs.ts';
import { createEnvelopes, jsonTextOf, parseJson } from '../../../shared/protocol/wire/index.ts';
import {
  type CandidateRequest,
  callCandidate,
  type NoAnswer,
  type Send,
} from '../../../shared/routing/formats/index.ts';
import type { CandidateOutcome } from '../../../shared/routing/providers/candidate-outcome.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import { type Api, type FakeAnswer, type Json, jsonOf } from '../../support/provider-answers.ts';
import { sealedDetails } from '../../support/sealed-details.ts';

export type { FakeAnswer, Json };

export interface Sent extends Omit<CandidateRequest, 'body'> {
  readonly body: Json;
}

export interface FakeSend {
  readonly send: Send;
  readonly requests: readonly Sent[];
  /** The bodies of `sent` as the provider gets them. */
  readonly texts: readonly string[];
  readonly drained: () => number;
}

export function fakeSend(answer: FakeAnswer | AttemptFailure | Error): FakeSend {
  const requests: Sent[] = [];
  const texts: string[] = [];
  let drained = 0;
  async function* bodyOf({ bytes, breaksWith }: FakeAnswer) {
    yield* bytes;
    if (breaksWith !== undefined) throw breaksWith;
  }
  const send: Send = async ({ body, ...request }) => {
    const text = String(body());
    texts.push(text);
    requests.push({ ...request, body: JSON.parse(text) });
    if (answer instanceof Error) throw answer;
    if ('kind' in answer) return { kind: 'failure', failure: answer };
    return {
      kind: 'answer',
      contentType: answer.contentType,
      readText: async () => {
        if (answer.breaksWith !== undefined) throw answer.breaksWith;
        return Buffer.concat(answer.bytes).toString('utf8');
      },
      body: bodyOf(answer),
      onEnd: () => {},
      onEvent: () => {},
      drain: () => {
        drained += 1;
      },
      describe: (error) => ({ forOperator: JSON.stringify(error), forClient: undefined }),
    };
  };
  return { send, requests, texts, drained: () => drained };
}

export const jsonAnswer = (value: unknown): FakeAnswer => ({
  bytes: [Buffer.from(JSON.stringify(value))],
  contentType: 'application/json',
});

const upstreamModels: Readonly<Partial<Record<HubApi, string>>> = {
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'generate-content': 'gemini-2.5-flash',
};

/** Returns a candidate with the fields that a format reads. */
export const candidateOf = (api: HubApi, upstreamModel = upstreamModels[api] ?? api, id = 'acme/model') =>
  ({
    entry: { upstream_model: upstreamModel, max_output_tokens: 32_000, supported_params: {} },
    model: { id },
    provider: { id: 'acme', apis: [api], reasoning_style: 'effort' },
  }) as unknown as Candidate;

export interface SentRequest {
  readonly api: HubApi;
  /** The client's interface; the default is chat completions. */
  readonly interfaceId?: InterfaceId;
  readonly body: Json;
  readonly answer: FakeAnswer | AttemptFailure | Error;
  readonly stream?: boolean;
  readonly model?: string | undefined;
  readonly catalogueId?: string;
}

export interface FakeSendOutcome extends FakeSend {
  readonly outcome: CandidateOutcome;
}

export const envelopes = createEnvelopes(Buffer.alloc(32), 'team-a');

/** Returns signed or encrypted reasoning of this format's model, as clients receive it. */
export const detailsOf = (api: HubApi, ...details: readonly Json[]): Json[] =>
  sealedDetails(details, upstreamModels[api] ?? api, envelopes.seal);

const boundNames = ['max_tokens', 'max_completion_tokens'];

export async function ask({
  api,
  body,
  answer,
  stream = false,
  model,
  catalogueId,
  ...requestOptions
}: SentRequest): Promise<FakeSendOutcome> {
  const { interfaceId = 'chat-completions' } = requestOptions;
  const fake = fakeSend(answer);
  const bound = boundNames.map((name) => body[name]).find((value) => typeof value === 'number');
  const json = jsonTextOf({ messages: [{ role: 'user', content: 'Hi.' }], ...body });
  const request = {
    interfaceId,
    stream,
    raw: parseJson(json.text),
    text: () => json,
    wholeBody: () => parseJson(json.text),
    hubNeeds: () => (interfaceId === 'chat-completions' ? readHubNeeds(parseJson(json.text) as Json) : []),
    size: () => ({ maxOutputTokens: bound, isOutputOpen: bound === undefined }),
  };
  const passedOn = { headers: {}, query: '' };
  const clientInterface = await interfaceList[interfaceId].load();
  const call = {
    parsed: { clientInterface, passedOn, scope: { correlationId: 'call-1' } },
    modelCall: { request },
    terms: { envelopes, policy: {} },
  } as unknown as Parameters<typeof callCandidate>[0];
  const ofOneRequest = () => {
    throw new Error('a call of one request');
  };
  const exchange = {
    send: fake.send,
    openPart: ofOneRequest,
    pause: ofOneRequest,
    elapsedMs: () => 7,
    createdSeconds: 1_760_000_000,
  };
  return { ...fake, outcome: await callCandidate(call, candidateOf(api, model, catalogueId), exchange) };
}

/** Returns an answer with a short text. */
export const fineAnswer = (api: Api): FakeAnswer => jsonAnswer(jsonOf(api, { blocks: [{ text: 'Fine.' }] }));

/** Returns the body that the provider gets for an answered request. */
// biome-ignore lint/suspicious/noExplicitAny: a provider's body is looked into field by field.
export async function sentBody(api: Api, body: Json, model?: string): Promise<any> {
  const { requests, outcome } = await ask({ api, body, model, answer: fineAnswer(api) });
  if (outcome.kind === 'failure' || requests.length !== 1) throw new Error(JSON.stringify([outcome, requests]));
  return requests[0]?.body;
}

/** Returns copies of the value, each with another field replaced. */
export function withEachMember(value: unknown, odd: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const replace = (name: string, member: unknown) =>
    Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };
  return Object.entries(value).flatMap(([name, member]) =>
    [odd, ...withEachMember(member, odd)].map((change) => replace(name, change)),
  );
}

export function failureOf(outcome: CandidateOutcome): NoAnswer['failure'] {
  if (outcome.kind !== 'failure') throw new Error(`it is ${outcome.kind}`);
  return outcome.failure;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into field by field.
export function completionOf(outcome: CandidateOutcome): any {
  if (outcome.kind !== 'json') throw new Error(`it is ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.answer.text);
}

/** The event of a stream at which it broke. */
export class StreamBroken {
  readonly failure: AttemptFailure;
  constructor(failure: AttemptFailure) {
    this.failure = failure;
  }
}

/** Returns the texts of a stream up to its end, with the gateway's end marker, or up to where it broke or threw. */
export async function readTexts(outcome: CandidateOutcome): Promise<{ texts: string[]; error?: unknown }> {
  if (outcome.kind !== 'stream') throw new Error(`it is ${JSON.stringify(outcome)}`);
  const texts: string[] = [];
  try {
    for await (const { events, failure } of outcome.batches) {
      texts.push(...events.map(({ text }) => text));
      if (failure !== undefined) return { texts, error: new StreamBroken(failure) };
    }
    return { texts: [...texts, '[DONE]'] };
  } catch (error) {
    return { texts, error };
  }
}

/** Returns how many turns the event loop has while it runs. */
export async function turnsOf(run: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await run();
  isOver = true;
  return turns;
}
