import { describe, expect, it } from '#jest';
import { warmChat } from '../../../shared/composition/index.ts';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { LogFields } from '../../../shared/foundation/log/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { type CheckedCredentials, createCredentialCheck } from '../../../shared/routing/providers/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { catalogueOf, providerOf } from '../../support/planning.ts';

const bearer = (env: string, more: Partial<ProviderDocument> = {}) =>
  providerOf(env.toLowerCase(), { auth: { bearer: { env } }, ...more });

function start(isSet: readonly string[]) {
  const lines: LogFields[] = [];
  const reports: CheckedCredentials[] = [];
  const variables = { isReadable: true };
  const check = createCredentialCheck({
    credentials: {
      find({ auth }) {
        if (!variables.isReadable) throw new StoreUnavailable('not read yet');
        if (auth === 'none' || !('bearer' in auth) || !('env' in auth.bearer)) return { authorization: undefined };
        return isSet.includes(auth.bearer.env) ? { authorization: 'Bearer x' } : undefined;
      },
      warm: async () => {},
      ready: async () => {},
      refresh: async () => {},
    },
    log: { info: () => {}, error: (fields) => void lines.push(fields) },
    onChecked: (checked) => void reports.push(checked),
  });
  return { check, lines, reports, variables };
}

describe('what providers lack', () => {
  it('is logged once by provider and name, again when another catalogue brings more, and never for a disabled one', () => {
    const { check, lines, reports } = start(['PRESENT']);
    const first = catalogueOf(
      [],
      [bearer('PRESENT'), bearer('A'), bearer('OFF', { status: 'disabled' }), providerOf('free')],
    );
    check.look(first);
    check.look(first);
    expect(lines).toEqual([
      {
        event: 'provider_without_credential',
        provider: 'a',
        message: 'the gateway file names A, which is not set: no call goes there',
      },
    ]);
    check.look(catalogueOf([], [bearer('A'), bearer('B')]));
    expect(lines.map(({ provider }) => provider)).toEqual(['a', 'b']);
    expect(reports).toEqual([
      { present: ['present', 'free'], missing: ['a'] },
      { present: [], missing: ['a', 'b'] },
    ]);
  });

  it('is looked at again with the next call where the credentials could not be read yet', () => {
    const { check, lines, variables } = start([]);
    const catalogue = catalogueOf([], [bearer('A')]);
    variables.isReadable = false;
    check.look(catalogue);
    expect(lines).toEqual([]);
    variables.isReadable = true;
    check.look(catalogue);
    expect(lines).toHaveLength(1);
  });

  it('is logged while a function starts, before its first call', async () => {
    const { check: credentialCheck, lines } = start([]);
    const nothing = async () => {};
    await warmChat({
      clock: systemClock,
      catalogue: { current: async () => catalogueOf([], [bearer('A')]) },
      credentials: { find: () => undefined, warm: nothing, ready: nothing, refresh: nothing },
      credentialCheck,
      cooldowns: { isCooling: () => false, coolingFor: () => [], refresh: nothing, report: () => {}, flush: nothing },
    });
    expect(lines).toHaveLength(1);
  });
});
