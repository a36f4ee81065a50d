// Routes a call. Applies the BYOK header's rules, then the preset, and then makes the plan, because errors take
// precedence in this order. A refusal is returned, not thrown, because the client gets a stored answer instead if one
// exists.

import { noStatistics } from '../../../shared/accounting/provider-health/index.ts';
import { workspaceConnections } from '../../../shared/configuration/byok/index.ts';
import { modelsOfKey, readKeySetting } from '../../../shared/configuration/keys/index.ts';
import { applyPreset, type WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { nextTurn, type TimeBudget } from '../../../shared/foundation/time/index.ts';
import { type ClientRequest, providerStateMax, readAgain } from '../../../shared/protocol/interfaces/index.ts';
import { checkRequestSchema } from '../../../shared/protocol/json-schema/index.ts';
import type { RequestPath } from '../../../shared/protocol/memory-budget/index.ts';
import {
  findMember,
  type JsonObject,
  noEnvelopes,
  type PresetOption,
  rewriteMembers,
} from '../../../shared/protocol/wire/index.ts';
import {
  type ByokSources,
  checkByokHeader,
  entryOf,
  makePlan,
  mayBeTranslated,
  type PlanInput,
  readByokSources,
  sessionOf,
  tighten,
} from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallBody, CallChanges, IdentifiedCall, PlannedModelCall, RoutedCall } from '../stages.ts';
import { crossesFormats, isRelayedOnly, openEnvelopes } from './open-envelopes.ts';

export async function route(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  admissionTime: TimeBudget,
): Promise<RoutedCall | GatewayError> {
  const workspaceOfKey = forKey(call);
  const byok = readByok(call, workspaceOfKey);
  if (byok instanceof GatewayError) return byok;
  const { parsed, key } = call;
  const { preset } = parsed.clientBody.request;
  const merged = preset === undefined ? undefined : await mergePreset(call, workspaceOfKey, preset);
  if (merged instanceof GatewayError) return merged;
  const { request, bodyMemory } = merged?.body ?? parsed.clientBody;
  const workspace = merged?.workspace ?? workspaceOfKey;
  const unread = deps.credentials.ready();
  if (unread !== undefined) await admissionTime.wait(unread);
  const providerState =
    request.providerState.length === 0
      ? noProviderState
      : await admissionTime.wait(findProviderState(deps, request, workspace.id));
  const statistics = sortsByStatistics(request) ? await admissionTime.wait(deps.statistics.current()) : noStatistics;
  if (bodyMemory.isLong) await parseInSteps({ request, bodyMemory }, { catalogue: call.catalogue, workspace });
  const plan = makePlan(request, {
    catalogue: call.catalogue,
    workspace,
    byok,
    ...providerState,
    isConfigured: ({ provider }) => deps.credentials.find(provider) !== undefined,
    statsOf: (candidate) => statistics.measuredFigures(candidate.model.id, entryOf(candidate).provider),
    session: sessionOf(parsed, request),
    isCooling: (candidate) => deps.cooldowns.isCooling(entryOf(candidate), workspace.id),
  });
  if (plan instanceof GatewayError) return plan;
  const policy = tighten(request.provider.policy, workspace.data_policy);
  const unmadeInput =
    providerState.unknownInput === undefined ? [] : request.providerState.flatMap(({ id }) => id ?? []);
  const crosses = crossesFormats({ request, plan });
  const envelopes = crosses ? await admissionTime.wait(openEnvelopes(deps, workspace)) : noEnvelopes;
  const memory = bodyMemory.allocation.take(...pathsOf({ workspace, key, request, plan }));
  if (memory !== undefined) await memory;
  const effective = { request, bodyMemory, plan, size: request.size() };
  return { identified: call, effective, terms: { byok, envelopes, policy }, unmadeInput };
}

/** Returns the paths that the body takes from this point on, which determine the memory that it needs. */
const pathsOf = (
  call: Pick<IdentifiedCall, 'workspace' | 'key'> & Pick<PlannedModelCall, 'request' | 'plan'>,
): readonly RequestPath[] => [
  isRelayedOnly(call) ? 'relayed' : 'translated',
  ...(isGuarded(call) ? (['guarded'] as const) : []),
];

const isGuarded = ({ workspace, key }: Pick<IdentifiedCall, 'workspace' | 'key'>): boolean =>
  [workspace.guardrails, readKeySetting(key, 'guardrails')].some((ids) => (ids?.length ?? 0) > 0);

/**
 * Narrows the workspace to the models of the key's list. Any other model is unknown to the key, as `model`, in
 * `models`, in a preset and for `auto`. Functions are not narrowed, because a revision fixes the models and a client
 * cannot choose them.
 */
function forKey({ workspace, key }: IdentifiedCall): WorkspaceDocument {
  const models = modelsOfKey(workspace.models, { models: readKeySetting(key, 'models') });
  return models === workspace.models ? workspace : { ...workspace, models };
}

/** Number of models that are looked up at a time. After an unknown model the rest need not be looked up. */
const lookedAtOnce = 32;

type ProviderState = Pick<PlanInput, 'storingAccount' | 'unknownInput' | 'ownKeyInput'>;
const noProviderState: ProviderState = {};

/**
 * Finds the account that stores the state to which the request refers. Also finds the first id that this workspace did
 * not create, and the first id that this workspace created with a client's own provider key.
 */
async function findProviderState(
  { providerAffinity }: GatewayDependencies,
  { providerState }: ClientRequest,
  workspace: string,
): Promise<ProviderState> {
  let storingAccount: string | undefined;
  let ownKeyInput: ProviderState['ownKeyInput'];
  for (let at = 0; at < Math.min(providerState.length, providerStateMax); at += lookedAtOnce) {
    const looked = providerState.slice(at, at + lookedAtOnce);
    const ids = looked.map(({ id = '' }) => id);
    const found = await providerAffinity.find(workspace, ids);
    storingAccount ??= found.find((one, place) => one !== undefined && looked[place]?.isCompared !== true)?.provider;
    ownKeyInput ??= looked.find((_input, place) => found[place]?.isMade === true && found[place].withOwnKey === true);
    const unknown = looked.find((_input, place) => found[place]?.isMade !== true);
    if (unknown !== undefined) return { storingAccount, ownKeyInput, unknownInput: unknown };
  }
  return { storingAccount, ownKeyInput, unknownInput: providerState[providerStateMax] };
}

/** Returns true for the sortings that use statistics. Only these sortings wait for the statistics. */
const sortsByStatistics = ({ provider: { sort } }: ClientRequest): boolean =>
  sort === 'latency' || sort === 'throughput';

function readByok(call: IdentifiedCall, workspace: WorkspaceDocument): ByokSources | GatewayError | undefined {
  const { parsed, catalogue } = call;
  const { byokKey, clientBody } = parsed;
  const { connections } = workspaceConnections(workspace, call.connections);
  const isEnabled = workspace.features.byok;
  if (byokKey !== undefined) {
    const fault = checkByokHeader(clientBody.request, { catalogue, workspace, isEnabled, connections });
    if (fault !== undefined) return fault;
  }
  return isEnabled ? readByokSources({ hasHeaderKey: byokKey !== undefined, connections }) : undefined;
}

/**
 * Merges the preset into the request. The merged body is parsed again, because preset and request together may contain
 * a fault that neither contains alone.
 */
async function mergePreset(
  call: IdentifiedCall,
  workspace: WorkspaceDocument,
  named: PresetOption,
): Promise<{ readonly body: CallBody; readonly workspace: WorkspaceDocument } | GatewayError> {
  const { clientInterface, scope, passedOn, clientBody } = call.parsed;
  const { request: clientRequest, bodyMemory } = clientBody;
  const { streamsSchemas, dropsUnusedFields } = scope.baseUrlRules;
  const applied = applyPreset({ ...clientRequest.raw }, workspace, named);
  if (applied instanceof GatewayError) return applied;
  const { allocation } = bodyMemory;
  const reading = { allocation, dropsUnusedFields, passedOn, path: clientRequest.path };
  const merged = readAgain(clientInterface, mergedText(clientRequest, applied.body), reading);
  if (merged instanceof GatewayError) return merged;
  const options = { allowsStream: streamsSchemas, work: call.schemaWork };
  const fault = await checkRequestSchema(merged.request, options);
  return fault ?? { body: merged, workspace: applied.workspace };
}

/**
 * Returns the body as sent, with the fields that the preset adds or changes. For fields that the gateway does not read
 * the request takes precedence.
 */
function mergedText({ raw, text }: ClientRequest, merged: JsonObject): string {
  const json = text();
  const addedFields = Object.entries(merged).filter(
    ([name, value]) => value !== raw[name] && (Object.hasOwn(raw, name) || findMember(json, name) === undefined),
  );
  return rewriteMembers(json, new Map([['preset', undefined], ...addedFields]));
}

/** Replaces the model call of a routed call. */
export const routedChanges: CallChanges<RoutedCall> = {
  async withBody(call, masked) {
    const { identified, effective } = call;
    const visible = { catalogue: identified.catalogue, workspace: forKey(identified) };
    if (masked.bodyMemory.isLong) await parseInSteps(masked, visible);
    const { request, bodyMemory } = masked;
    return withModelCall(call, { request, bodyMemory, plan: effective.plan, size: request.size() });
  },
  withPlan(call, plan) {
    const { request, bodyMemory, size } = call.effective;
    return withModelCall(call, { request, bodyMemory, plan, size });
  },
};

const withModelCall = ({ identified, terms, unmadeInput }: RoutedCall, effective: PlannedModelCall): RoutedCall => ({
  identified,
  effective,
  terms,
  unmadeInput,
});

// Parses the values that routing reads. The values of a short body are parsed on first use. The values of a long body
// are parsed before, in turns of the event loop.

/** Parses each value in a turn of its own. */
export async function parseInSteps(
  { request, bodyMemory }: CallBody,
  visible: Pick<IdentifiedCall, 'catalogue' | 'workspace'>,
): Promise<void> {
  request.needs();
  await nextTurn();
  request.size();
  bodyMemory.letGoMedia();
  await nextTurn();
  if (!mayBeTranslated(request, visible)) return;
  await bodyMemory.readValues();
  request.hubNeeds();
  await nextTurn();
}
