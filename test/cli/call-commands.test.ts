// Commands that are one request of the management interface; every row of their table runs with the example from its
// help.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createKeyStore, createOperatorStore } from '../../shared/configuration/keys/index.ts';
import {
  type CommandWords,
  type ManagementRoute,
  managementRoutes,
  routeOf,
} from '../../shared/configuration/management/index.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate } from './operator.ts';

const rows = Object.values(managementRoutes as Readonly<Record<string, ManagementRoute>>);
const commands = rows.flatMap(({ commands: words = [] }) => words) as CommandWords[];

let local: LocalStore;
let before: unknown;
beforeAll(async () => {
  local = await startLocalStore();
  const { providers, models } = gatewayFile();
  const revision = (id: string, state: string) => ({
    id,
    state,
    model: 'acme/small',
    messages: [{ role: 'user', content: `${id} {{input}}` }],
  });
  const revisions = [revision('r1', 'activated'), revision('r2', 'draft')];
  const file = {
    providers: [...providers, { id: 'openai', kind: 'openai' }],
    models: [...models, { id: 'openai/gpt-5.4', providers: [{ provider: 'openai' }] }],
    workspaces: [{ id: 'team-a', credit_usd: '5', functions: [{ id: 'label', kind: 'prompt', revisions }] }],
  };
  expect(await operate(`apply -f ${local.write('gateway.yaml', file)} ${local.option}`)).toMatchObject({ code: 0 });
  const key = { publicId: 'ek0f2eiHeJiNSCrK', secretSha256: '0'.repeat(64), status: 'active' } as const;
  await createKeyStore(local.store).write({ ...key, workspace: 'team-a', name: 'ci' });
  await createOperatorStore(local.store).write({
    ...key,
    name: 'grace',
    createdAtMs: 0,
    role: 'owner',
    workspaces: 'all',
  });
  before = await storedText();
});
afterAll(() => local.stop());

const storedText = async () => {
  const lines = ['export --full', 'keys list', 'operators list'].map((line) => operate(`${line} ${local.option}`));
  return (await Promise.all(lines)).map(({ out }) => out).join('\n');
};

async function exampleOf(words: string): Promise<string> {
  const { out } = await operate(`${words} --help`);
  const [, line = ''] = /^Example: npm run gw -- (.+) --stage dev$/m.exec(out) ?? [];
  expect(line.startsWith(words)).toBe(true);
  return `${line} ${local.option}`;
}

describe('a command that is one request of the management interface', () => {
  it.each(commands.filter((words) => routeOf(words).startsWith('GET ')))(
    '%s runs as its help shows: for people, and as one document with every column of its table; nothing is written',
    async (words) => {
      const line = await exampleOf(words);
      const shownCall = await operate(line);
      expect(shownCall).toMatchObject({ code: 0, error: '' });
      expect(shownCall.out).not.toBe('');
      const { code, out } = await operate(`${line} --json`);
      expect([code, typeof JSON.parse(out)]).toEqual([0, 'object']);
      expect(await storedText()).toBe(before);
    },
  );

  it.each(commands.filter((words) => !routeOf(words).startsWith('GET ')))(
    '%s runs as its help shows, says what changed, and says so no second time if nothing did',
    async (words) => {
      const line = await exampleOf(words);
      const unchanged = await storedText();
      if (line.includes('--yes')) {
        const question = await operate(line.replace(' --yes', ''));
        expect(question).toMatchObject({ code: 2, out: '', error: expect.stringContaining('pass --yes') });
        expect(await operate(line.replace(' --yes', ''), { answers: ['no'] })).toMatchObject({ code: 1, out: '' });
        expect(await storedText()).toBe(unchanged);
      }
      const first = await operate(`${line} --json`);
      if (/disable|update team|create|activate|rotate|revoke/.test(line))
        expect(await storedText()).not.toBe(unchanged);
      if (line.includes('--dry-run') || words === 'models diff') expect(await storedText()).toBe(unchanged);
      expect(first).toMatchObject({ code: 0, error: '' });
      const again = await operate(`${line} --json`);
      const [done, repeated] = [JSON.parse(first.out), again.code === 0 ? JSON.parse(again.out) : undefined];
      if ('change' in done)
        expect([done.change, repeated?.change]).toEqual([expect.stringMatching(/ed$/), 'unchanged']);
      else if (repeated === undefined) expect(again.error).toMatch(/already|is taken|is the active/);
      else if (words === 'keys rotate') expect(repeated.former.public_id).toBe(done.public_id);
      else expect(repeated).toEqual(done);
    },
  );
});
