// What the interface of a client gives to the hub. Types only.
import type { AnswerEvent, JsonAnswer } from '../../../../protocol/interfaces/index.ts';
import type { Envelopes } from '../../../../protocol/wire/index.ts';
import type { HubCall, HubPart, HubResult } from './hub-call.ts';
import type { HubTarget } from './hub-target.ts';

/** What an answer says of itself, beside what its provider says. */
export interface AnswerHead {
  /** Where the provider gives its answer none. */
  readonly id: string;
  readonly createdSeconds: number;
  /** As the provider names it, and as the client asked for it. */
  readonly model: string;
  readonly askedModel: string;
  /** For an interface that tells it before the provider does. */
  readonly estimatedInputTokens: () => number;
  /** Who can read what the model signs. */
  readonly origin: string;
  readonly readSigned: HubTarget['readSigned'];
  readonly seal: Envelopes['seal'];
  /** Why the model refused, by the metadata of a result or of the last part. */
  readonly refusalOf: NonNullable<HubTarget['refusalOf']>;
}

/** What the gateway needs of an answer: its text is written once, and nothing of it is parsed again. */
export type WrittenAnswer = Omit<JsonAnswer, 'json' | 'model'>;

/** One call. What its reader learns of the body its writers know: names that were shortened, settings that are repeated. */
export interface SourceCall {
  readonly call: HubCall;
  /** What the events of a stream make. `nextStep`: awaited between its steps, where the answer is long. */
  readonly writeAnswer: (result: HubResult, head: AnswerHead, nextStep: () => Promise<void>) => Promise<WrittenAnswer>;
  /** Its streams write one tool call at a time: parts of another one do not come before it has ended. */
  readonly writesOneCallAtATime?: true;
  /** For one stream: the events of each part. The last part is `finish`; a part that is an error does not come. */
  readonly openWriter: (head: AnswerHead) => (part: HubPart) => AnswerEvent[];
}

/**
 * `body`: the client's, whole. What cannot be carried to every target is a need of the request (`hubNeeds`). `nextStep`: awaited
 * between steps, where the request is long. `envelopes`: of what clients send back of thinking.
 */
export type HubSource = (
  body: Readonly<Record<string, unknown>>,
  nextStep: () => Promise<void>,
  envelopes: Envelopes,
) => Promise<SourceCall>;
