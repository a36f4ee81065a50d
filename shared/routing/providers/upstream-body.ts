// The body a provider receives: the client's, member for member, less what is ours (contract 3).
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ChatRequest, ReasoningWishes } from '../../protocol/wire/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';

/** Gateway members. `reasoning` returns in the provider's own style. */
const gatewayMembers = ['provider', 'cache', 'preset', 'usage', 'reasoning'];

export function toUpstreamBody(request: ChatRequest, { entry, provider }: Candidate): string {
  const body: Record<string, unknown> = { ...request.raw };
  for (const name of gatewayMembers) delete body[name];
  body.model = entry.upstream_model;
  Object.assign(body, reasoningMembers(request, provider.reasoning_style));
  if (request.stream) {
    // The gateway must bill, so it always asks; the usage chunk is relayed only to a client that asked too.
    const options = isJsonObject(body.stream_options) ? body.stream_options : {};
    body.stream_options = { ...options, include_usage: true };
  }
  return JSON.stringify(body);
}

type ReasoningStyle = Candidate['provider']['reasoning_style'];

function reasoningMembers({ raw, reasoning: wishes }: ChatRequest, style: ReasoningStyle): Record<string, unknown> {
  if (wishes === undefined || style === 'none') return {};
  // Contract 9: as sent. `exclude` goes along: in a stream only the provider can honour it.
  if (style === 'object') return { reasoning: raw.reasoning };
  const effort = toEffort(wishes);
  return effort === undefined ? {} : { reasoning_effort: effort };
}

/** Where a provider knows only effort, a token budget becomes the nearest level. */
const effortByBudget: readonly [tokensMax: number, effort: string][] = [
  [2_048, 'low'],
  [8_192, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
];

function toEffort({ effort, enabled, max_tokens: budget }: ReasoningWishes): string | undefined {
  if (enabled === false) return 'none';
  if (typeof effort === 'string') return effort;
  if (typeof budget === 'number') return effortByBudget.find(([tokensMax]) => budget <= tokensMax)?.[1];
  return enabled === true ? 'medium' : undefined;
}
