// Declares a behaviour's view of its request, and the request's format, which reads requests and writes answers.
// Answers and faults of a model are the same in all formats.
import type { Frame, SimulatedCompletion } from './answer.ts';
import type { ModelRequest } from './model-request.ts';
import type { Steps } from './step.ts';
import type { StoredResponse } from './stored-responses.ts';

export interface SimulatorCall {
  readonly provider: string;
  /** The name of the behaviour, such as `slow` in `large/slow:2000`. */
  readonly name: string;
  /** Parts after the name, such as `['3', 'rate_limit_exceeded']` in `error-after-chunks:3:rate_limit_exceeded`. */
  readonly parameters: readonly string[];
  readonly format: SimulatorFormat;
  readonly request: ModelRequest;
  /** The path below the base URL. */
  readonly path: string;
  readonly body: unknown;
  readonly bodyText: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds between two frames of a stream. */
  readonly paceMs: number;
  /** Number of earlier calls with the same provider and complete model name. */
  readonly earlierCalls: number;
  /** Number of earlier requests on the same connection. */
  readonly earlierOnConnection: number;
  readonly createdEpochSeconds: number;
  /** Stores an answer for later calls with the same credential. */
  readonly keep: (stored: StoredResponse) => void;
  /** Returns a new id, such as `chatcmpl-…`. */
  readonly newId: (prefix: string) => string;
}

/** The part of a request that a format reads. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the request; undefined if the text is not JSON. */
  readonly body: unknown;
  /** Query without the question mark. */
  readonly query: string;
  /** The named groups of `path`, percent-decoded. */
  readonly fromPath: Readonly<Record<string, string | undefined>>;
}

interface ErrorAnswer {
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** A rule by which real providers refuse a request, although their format can express the request. */
export interface ProviderRefusal<Body = object> {
  /** Address of the public report, or the page, that documents the behaviour. */
  readonly source: string;
  /**
   * Returns the provider's message of the refusal; undefined when it accepts the request. `model` comes from the path
   * or the body.
   */
  why(body: Body, model: string): string | undefined;
}

/** Returns undefined if the format's provider would accept the request. */
export function refusalOf({ refusals = [] }: SimulatorFormat, body: unknown, model: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  for (const rule of refusals) {
    const words = rule.why(body, model);
    if (words !== undefined) return words;
  }
  return undefined;
}

export interface SimulatorFormat {
  readonly name: string;
  /** Pattern of the path below the base URL, with a group `model` if the path names the model. */
  readonly path: RegExp;
  /** Header that may carry a credential instead of `Authorization: Bearer`. */
  readonly keyHeader?: string;
  readonly requestIdHeader: string;
  /** The prefix of an answer's id. */
  readonly idPrefix: string;
  readonly streamType: string;
  /** Returns the type of the stream, if the request's body chooses it. */
  readonly streamTypeOf?: (body: unknown) => string;
  /** Top-level fields that every answer, or event, needs. */
  readonly answerMembers: readonly string[];
  /** Keep-alive of an idle stream; empty if the format has none. */
  readonly keepAlive: string;
  /** Status and code with which a wrong credential is refused. */
  readonly wrongCredential: { readonly status: number; readonly code: string };
  /** Set if a blocked prompt gets an answer without content, not an error. */
  readonly answersBlockedPrompts?: true;
  /** Reads a request. A string is the reason why a strict provider refuses it. */
  readonly read: (request: Received) => ModelRequest | string;
  /** Refusals of the format's provider, if any. */
  readonly refusals?: readonly ProviderRefusal[];
  readonly json: (call: SimulatorCall, completion: SimulatedCompletion) => object;
  /** Returns a text instead of JSON, if the request asks for a text. */
  readonly text?: (call: SimulatorCall, completion: SimulatedCompletion) => string | undefined;
  /** Returns the headers of an answer in this format. */
  readonly headers?: (completion: SimulatedCompletion) => Record<string, string>;
  /** Returns the stream of an answer. */
  readonly frames: (call: SimulatorCall, completion: SimulatedCompletion) => readonly Frame[];
  /** Returns the bytes of a frame; `position` counts the frames of a stream from 0. */
  readonly encode: (frame: Frame, position: number) => string | Uint8Array;
  /** Returns the body of an error answer; `code` chooses among the errors of that status. */
  readonly error: (status: number, code?: string, message?: string) => ErrorAnswer;
  /** Returns the last frames of a stream that fails after its status 200. */
  readonly errorFrames: (
    call: SimulatorCall,
    completion: SimulatedCompletion,
    code: string | undefined,
  ) => readonly Frame[];
  /** Returns a failed answer under status 200, if it contains more than the error. */
  readonly failedJson?: (call: SimulatorCall, completion: SimulatedCompletion, code: string | undefined) => object;
}

/** Answers one call. To add a behaviour: write it, name it in its family's table, describe it in README.md. */
export type Behaviour = (call: SimulatorCall) => Steps;

export type Behaviours = Readonly<Record<string, Behaviour>>;

/** Returns the parameter at `position` as a number that is not negative, or `otherwise`. */
export function numberParameter(call: SimulatorCall, position: number, otherwise: number): number {
  const value = Number(call.parameters[position] ?? Number.NaN);
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}

/** Returns the first parameter that is a word, not a number. */
export const wordParameter = (call: SimulatorCall): string | undefined =>
  call.parameters.find((parameter) => !/^\d*$/.test(parameter));

// Finds the credential of a request: after `Bearer`, or in the header that a format has for it.
type Headers = Readonly<Record<string, string>>;

/**
 * Returns the credential as received, with `Bearer`. Any provider may get its key in a header of its own; tests use the
 * header of this constant.
 */
export const receivedCredential = (
  { keyHeader = 'authorization' }: SimulatorFormat,
  headers: Headers,
): string | undefined => headers[keyHeader] ?? headers.authorization ?? headers['x-api-key'];

export const isAccepted = (credential: string, { keyHeader }: SimulatorFormat, headers: Headers): boolean =>
  headers.authorization === `Bearer ${credential}` || (keyHeader !== undefined && headers[keyHeader] === credential);
