// Objects of a workspace, in every store: each stays marked as created, whatever refers to it later, and every process
// knows it.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createProviderAffinity, type ProviderAffinity } from '../../shared/accounting/provider-affinity/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';

onEachStore((start) => {
  const clock = manualClock();
  /** Returns another process, whose memory is empty. */
  let anotherProcess: () => ProviderAffinity;
  let database: TestStore;
  beforeAll(async () => {
    database = await start();
    anotherProcess = () => createProviderAffinity(database.store, clock);
  });
  afterAll(() => database.stop());

  describe('what a call has made', () => {
    it('is found with its provider, of each id, in its workspace alone', async () => {
      const ids = Array.from({ length: 60 }, (_, at) => `resp_${at}`);
      await anotherProcess().remember('team', { newIds: ids }, { provider: 'acme' });
      const found = await anotherProcess().find('team', [...ids, 'resp_none']);
      expect(found.slice(0, -1)).toEqual(ids.map(() => expect.objectContaining({ provider: 'acme', isMade: true })));
      expect(found.at(-1)).toBeUndefined();
      expect(await anotherProcess().find('other', ids.slice(0, 1))).toEqual([undefined]);
    });

    it('stays made if a later call refers to it, and is not made by that', async () => {
      await anotherProcess().remember('team', { newIds: ['msg_1'] }, { provider: 'acme' });
      await anotherProcess().remember(
        'team',
        { newIds: ['msg_2'], referred: ['msg_1', 'conv_1'] },
        { provider: 'globex' },
      );
      expect(await anotherProcess().find('team', ['msg_1', 'msg_2', 'conv_1'])).toMatchObject([
        { provider: 'acme', isMade: true },
        { provider: 'globex', isMade: true },
        { provider: 'globex', isMade: false },
      ]);
    });
  });
});
