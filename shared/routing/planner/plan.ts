// Plans a call: returns a ranked list of candidates or the one right error, without I/O. The conditions have the
// precedence of their errors, so the first check that leaves no candidate determines the error. A provider outside the
// plan gets no part of a request.
import { type Candidate, isAccount, serves } from '../../configuration/catalogue/index.ts';
import { fail, GatewayError, quote } from '../../errors/index.ts';
import { once } from '../../foundation/cache/index.ts';
import { autoModelId, listedAs } from '../../foundation/constants/index.ts';
import { bringsInput } from '../../protocol/interfaces/index.ts';
import type { HubNeed, PolicyOptions, RoutedRequest, StateReference } from '../../protocol/wire/index.ts';
import { type CallPrices, callPrices, comparedPrice } from '../billing/index.ts';
import { addsCacheMarks, chooseFormat, marksItsCache } from '../formats/index.ts';
import { madeFor } from './auto-models.ts';
import type { ByokSources } from './byok.ts';
import { excludingMember, looseningMember, satisfies, tighten } from './data-policy.ts';
import { failUnsupported, failUntranslatable, supportsAll } from './features.ts';
import { isBillable, type OrderInput, orderCandidates, probablyFits } from './order.ts';
import { isUnderCap, overCapText } from './price-cap.ts';
import { type ProviderChoice, readProviderChoice, refuseUnknownPin } from './provider-choice.ts';
import { failUnknownModel, type VisibilityInput, visibleCandidates } from './visible-candidates.ts';

export interface PlanInput extends OrderInput, VisibilityInput {
  readonly workspace: VisibilityInput['workspace'] & { readonly data_policy: PolicyOptions };
  /** Returns true if the provider has a credential, or needs no credential. */
  readonly isConfigured: (candidate: Candidate) => boolean;
  /** Keys of the client; undefined when every candidate is called with the gateway's credential and billed. */
  readonly byok?: ByokSources | undefined;
  /** The account that stores the referenced input, if known. */
  readonly storingAccount?: string | undefined;
  /** A reference to an object that this workspace did not create, if any. */
  readonly unknownInput?: StateReference | undefined;
  /** A reference to an object that this workspace created with a key of the client's own, if any. */
  readonly ownKeyInput?: StateReference | undefined;
}

/** Candidates in the sequence in which they are tried; never empty. */
export type Plan = readonly [Candidate, ...Candidate[]];

/**
 * Makes the plan from the candidates of the model, then from the candidates of its fallback models. If none remains,
 * the first error counts.
 */
export function makePlan(request: RoutedRequest, input: PlanInput): Plan | GatewayError {
  const unknownPin = refuseUnknownPin(request, input.catalogue);
  if (unknownPin !== undefined) return unknownPin;
  const models = [request.model, ...request.fallbackModels];
  const unknown = models.find((model) => visibleCandidates(model, input, request) === undefined);
  if (unknown !== undefined) return failUnknownModel(unknown, input, request);
  const plans = models.map((model) => planModel(model === request.model ? request : { ...request, model }, input));
  const [first, ...rest] = new Set(plans.flatMap((plan) => (plan instanceof GatewayError ? [] : plan)));
  const error = plans.find((plan) => plan instanceof GatewayError);
  if (first !== undefined) return bringsInput(request.providerState) ? [first] : [first, ...rest];
  if (error === undefined) throw new Error('a plan without candidates gave no error');
  return error;
}

function planModel(request: RoutedRequest, input: PlanInput): readonly Candidate[] | GatewayError {
  // A key of the client's replaces each credential alike.
  const isAsked = (candidate: Candidate) =>
    (candidate.provider.credential ?? 1) === 1 || input.byok?.sourceOf(candidate) === undefined;
  const candidates = visibleCandidates(request.model, input, request) ?? [];
  const visible = candidates.every(isAsked) ? candidates : candidates.filter(isAsked);
  let remaining = request.model === autoModelId ? madeFor(request.interfaceId, visible) : visible;
  const pricesOf = pricesOfCall(request);
  for (const { refuse, keeps } of readConditions(request, input, pricesOf)) {
    if (remaining.length > 0 && remaining.every(keeps)) continue;
    const admitted = remaining.filter(keeps);
    if (admitted.length === 0) return refuse(remaining);
    remaining = admitted;
  }
  if (remaining.length < 2) return remaining;
  const { promptBytes } = request.needs();
  return orderCandidates(remaining, request.provider, input, {
    isDoubtful: (candidate) => !probablyFits(candidate, promptBytes),
    priceOf: comparedPrice(remaining, request.size(), pricesOf),
  });
}

type PricesOf = (candidate: Candidate) => CallPrices;

/** Returns the prices of the call. The body is searched for cache marks only if an entry has a price for them. */
function pricesOfCall(request: RoutedRequest): PricesOf {
  const isMarked = once(() => marksItsCache(request.text().text));
  const known = new Map<Candidate['entry'], CallPrices>();
  return (candidate) => {
    const size = request.size();
    const prices =
      known.get(candidate.entry) ?? callPrices(candidate, size, () => isMarked() || addsCacheMarks(candidate, size));
    known.set(candidate.entry, prices);
    return prices;
  };
}

interface Condition {
  /** Returns the error if no candidate remains. `remaining` are the candidates before this condition. */
  readonly refuse: (remaining: readonly Candidate[]) => GatewayError;
  readonly keeps: (candidate: Candidate) => boolean;
}

function readConditions(request: RoutedRequest, input: PlanInput, pricesOf: PricesOf): readonly Condition[] {
  const { policy: requestPolicy, maxPrice } = request.provider;
  const { data_policy: enforced } = input.workspace;
  const choice = readProviderChoice(request.provider);
  const policy = tighten(requestPolicy, enforced);
  const needs = request.needs();
  const loosening = looseningMember(requestPolicy, enforced) ?? (policy.zdr === true ? needs.storingMember : undefined);
  const mustBringKey = input.byok?.isRequired ?? false;
  const bringsKey = (candidate: Candidate) => input.byok?.sourceOf(candidate) !== undefined;
  // If the client must bring a key, the gateway's prices do not matter, and a missing key has a code of its own.
  const isPaid = (candidate: Candidate) => mustBringKey || bringsKey(candidate) || isBillable(candidate);
  const servesClient = (candidate: Candidate) => serves(candidate, request.interfaceId);
  const lacks = (candidate: Candidate) => lacksOf(candidate, request);
  const { storingAccount, unknownInput, ownKeyInput } = input;
  // A key of the client's replaces any credential of the storing account.
  const isAtStoringAccount = (candidate: Candidate) =>
    isAccount(candidate.provider, storingAccount) ||
    (bringsKey(candidate) && candidate.provider.id === storingAccount?.split('#')[0]);
  const mayReach = (candidate: Candidate) => bringsKey(candidate) || candidate.provider.shared_state === true;
  const mayCarry = (reference: StateReference | undefined, candidate: Candidate) =>
    reference === undefined ||
    mayReach(candidate) ||
    (reference.isCompared && (chooseFormat(candidate, request)?.kind ?? 'relay') !== 'relay');
  return [
    {
      refuse: (remaining) => failUnkept(storingAccount, remaining),
      keeps: (candidate) => storingAccount === undefined || isAtStoringAccount(candidate),
    },
    {
      refuse: (remaining) =>
        remaining.some(servesClient)
          ? failUnroutable(remaining.filter(servesClient), choice, isPaid)
          : failUnserved(request),
      keeps: (candidate) =>
        servesClient(candidate) && choice.admits(candidate.provider.id) && isEnabled(candidate) && isPaid(candidate),
    },
    {
      refuse: () => failLoosening(loosening, needs.storingMember, enforced),
      keeps: () => loosening === undefined,
    },
    {
      refuse: (remaining) => {
        const declared = remaining.map(({ provider }) => provider.data_policy);
        return fail('no_policy_compliant_provider', {
          message: undeclaredText(remaining, requestPolicy, policy),
          param: excludingMember(declared, requestPolicy, enforced),
        });
      },
      keeps: ({ provider }) => satisfies(provider.data_policy, policy),
    },
    {
      refuse: (remaining) => failUnsupported(remaining, needs.features, request.interfaceId),
      keeps: (candidate) => supportsAll(candidate, needs.features, request.interfaceId),
    },
    // A translation that would drop a part of the request is not used.
    {
      refuse: (remaining) => failUntranslatable(remaining.map(lacks)),
      keeps: (candidate) => lacks(candidate).length === 0,
    },
    // A translation drops the whole unknown input, and reports that.
    {
      refuse: () => failUnknownInput(unknownInput),
      keeps: (candidate) => mayCarry(unknownInput, candidate),
    },
    {
      refuse: () => failWithoutOwnKey(ownKeyInput),
      keeps: (candidate) => mayCarry(ownKeyInput, candidate),
    },
    {
      refuse: (remaining) => failUnstructured(remaining, needs.schemaMember),
      keeps: ({ entry }) => needs.schemaMember === undefined || entry.supported_params.json_schema,
    },
    // A connection must serve the model and the features, so it is searched for among the remaining candidates.
    {
      refuse: (remaining) =>
        fail('byok_no_eligible_connection', {
          message: `No authorised stored connection can serve the request: the workspace has none for ${providersOf(remaining)}.`,
        }),
      keeps: (candidate) => !mustBringKey || bringsKey(candidate),
    },
    {
      refuse: (remaining) => failOverCap(remaining, request, pricesOf),
      keeps: (candidate) => maxPrice === undefined || isUnderCap(pricesOf(candidate), maxPrice),
    },
    {
      refuse: failUnconfigured,
      keeps: (candidate) => bringsKey(candidate) || input.isConfigured(candidate),
    },
  ];
}

/** Returns the features of the request that its format lacks. */
function lacksOf(candidate: Candidate, request: RoutedRequest): readonly HubNeed[] {
  const way = chooseFormat(candidate, request);
  return way === undefined || way.kind === 'relay' ? [] : way.unsupportedNeeds;
}

function failOverCap(remaining: readonly Candidate[], request: RoutedRequest, pricesOf: PricesOf): GatewayError {
  const priceOf = comparedPrice(remaining, request.size(), pricesOf);
  const [cheapest] = remaining.filter(isBillable).toSorted((a, b) => (priceOf(a) < priceOf(b) ? -1 : 1));
  const message =
    cheapest === undefined
      ? 'No provider is available under provider.max_price: none has known prices.'
      : overCapText(cheapest, pricesOf(cheapest), request.provider.maxPrice ?? {});
  return fail('price_cap_exceeded', { message });
}

const failUnstructured = (remaining: readonly Candidate[], param: string | undefined): GatewayError =>
  fail('structured_output_unsupported', {
    message: `No selected provider supports json_schema (${providersOf(remaining)}): where the model can, the operator writes supported_params: { json_schema: true }.`,
    param,
  });

const failUnconfigured = (remaining: readonly Candidate[]): GatewayError =>
  fail('provider_not_configured', { message: `The gateway holds no credential for ${providersOf(remaining)}.` });

const isEnabled = ({ provider }: Candidate): boolean => provider.status === 'enabled';

/** Returns the error. If the request itself demands zdr, the workspace need not enforce anything. */
const failLoosening = (member = '', storing: string | undefined, enforced: PolicyOptions): GatewayError =>
  fail('data_policy_loosening_forbidden', {
    param: member,
    message:
      member === storing
        ? `${storing} lets a provider keep the call, which zdr rules out.`
        : enforcedText(member, enforced),
  });

function failUnkept(storingAccount = '', remaining: readonly Candidate[]): GatewayError {
  const [id] = storingAccount.split('#');
  const message = remaining.some(({ provider }) => provider.id === id)
    ? `The gateway has no longer the credential of ${id} that made what the request refers to.`
    : `The provider ${id} keeps what the request refers to, and does not serve the model.`;
  return fail('model_not_routable', { message });
}

const failUnknownInput = (input: StateReference | undefined): GatewayError =>
  fail('invalid_request', {
    message: `${input?.member}: names nothing that this workspace has made through this gateway in the last 30 days. Send the content itself, or call with a key of your own.`,
    param: input?.member,
    // Anthropic's SDK then begins a new thread with the whole conversation.
    ...(input?.member === 'thread' ? { providerCode: 'thread_not_found' } : {}),
  });

const failWithoutOwnKey = (input: StateReference | undefined): GatewayError =>
  fail('byok_no_eligible_connection', {
    message: `${input?.member}: was made with a key of your own: send it in x-byok-key.`,
    param: input?.member,
  });

const failUnserved = ({ model, interfaceId, memberOfModel }: RoutedRequest): GatewayError =>
  fail('model_not_routable', {
    message: `No provider of ${quote(model)} serves the interface ${listedAs(interfaceId)}: \`apis\` of the list of models says what a model serves.`,
    param: memberOfModel(model),
  });

function failUnroutable(
  remaining: readonly Candidate[],
  choice: ProviderChoice,
  isPaid: (candidate: Candidate) => boolean,
): GatewayError {
  const usable = remaining.filter((candidate) => isEnabled(candidate) && isPaid(candidate));
  const param = choice.excludingMember(usable.map(({ provider }) => provider.id));
  const chosen = remaining.map(({ provider }) => provider).filter(({ id }) => choice.admits(id));
  const disabled = new Set(chosen.filter(({ status }) => status !== 'enabled').map(({ id }) => id));
  if (disabled.size === 0) return fail('model_not_routable', { param });
  return fail('model_not_routable', {
    message: `No provider can serve the model now: the operator of this gateway has disabled ${[...disabled].join(', ')}.`,
    param,
  });
}

// Writes the messages of refused plans, which name the missing policy or key, and the providers that lack it.

const policyFields = ['zdr', 'data_collection', 'data_residency'] as const;
type PolicyField = (typeof policyFields)[number];

/** Writes a policy such as `zdr`, `data_collection deny`, `data_residency eu, us`. */
function policyText(name: PolicyField, policy: PolicyOptions): string {
  const value = policy[name];
  return value === true ? name : `${name} ${[value].flat().join(', ')}`;
}

const providersOf = (candidates: readonly Candidate[]): string =>
  [...new Set(candidates.map(({ provider }) => provider.id))].join(', ');

/**
 * Writes, for candidates that all fail the policy, the fields that no candidate declares. If each field is declared by
 * some candidate, writes all fields of the policy.
 */
function undeclaredText(remaining: readonly Candidate[], requestPolicy: PolicyOptions, policy: PolicyOptions): string {
  const isAsked = (name: PolicyField) =>
    policy[name] !== undefined && policy[name] !== 'allow' && policy[name] !== false;
  const applied = policyFields.filter(isAsked);
  const missing = applied.filter(
    (name) => !remaining.some(({ provider }) => satisfies(provider.data_policy, { [name]: policy[name] })),
  );
  const namedRules = missing.length > 0 ? missing : applied;
  const texts = namedRules.map(
    (name) => `${policyText(name, policy)} (of the ${requestPolicy[name] === undefined ? 'workspace' : 'request'})`,
  );
  const are = texts.length === 1 ? 'is' : 'are';
  const together = missing.length > 0 ? '' : ' together';
  return `No provider satisfies the data policy: ${texts.join(' and ')} ${are} not declared${together} by ${providersOf(remaining)}.`;
}

/** Writes the enforced policy. `member` is named as in a request, `provider.zdr`. */
function enforcedText(member: string, enforced: PolicyOptions): string {
  const name = policyFields.find((field) => member === `provider.${field}`);
  const what = name === undefined ? 'a data policy' : policyText(name, enforced);
  return `${member}: the workspace enforces ${what}.`;
}
