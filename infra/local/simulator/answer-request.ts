// Decides who answers a request: a behaviour, or one of the refusals that every provider has.
import { chooseBehaviour } from './behaviours/index.ts';
import type { Call, ChatRequest } from './call.ts';
import { type ReadRequest, whyInvalid } from './read-request.ts';
import { json, type Steps } from './step.ts';

export interface Answer {
  readonly behaviour: string;
  readonly steps: (facts: CallFacts) => Steps;
}

/** What only the server knows. */
export type CallFacts = Pick<Call, 'paceMs' | 'earlierCalls' | 'earlierOnConnection' | 'createdEpochSeconds' | 'newId'>;

const refusal = (behaviour: string, status: number, message: string, code: string | null): Answer => ({
  behaviour,
  steps: () => json(status, { error: { message, type: 'invalid_request_error', param: null, code } }),
});

export function answerRequest(read: ReadRequest, credential: string | undefined): Answer {
  const { provider, headers, bodyText, method, path } = read;
  if (!read.isChatCompletion) return refusal('not-found', 404, `Invalid URL (${method} ${path})`, null);
  if (credential !== undefined && headers.authorization !== `Bearer ${credential}`) {
    return refusal('wrong-credential', 401, 'Incorrect API key provided.', 'invalid_api_key');
  }
  const invalid = whyInvalid(read.body);
  if (invalid !== null) return refusal('invalid-request', 400, invalid, null);
  const request = read.body as ChatRequest;
  const { name, parameters, behaviour } = chooseBehaviour(request.model);
  return {
    behaviour: name,
    steps: (facts) => behaviour({ ...facts, provider, name, parameters, request, bodyText, headers }),
  };
}
