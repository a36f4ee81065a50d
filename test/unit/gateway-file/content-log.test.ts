// `content_log` of workspaces and keys, and `content` of access, in the forms that a file may have.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { exportGatewayFile, gatewayFileText } from '../../../shared/configuration/gateway-file/index.ts';
import { contentLogFault, effectiveContentLog } from '../../../shared/configuration/keys/index.ts';
import { contentKeeps } from '../../../shared/foundation/constants/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import '../../support/property-seed.ts';
import { startTestStore, type TestStore } from '../../support/test-store.ts';
import { applyTo, changedResources, storesOn } from './applying.ts';
import { exampleKey, pathsOf, problemsOf } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const file = (ofWorkspace: string, ofKey: string, access = ''): string =>
  `providers: []
models: []
workspaces: [{ id: team, content_log: ${ofWorkspace}, keys: [{ name: ci, key: ${exampleKey}, content_log: ${ofKey} }] }]
${access}`;
const storedLogs = async () => {
  const stores = storesOn(database.store);
  const [key] = await collect(stores.keys.list());
  return [(await stores.workspaceStore.read('team'))?.content_log, key?.contentLog];
};

describe('a content log in a file', () => {
  it('has defaults if it begins, keeps what is left out, and ends by null', async () => {
    await applyTo(database.store, file('{}', '{ keep: 7d }'));
    expect(await storedLogs()).toEqual([{ keep: '30d', share: 1 }, { keep: '7d' }]);
    await applyTo(database.store, file('{ share: 0.5 }', '{ share: 0.25 }'));
    expect(await storedLogs()).toEqual([{ keep: '30d', share: 0.5 }, { share: 0.25 }]);
    const { notes } = await applyTo(database.store, file('null', '{ share: 0.25 }'));
    expect(await storedLogs()).toEqual([null, { share: 0.25 }]);
    expect(notes).toEqual([expect.stringContaining('workspaces[0].keys[].content_log has no effect')]);
  });

  it.each([
    ['{ keep: 30 }', 'null', 'workspaces[0].content_log.keep'],
    ['{ share: "1" }', 'null', 'workspaces[0].content_log.share'],
    ['{ keeps: 30d }', 'null', 'workspaces[0].content_log.keeps'],
    ['yes', 'null', 'workspaces[0].content_log'],
    ['{}', '{ share: -1 }', 'workspaces[0].keys[0].content_log.share'],
  ])('%s, of its key %s, is refused at %s', (ofWorkspace, ofKey, path) => {
    expect(pathsOf(file(ofWorkspace, ofKey))).toEqual([path]);
  });

  it.each([
    ['{ keep: 30d }', '{ keep: 90d }', 'keep: must not be longer than that of the workspace, 30d'],
    ['{ share: 0.5 }', '{ share: 0.6 }', 'share: must not be larger than that of the workspace, 0.5'],
  ])('of a key is never wider than %s: %s', async (ofWorkspace, ofKey, problem) => {
    const refusal = applyTo(database.store, file(ofWorkspace, ofKey));
    await expect(refusal).rejects.toThrow(`workspaces[0].keys[0].content_log.${problem}`);
    expect(await storedLogs()).toEqual([undefined, undefined]);
  });

  it('is exported so that the file can be applied again, even if the workspace was narrowed after its key', async () => {
    await applyTo(database.store, file('{ keep: 90d }', '{ keep: 30d }'));
    await applyTo(database.store, 'providers: []\nmodels: []\nworkspaces: [{ id: team, content_log: { keep: 7d } }]');
    const exportedText = gatewayFileText((await exportGatewayFile(storesOn(database.store), undefined)).file);
    expect(exportedText).toContain('keep: 7d');
    expect(changedResources(await applyTo(database.store, exportedText))).toEqual([]);
    expect(await storedLogs()).toEqual([{ keep: '7d', share: 1 }, { keep: '30d' }]);
  });

  it('is read by editors only if their entry says so, and by no role below', () => {
    const entry = (role: string) =>
      `access: [{ email: ada@example.com, role: ${role}, workspaces: all, content: true }]`;
    for (const role of ['editor', 'owner']) expect(problemsOf(file('{}', 'null', entry(role)))).toEqual([]);
    for (const role of ['viewer', 'member'])
      expect(pathsOf(file('{}', 'null', entry(role)))).toEqual(['access[0].content']);
  });
});

it('a key never keeps more than its workspace, and what may be written is what holds', () => {
  const keep = fc.constantFrom(...contentKeeps);
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const days = (text: string) => Number.parseInt(text, 10);
  fc.assert(
    fc.property(fc.record({ keep, share }), fc.record({ keep, share }, { requiredKeys: [] }), (ofWorkspace, ofKey) => {
      const holds = effectiveContentLog(ofWorkspace, ofKey);
      expect(days(holds?.keep ?? '')).toBeLessThanOrEqual(days(ofWorkspace.keep));
      expect(holds?.share).toBeLessThanOrEqual(ofWorkspace.share);
      const isAsWritten =
        holds?.keep === (ofKey.keep ?? ofWorkspace.keep) && holds.share === (ofKey.share ?? ofWorkspace.share);
      expect(contentLogFault(ofWorkspace, ofKey) === undefined).toBe(isAsWritten);
      expect(effectiveContentLog(null, ofKey)).toBeUndefined();
    }),
  );
});
