// Every first call finds its data in memory, because a start reads the data before (shared/composition/warm-start.ts).
import { afterEach, describe, expect, it } from '#jest';
import { warmGateway } from '../../shared/composition/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { providerCredentials } from '../../shared/routing/providers/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { watchedClock } from '../support/watched-clock.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

type SecretReading = Awaited<ReturnType<Parameters<typeof providerCredentials>[0]['readSecret']>>;

const models = { 'acme/model': [{ provider: 'acme', upstream: 'echo' }] };
const acme = { auth: { bearer: { secret: 'acme' } } };
const secret: SecretReading = { kind: 'values', values: new Map([['acme', 'a-credential']]), unusable: 0 };

describe('a gateway that was warmed', () => {
  let gateway: Harness;
  let secretReads: number;
  let storeCalls: StoreCall[];
  /** Makes the reads fail, if set. */
  let fault: (() => Promise<never>) | undefined;
  afterEach(() => gateway.stop());

  async function start(clock = manualClock()) {
    secretReads = 0;
    storeCalls = [];
    const wrapStore = (store: Store) =>
      aroundStore(store, (call, run) => {
        storeCalls.push(call);
        return fault?.() ?? run();
      });
    const readSecret = async () => {
      secretReads += 1;
      return (await fault?.()) ?? secret;
    };
    const log = createLog({ clock, stage: 'test', level: 'error', write: () => {} });
    const replace = () => ({ credentials: providerCredentials({ readSecret, clock, log }) });
    gateway = await startHarness({ clock, models, providers: { acme }, wrapStore, replace });
    return gateway;
  }
  const configReads = () => storeCalls.filter(({ table }) => table === 'config').length;

  it('reads neither catalogue nor credentials in its first call', async () => {
    const { composition, post } = await start();
    await warmGateway(composition);
    expect(configReads()).toBeGreaterThan(0);
    expect(secretReads).toBe(1);
    storeCalls = [];
    expect((await post(hello('acme/model'))).status).toBe(200);
    const catalogueReads = storeCalls.filter(({ table, key }) => table === 'config' && /catalog/i.test(key));
    expect(catalogueReads).toEqual([]);
    expect(storeCalls.filter(({ key }) => key === 'COOLDOWNS')).toEqual([]);
    expect(secretReads).toBe(1);
    expect(gateway.simulator.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-credential']);
  });

  it('serves its first call although nothing answered while it started: a failure is forgotten', async () => {
    const { composition, post } = await start();
    fault = async () => {
      throw new StoreUnavailable(new Error('down'));
    };
    await warmGateway(composition);
    fault = undefined;
    expect((await post(hello('acme/model'))).status).toBe(200);
    expect(secretReads).toBe(2);
  });

  it('starts although nothing ever answers, after two seconds', async () => {
    const clock = watchedClock();
    const { composition } = await start(clock);
    const silence = Promise.withResolvers<never>();
    fault = () => silence.promise;
    let hasStarted = false;
    const starting = warmGateway(composition).then(() => {
      hasStarted = true;
    });
    clock.advance(1_999);
    await nextTurn();
    expect(hasStarted).toBe(false);
    clock.advance(1);
    await starting;
    fault = undefined;
    silence.reject(new StoreUnavailable(new Error('too late')));
  });
});
