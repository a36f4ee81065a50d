// The format of providers that speak the client's own interface: the body goes out as it was sent, less what is the gateway's,
// and answers and events come back as they are.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import { readEvents } from '../../protocol/wire/index.ts';
import type { Format } from './provider-format.ts';

export const relay: Format = async ({ clientInterface, request, passedOn, zdr }, candidate, send) => {
  const sent = await send({
    path: clientInterface.upstreamPath + (passedOn.query === '' ? '' : `?${passedOn.query}`),
    headers: passedOn.headers,
    accept: request.stream ? 'text/event-stream' : 'application/json',
    body: () => request.upstreamBody(targetOf(candidate, zdr)),
  });
  if (sent.kind === 'failure') return sent;
  const { describe, drain } = sent;
  if (request.stream && !sent.contentType.includes('application/json')) {
    return { kind: 'stream', events: readEvents(sent.body, upstreamEventMaxBytes), drain, describe };
  }
  const text = await sent.readText();
  if (text === undefined) return { kind: 'failure', failure: { kind: 'failed', cause: 'unreadable_answer' } };
  return { kind: 'json', text, describe };
};

const targetOf = ({ entry, provider }: Candidate, zdr: boolean) => ({
  zdr,
  model: entry.upstream_model,
  reasoningStyle: provider.reasoning_style,
  reportsStreamUsage: provider.stream_usage !== false,
});
