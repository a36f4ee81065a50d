// Calls a candidate in the format that it speaks, and reads its answer as the client's interface does.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { NoAnswer, Send } from '../providers/index.ts';
import type { CandidateCall, CandidateOutcome } from './candidate-call.ts';
import { canBeForced, wayTo } from './capabilities.ts';
import { relay } from './relay.ts';

/** Rejects where `send` does, or where the body breaks. */
export async function callCandidate(call: CandidateCall, candidate: Candidate, send: Send): Promise<CandidateOutcome> {
  const { request } = call;
  const way = wayTo(candidate, request);
  if (way === undefined) throw new Error(`the plan has a provider that does not serve ${request.interfaceId}`);
  if (way.kind === 'relay') return relay(call, candidate, send);
  const [lacking] = way.lacks;
  // The planner passes such a candidate over; here nothing is dropped in silence either.
  if (lacking !== undefined) return cannotSay(lacking.member);
  const itself = request.answerItself?.();
  if (itself !== undefined) return { kind: 'json', answer: itself, spoken: { format: way.api, leftOut: [] } };
  // Loaded with the first call of such a provider.
  const { callThroughHub } = await import('./hub/index.ts');
  const { interfaceId, model: askedModel, stream } = request;
  const asked = {
    interfaceId,
    api: way.api,
    askedModel,
    stream,
    size: request.size(),
    characters: request.text().text.length,
  };
  const { correlationId: id, createdSeconds } = call;
  return callThroughHub(
    {
      ...asked,
      body: request.wholeBody(),
      canForceTools: canBeForced(candidate),
      leftOut: betasIn(call),
      id,
      createdSeconds,
    },
    candidate,
    send,
  );
}

const cannotSay = (param: string): NoAnswer => ({
  kind: 'failure',
  failure: { kind: 'invalid', param, reason: 'unsupported_parameter', cause: 'not_translatable' },
});

/** As SDKs call the member that becomes these headers. */
const betasIn = ({ passedOn: { headers } }: CandidateCall): readonly string[] =>
  Object.keys(headers).some((name) => /-beta$/i.test(name)) ? ['betas'] : [];
