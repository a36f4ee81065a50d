// The format of providers that speak the client's own interface: the body goes out as it was sent, less what is the gateway's,
// and answers and chunks come back as they are.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import {
  type ChatRequest,
  type JsonAnswer,
  readJsonAnswer,
  type StreamChunk,
  toUpstreamBody,
} from '../../protocol/interfaces/chat-completions/index.ts';
import { classifyErrorObject, readStream } from '../providers/index.ts';
import type { NoAnswer, Send } from './send.ts';

export interface ChunkStream {
  /** As `readStream` gives them. */
  readonly batches: AsyncGenerator<StreamChunk[], void, undefined>;
  /** Called at the end: a socket that is read to its end serves the next call. */
  readonly drain: () => void;
}

export type Relayed =
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | ({ readonly kind: 'stream' } & ChunkStream)
  | NoAnswer;

/** Rejects where `send` does, or where the body breaks. */
export async function relay(request: ChatRequest, candidate: Candidate, send: Send): Promise<Relayed> {
  const sent = await send({
    path: '/chat/completions',
    accept: request.stream ? 'text/event-stream' : 'application/json',
    body: () => toUpstreamBody(request, targetOf(candidate)),
  });
  if (sent.kind === 'failure') return sent;
  const { describe, drain } = sent;
  if (request.stream && !sent.contentType.includes('application/json')) {
    return { kind: 'stream', batches: readStream(sent.body, { describe, choices: request.choices }), drain };
  }
  const text = await sent.readText();
  const read = text === undefined ? { kind: 'unreadable' as const } : await readJsonAnswer(text);
  if (read.kind === 'error') {
    return { kind: 'failure', failure: { ...classifyErrorObject(read.error), providerText: describe(read.error) } };
  }
  if (read.kind === 'unreadable' || request.stream) {
    return { kind: 'failure', failure: { kind: 'failed', cause: 'unreadable_answer' } };
  }
  return { kind: 'json', answer: read.answer };
}

const targetOf = ({ entry, provider }: Candidate) => ({
  model: entry.upstream_model,
  reasoningStyle: provider.reasoning_style,
  reportsStreamUsage: provider.stream_usage !== false,
});
