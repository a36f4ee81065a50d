// The planner: facts in, an ordered list of candidates or the one right error out. No I/O. The conditions stand in the
// order of contract 5, so the first that leaves nobody names the error. Who is not in the plan gets nothing of a request.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import type { ChatRequest, PolicyOptions } from '../../protocol/wire/index.ts';
import type { ByokFacts } from './byok.ts';
import { probablyFits, promptTextBytes } from './context-length.ts';
import { loosens, satisfies, tighten } from './data-policy.ts';
import { readNeeds, supportsAll } from './features.ts';
import { type OrderFacts, orderCandidates } from './order.ts';
import { isBillable, isUnderCap } from './prices.ts';
import { findUnknownPin, readProviderChoice } from './provider-choice.ts';
import { failUnknownModel } from './unknown-model.ts';
import { type VisibilityFacts, visibleCandidates } from './visible-candidates.ts';

export interface PlanFacts extends OrderFacts, VisibilityFacts {
  readonly workspace: VisibilityFacts['workspace'] & { readonly data_policy: PolicyOptions };
  /** Whether we hold a credential for the provider, or it needs none. */
  readonly isConfigured: (candidate: Candidate) => boolean;
  /** Undefined: every candidate is called with our credential and billed. */
  readonly byok?: ByokFacts | undefined;
}

/** Never empty. In the order of trying. */
export type Plan = readonly [Candidate, ...Candidate[]];

export function makePlan(request: ChatRequest, facts: PlanFacts): Plan | GatewayError {
  const { provider: wishes } = request;
  const unknownPin = findUnknownPin(wishes, facts.catalogue);
  if (unknownPin !== undefined) return refusePin(unknownPin);
  let left = visibleCandidates(request.model, facts);
  if (left === undefined) return failUnknownModel(request.model, facts.catalogue, facts.workspace);
  for (const { code, message, keeps } of readConditions(request, facts)) {
    left = left.filter(keeps);
    if (left.length === 0) return fail(code, message === undefined ? {} : { message });
  }
  const promptBytes = promptTextBytes(request);
  const [first, ...rest] = orderCandidates(left, wishes, facts, (candidate) => !probablyFits(candidate, promptBytes));
  if (first === undefined) throw new Error('ordering lost every candidate');
  return [first, ...rest];
}

interface Condition {
  /** The error where nobody is left. */
  readonly code:
    | 'model_not_routable'
    | 'data_policy_loosening_forbidden'
    | 'no_policy_compliant_provider'
    | 'feature_unsupported'
    | 'structured_output_unsupported'
    | 'byok_no_eligible_connection'
    | 'price_cap_exceeded'
    | 'provider_not_configured';
  /** In place of the default text of the code. */
  readonly message?: string;
  readonly keeps: (candidate: Candidate) => boolean;
}

function readConditions(request: ChatRequest, facts: PlanFacts): readonly Condition[] {
  const { policy: asked, maxPrice } = request.provider;
  const { data_policy: enforced } = facts.workspace;
  const isChosen = readProviderChoice(request.provider);
  const isLoosened = loosens(asked, enforced);
  const policy = tighten(asked, enforced);
  const needs = readNeeds(request);
  const mustBringKey = facts.byok?.isRequired ?? false;
  const bringsKey = (candidate: Candidate) => facts.byok?.sourceOf(candidate) !== undefined;
  // Where a key must be brought, prices of ours matter to nobody, and a missing key has a code of its own.
  const isPaid = (candidate: Candidate) => mustBringKey || bringsKey(candidate) || isBillable(candidate);
  return [
    { code: 'model_not_routable', keeps: (candidate) => isChosen(candidate.provider.id) && isPaid(candidate) },
    { code: 'data_policy_loosening_forbidden', keeps: () => !isLoosened },
    { code: 'no_policy_compliant_provider', keeps: ({ provider }) => satisfies(provider.data_policy, policy) },
    {
      code: 'feature_unsupported',
      message: `No eligible provider of the model supports all that is requested: ${needs.features.join(', ')}.`,
      keeps: (candidate) => supportsAll(candidate, needs.features),
    },
    {
      code: 'structured_output_unsupported',
      keeps: ({ entry }) => !needs.jsonSchema || entry.supported_params.json_schema,
    },
    // Spec 7.3 asks for a connection that can serve the model and the features, so it is looked for among those.
    { code: 'byok_no_eligible_connection', keeps: (candidate) => !mustBringKey || bringsKey(candidate) },
    { code: 'price_cap_exceeded', keeps: (candidate) => isUnderCap(candidate, maxPrice) },
    { code: 'provider_not_configured', keeps: (candidate) => bringsKey(candidate) || facts.isConfigured(candidate) },
  ];
}

/** A client's text comes back shortened: it may be megabytes long. */
const quotedCharactersMax = 64;

const refusePin = (id: string): GatewayError =>
  fail('invalid_request', {
    message: `provider.only: no provider "${id.slice(0, quotedCharactersMax)}" is in the catalogue`,
  });
