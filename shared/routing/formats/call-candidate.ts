// Calls a candidate in the format that it speaks, and reads its answer as the client's interface does.
import { apiFor, type Candidate, isOwnApi } from '../../configuration/catalogue/index.ts';
import type { AnswerEvent, ClientInterface, JsonAnswer } from '../../protocol/interfaces/index.ts';
import { classifyErrorObject, type NoAnswer, readStream, type Send } from '../providers/index.ts';
import { isTranslated } from './missing-features.ts';
import type { Format, FormatCall } from './provider-format.ts';
import { relay } from './relay.ts';
import { translated } from './translated-format.ts';

export interface EventStream {
  /** As `readStream` gives them. */
  readonly batches: AsyncGenerator<AnswerEvent[], void, undefined>;
  /** Called at the end: a socket that is read to its end serves the next call. */
  readonly drain: () => void;
}

export type CandidateOutcome =
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | ({ readonly kind: 'stream' } & EventStream)
  | NoAnswer;

/** Rejects where the format does. */
export async function callCandidate(call: FormatCall, candidate: Candidate, send: Send): Promise<CandidateOutcome> {
  const { clientInterface, request } = call;
  const answered = await formatOf(clientInterface, candidate)(call, candidate, send);
  if (answered.kind === 'failure') return answered;
  const { describe } = answered;
  if (answered.kind === 'stream') {
    const reader = clientInterface.openEventReader(request.size().choices);
    return { kind: 'stream', batches: readStream(answered.events, reader, describe), drain: answered.drain };
  }
  const read = await clientInterface.readAnswer(answered.text);
  if (read.kind === 'error') {
    return { kind: 'failure', failure: { ...classifyErrorObject(read.error), providerText: describe(read.error) } };
  }
  if (read.kind === 'unreadable' || request.stream) {
    return { kind: 'failure', failure: { kind: 'failed', cause: 'unreadable_answer' } };
  }
  return { kind: 'json', answer: read.answer };
}

/** What the client speaks is relayed as it is where the provider speaks it too. */
function formatOf({ id }: ClientInterface, candidate: Candidate): Format {
  const api = apiFor(candidate, id);
  if (isOwnApi(id, api)) return relay;
  if (!isTranslated(api)) throw new Error(`the plan has a provider that does not serve ${id}`);
  return translated(api);
}
