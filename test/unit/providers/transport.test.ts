import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import type { Simulator } from '../../../infra/local/simulator/index.ts';
import { warmGateway } from '../../../shared/composition/index.ts';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { LogFields } from '../../../shared/foundation/log/index.ts';
import { ConnectionBroken } from '../../../shared/foundation/outgoing/index.ts';
import { nextTurn, systemClock } from '../../../shared/foundation/time/index.ts';
import { anyOrigin } from '../../../shared/protocol/http/index.ts';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { readEvents } from '../../../shared/protocol/wire/index.ts';
import {
  type CheckedCredentials,
  createCredentialCheck,
  createTransport,
  environmentCredentials,
  readStream,
} from '../../../shared/routing/providers/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { catalogueOf, providerOf } from '../../support/planning.ts';
import { startTestSimulator } from '../../support/test-simulator.ts';

describe('a call to a provider', () => {
  let simulator: Simulator;
  const transport = createTransport(systemClock);

  beforeAll(async () => {
    simulator = await startTestSimulator();
  });
  afterAll(async () => {
    transport.close();
    await simulator.stop();
  });
  afterEach(() => simulator.clear());

  const requestFor = (model: string, signal: AbortSignal, stream = false) => ({
    url: new URL(`${simulator.urlOf('acme')}/chat/completions`),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'é' }] }),
    connectTimeoutMs: 1_000,
    signal,
  });
  const never = () => new AbortController().signal;

  it('that is given up while its connection returns to the pool ends no process', async () => {
    const faults = ['error-200', 'error-after-role', 'error-after-chunks:3', 'garbage:0', 'role-only', 'empty-stream'];
    for (const model of [...faults, ...faults]) {
      const controller = new AbortController();
      const { body } = await transport.send(requestFor(model, controller.signal, true));
      try {
        for await (const _batch of readStream(readEvents(body, 100_000), chatCompletions.openEventReader(1), {
          describe: () => undefined,
          onEnd: () => {},
          onEvent: () => {},
        }));
      } catch {
        // Another test checks how it broke.
      }
      controller.abort();
      // An error event without a listener would fire now, and fail the whole file.
      await nextTurn();
    }
    expect(simulator.calls).toHaveLength(2 * faults.length);
  });

  it('is not made if its signal was aborted before', async () => {
    await expect(transport.send(requestFor('echo', AbortSignal.abort()))).rejects.toThrow(ConnectionBroken);
    expect(simulator.calls).toEqual([]);
  });

  it('is unreachable if nothing listens, and its error does not name the address', async () => {
    const url = new URL('http://127.0.0.1:1/v1/chat/completions');
    const failure = await transport.send({ ...requestFor('echo', never()), url }).catch((error) => error);
    expect(failure).toBeInstanceOf(ConnectionBroken);
    expect(failure).toMatchObject({ wasDead: false, mayHaveArrived: false });
    expect(failure.message).not.toContain('127.0.0.1');
  });
});

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
        if (auth === 'none' || !('bearer' in auth) || !('env' in auth.bearer)) return { headers: {} };
        return isSet.includes(auth.bearer.env) ? { headers: { authorization: 'Bearer x' } } : undefined;
      },
      secretOf: () => undefined,
      warm: async () => {},
      ready: async () => {},
      refresh: async () => {},
    },
    log: { info: () => {}, error: (fields) => void lines.push(fields) },
    onChecked: (credentials) => void reports.push(credentials),
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

  it('is logged by the position of a credential if a provider has several, and reported by the name of its secret', () => {
    const { check, lines, reports } = start(['A']);
    check.look(catalogueOf([], [bearer('A', { credentials: [{ env: 'A' }, { env: 'B' }] })]));
    expect(lines).toMatchObject([{ provider: 'a', credential: 2, message: expect.stringContaining('names B') }]);
    expect(reports).toEqual([{ present: ['a#A'], missing: ['a#B'] }]);
  });

  it.each([
    ['', 'which is not set'],
    ['sk-key\n', 'which has a line end'],
    ['sk-key\r\n', 'which has a line end'],
    ['sk-\u00e4', 'which is no key'],
    ['{"private_key": "x"}', 'which is no key'],
  ])('is distinguished from a value that is there and cannot be sent: %j', (secret, words) => {
    const lines: LogFields[] = [];
    const log = { info: () => {}, error: (fields: LogFields) => void lines.push(fields) };
    createCredentialCheck({ credentials: environmentCredentials(() => secret), log }).look(
      catalogueOf([], [bearer('A')]),
    );
    expect(lines).toMatchObject([
      { provider: 'a', message: expect.stringContaining(`the gateway file names A, ${words}`) },
    ]);
    if (secret !== '') expect(JSON.stringify(lines)).not.toContain(secret.trim());
  });

  it('is looked at again with the next call if the credentials could not be read yet', () => {
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
    await warmGateway({
      clock: systemClock,
      catalogue: { current: async () => catalogueOf([], [bearer('A')]), known: () => undefined },
      credentials: {
        find: () => undefined,
        secretOf: () => undefined,
        warm: nothing,
        ready: nothing,
        refresh: nothing,
      },
      credentialCheck,
      cooldowns: {
        isCooling: () => false,
        coolingFor: () => [],
        lastFailure: () => undefined,
        unreached: () => undefined,
        noted: () => undefined,
        isStale: () => false,
        refresh: nothing,
        report: () => {},
        flush: nothing,
      },
      origin: anyOrigin,
    });
    expect(lines).toHaveLength(1);
  });
});
