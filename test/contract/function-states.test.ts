// States of functions and revisions as a client meets them. Time is moved by hand.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { configFreshMs } from '../../shared/foundation/constants/index.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt, revision, withoutIds } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

const lifeMs = 3_600_000;
const says = (text: string) => ({ messages: [{ role: 'user', content: `${text}: {{input}}` }] });

describe('a function', () => {
  let clock: ManualClock;
  let gateway: Harness;
  const otherKey = newKey();

  beforeAll(async () => {
    clock = manualClock();
    const expires_at = new Date(clock.nowMs() + lifeMs).toISOString();
    const versions = [
      revision({ id: 'old', ...says('old') }),
      revision({ id: 'new', ...says('new') }),
      revision({ id: 'draft', state: 'draft', ...says('draft') }),
    ];
    gateway = await startHarness({
      clock,
      models: modelsFor(['echo']),
      workspace: {
        functions: [
          prompt('versions', {}, { active: 'new', revisions: versions }),
          prompt('idle', {}, { active: null, revisions: versions }),
          prompt('fresh', {}, { active: null, revisions: [revision({ id: 'draft', state: 'draft' })] }),
          prompt('empty', {}, { active: null, revisions: [] }),
          prompt('off', {}, { active: 'new', revisions: versions, status: 'disabled' }),
          prompt(
            'mortal',
            {},
            { active: 'm2', revisions: [revision({ id: 'm1' }), revision({ id: 'm2', expires_at })] },
          ),
          prompt('shared', says('of the first team')),
        ],
      },
      moreWorkspaces: [
        {
          id: 'other',
          credit_usd: '1',
          keys: [{ name: 'other', key: otherKey }],
          functions: [prompt('theirs'), prompt('shared', says('of the other team'))],
        },
      ],
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  const call = (alias: string, headers: Record<string, string> = {}) => gateway.post(ask(alias), headers);
  const served = async (alias: string) => {
    const { gw, content } = await answerOf(await call(alias));
    return [gw.function_id, gw.revision_id, /wrote “([^:”]*)/.exec(content)?.[1]];
  };
  async function refused(alias: string, status: number, code: string): Promise<void> {
    await expectError(await call(alias), status, code);
    expect(gateway.simulator.calls).toHaveLength(0);
  }

  it('runs its active revision, and a former one by pin', async () => {
    expect(await served('versions')).toEqual(['versions', 'new', 'new']);
    expect(await served('versions@new')).toEqual(['versions', 'new', 'new']);
    expect(await served('versions@old')).toEqual(['versions', 'old', 'old']);
  });

  it('without an active revision runs by pin only', async () => {
    await refused('idle', 404, 'revision_not_available');
    expect(await served('idle@old')).toEqual(['idle', 'old', 'old']);
  });

  it.each(['fresh', 'empty', 'fresh@draft', 'versions@draft', 'versions@none', 'empty@r1'])(
    'has no revision that was never activated, nor one that does not exist: %s',
    (alias) => refused(alias, 404, 'revision_not_available'),
  );

  it('does not tell a draft from a revision that does not exist', async () => {
    expect(await withoutIds(await call('versions@draft'))).toEqual(await withoutIds(await call('versions@none')));
  });

  it.each(['off', 'off@old', 'off@draft', 'off@none'])('that is disabled runs nothing, pinned or not: %s', (alias) =>
    refused(alias, 409, 'function_disabled'),
  );

  it('that is not there, or belongs to another workspace, is not found, and both look the same to the byte', async () => {
    await refused('nobody', 404, 'function_not_found');
    await refused('theirs', 404, 'function_not_found');
    await refused('theirs@r1', 404, 'function_not_found');
    expect(await withoutIds(await call('theirs'))).toEqual(await withoutIds(await call('nobody')));
    expect(await withoutIds(await call('theirs@r1'))).toEqual(await withoutIds(await call('nobody@r1')));
  });

  it('belongs to the workspace of the key, whichever other has one of the same name', async () => {
    expect(await served('shared')).toEqual(['shared', 'r1', 'of the first team']);
    const theirs = { authorization: `Bearer ${otherKey}` };
    expect((await answerOf(await call('shared', theirs))).content).toContain('of the other team: Hello');
    expect((await answerOf(await call('theirs', theirs))).gw.function_id).toBe('theirs');
  });

  it('is disabled, enabled, and enabled by the activation of a revision, for every instance within seconds', async () => {
    const { functionStore } = gateway.composition;
    const seen = () => clock.advance(configFreshMs);
    expect(await served('versions')).toEqual(['versions', 'new', 'new']);
    await functionStore.disable('team', 'versions');
    seen();
    await expectError(await call('versions@old'), 409, 'function_disabled');
    await functionStore.enable('team', 'versions');
    seen();
    expect(await served('versions')).toEqual(['versions', 'new', 'new']);
    await functionStore.disable('team', 'versions');
    await functionStore.activate('team', 'versions', 'draft', clock.nowMs());
    seen();
    expect(await served('versions')).toEqual(['versions', 'draft', 'draft']);
    expect(await served('versions@new')).toEqual(['versions', 'new', 'new']);
  });

  it('that was refused runs from the first call after its enabling or activation, in an instance that refused it just now', async () => {
    const { functionStore } = gateway.composition;
    await functionStore.disable('team', 'versions');
    clock.advance(configFreshMs);
    await expectError(await call('versions'), 409, 'function_disabled');
    await functionStore.enable('team', 'versions');
    expect((await served('versions'))[0]).toBe('versions');
    await expectError(await call('idle'), 404, 'revision_not_available');
    await functionStore.activate('team', 'idle', 'new', clock.nowMs());
    expect(await served('idle')).toEqual(['idle', 'new', 'new']);
  });

  it('whose revision expires runs it up to that millisecond, and not from then on, pinned or not', async () => {
    const leftMs = 1_800_000_000_000 + lifeMs - clock.nowMs();
    clock.advance(leftMs - 1);
    expect((await served('mortal')).slice(0, 2)).toEqual(['mortal', 'm2']);
    clock.advance(1);
    gateway.simulator.clear();
    await refused('mortal', 409, 'qualification_expired');
    await refused('mortal@m2', 409, 'qualification_expired');
    expect((await served('mortal@m1')).slice(0, 2)).toEqual(['mortal', 'm1']);
  });

  it('refusals that time alone does not heal tell clients not to retry', async () => {
    for (const alias of ['off', 'mortal']) {
      const response = await call(alias);
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false']);
    }
  });
});
