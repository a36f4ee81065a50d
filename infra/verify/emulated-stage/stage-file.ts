// Builds the gateway file of the stage, with a provider with a stored credential, a provider that a stored BYOK
// connection pays for, and a function. The providers are simulated on this machine.
import { stringify } from 'yaml';
import type { Simulator } from '../../local/simulator/index.ts';

/** Name under which the credential is stored. */
export const credentialName = 'acme';
export const providerCredential = 'acme-credential';
export const byokKey = 'byok-key';
/** Variable in the environment of the command line. */
export const byokVariable = 'GW_VERIFY_BYOK_KEY';
/** Models; the part after the slash selects the behaviour of the simulator. */
export const models = { withCredential: 'acme/echo', withLargeAnswers: 'acme/echo-request', withByok: 'bolt/echo' };
export const storedFunction = { id: 'shout', input: 'Hello' };

const entry = { input_price_per_million: '1.00', output_price_per_million: '2.00', context_length: 128_000 };

const model = (id: string, provider: string) => ({
  id,
  auto: id === models.withCredential,
  providers: [{ provider, ...entry }],
});

const revision = {
  id: 'r1',
  state: 'activated',
  model: models.withCredential,
  input: { type: 'text' },
  messages: [{ role: 'user', content: '{{input}}' }],
};

export const gatewayFile = ({ urlOf }: Simulator): string =>
  stringify({
    providers: [
      { id: 'acme', display_name: 'Acme', base_url: urlOf('acme'), auth: { bearer: { secret: credentialName } } },
      { id: 'bolt', display_name: 'Bolt', base_url: urlOf('bolt'), auth: 'none' },
    ],
    models: [
      model(models.withCredential, 'acme'),
      model(models.withLargeAnswers, 'acme'),
      model(models.withByok, 'bolt'),
    ],
    workspaces: [
      {
        id: 'team',
        credit_usd: '10',
        features: { byok: true },
        byok: { connections: [{ provider: 'bolt', key: { env: byokVariable }, policy: 'allowed' }] },
        keys: [{ name: 'first' }],
        functions: [{ id: storedFunction.id, kind: 'prompt', active: revision.id, revisions: [revision] }],
      },
    ],
  });
