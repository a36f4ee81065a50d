// Excludes a provider from every plan, and includes it again (`providers list | disable | enable`).
import { calledName } from '../../../shared/accounting/call-records/index.ts';
import type { ProviderHealth, ProviderState } from '../../../shared/accounting/reports/index.ts';
import { modelsServedBy, planProviderStatus } from '../../../shared/configuration/administration/index.ts';
import { accountOf, type CalledProvider } from '../../../shared/configuration/catalogue/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { credentialName } from '../../../shared/routing/providers/index.ts';
import { addCallCommands, type CallCommand, input, type LineInput } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readProviderId } from '../args/option-values.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { readProviders } from './provider-health.ts';

export function addProviders(program: CommandLine): void {
  const providers = program.command('providers').description('providers of the applied gateway file, on and off');
  providers
    .command('list')
    .description('every provider and credential: whether it is enabled and there, how it does, and what it serves')
    .does(listProviders);
  addCallCommands<'providers'>(providers, { 'providers disable': disable, 'providers enable': enable });
}

interface ListedProvider {
  readonly provider: CalledProvider;
  readonly models: readonly string[];
  readonly missing: string | undefined;
  /** States at its models. */
  readonly states: readonly ProviderState[];
  /** Reason why it is not reached. */
  readonly reason: string | undefined;
}

async function listProviders(session: Session): Promise<CommandOutcome> {
  const opened = await session.open();
  session.terminal.showProgress('reading providers …');
  const { document, called, missing, providers, notes } = await readProviders(session, opened);
  const listed = called.map((provider) => {
    const providerHealths = providers.filter(({ account }) => account === accountOf(provider));
    return {
      provider,
      models: modelsServedBy(document, provider.id),
      missing: missing(provider),
      states: statesOf(providerHealths),
      reason: providerHealths.find((health) => health.reason !== undefined)?.reason,
    };
  });
  return {
    json: { providers: listed.map((one) => fieldJson(listedFields, one)), notes },
    lines: (style) =>
      listed.length === 0 ? ['there are no providers'] : [...fieldTable(listedFields, listed, style), ...notes],
  };
}

/** Omits the state of unused models if there are other states. */
function statesOf(healths: readonly ProviderHealth[]): readonly ProviderState[] {
  const states = [...new Set(healths.map(({ state }) => state))];
  return states.length > 1 ? states.filter((state) => state !== 'unused') : states;
}

const provider: LineInput = input('PROVIDER', 'names.id', readProviderId);

const enable: CallCommand<'POST /providers/{id}/enable'> = {
  takes: [provider],
  example: 'acme',
  shows: ({ data: { id, status, models_without_provider: unserved } }, { change }) => {
    const seconds = configFreshMs / 1_000;
    return {
      json: { provider: id, status, change, models_without_provider: unserved, effective_within_seconds: seconds },
      lines: () =>
        change === 'unchanged'
          ? [`provider ${id} was ${status} before`]
          : [
              `provider ${id} is ${status}, in every gateway within ${seconds} s`,
              ...(unserved.length === 0 ? [] : [`models without a provider now: ${unserved.join(', ')}`]),
            ],
    };
  },
};

const disable: CallCommand<'POST /providers/{id}/disable'> = {
  ...enable,
  notes: [
    'Calls go to the other providers of each model. Asks where a model would have none left and there is a terminal to ask on.',
    'Later applies keep it disabled, unless the file says status: enabled.',
  ],
  // A script is not asked, because it must not wait in an outage.
  async asks({ names: { id = '' } }, deps, { terminal }) {
    const { isChange, unserved } = await planProviderStatus(deps, id, 'disabled');
    if (!isChange || unserved.length === 0 || !terminal.canAsk) return undefined;
    return `leave ${unserved.join(', ')} without a provider by disabling ${id}`;
  },
};

const credentialOf = ({ provider, missing }: ListedProvider): string =>
  missing !== undefined ? 'missing' : provider.auth === 'none' ? 'not needed' : 'present';

const listedFields: readonly Field<ListedProvider>[] = [
  {
    member: 'provider',
    title: 'provider',
    isFlexible: true,
    value: ({ provider }) => provider.id,
    shown: ({ provider: { id, credential } }) => calledName({ provider: id, credential }),
  },
  { member: 'position', value: ({ provider }) => provider.credential },
  { member: 'display_name', title: 'name', isFlexible: true, value: ({ provider }) => provider.display_name },
  { member: 'status', title: 'status', value: ({ provider }) => provider.status },
  { member: 'states', title: 'state', value: ({ states }) => states, shown: ({ states }) => states.join(', ') },
  { member: 'reason', value: ({ reason }) => reason },
  {
    member: 'apis',
    title: 'apis',
    value: ({ provider }) => provider.apis,
    shown: ({ provider }) => provider.apis.join(', '),
  },
  { member: 'credential', title: 'credential', value: credentialOf },
  { member: 'credential_name', title: 'named', value: ({ provider }) => credentialName(provider.auth) },
  {
    member: 'models',
    title: 'models',
    align: 'right',
    value: ({ models }) => models,
    shown: ({ models }) => models.length,
  },
  { member: 'base_url', title: 'base URL', isFlexible: true, value: ({ provider }) => provider.base_url },
];
