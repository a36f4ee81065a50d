// What an operator did, or what lies in the store, and a file that is applied over it.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

let local: LocalStore;
beforeEach(async () => {
  local = await startLocalStore();
});
afterEach(() => local.stop());

const applyLine = (content: unknown) => `apply -f ${local.write('gateway.yaml', content)} ${local.option}`;
describe('a key that an operator revoked', () => {
  async function revokedKey(): Promise<string> {
    const { created_keys } = await operateJson<{ created_keys: { key: string }[] }>(applyLine(gatewayFile()));
    const publicId = parseApiKey(created_keys[0]?.key ?? '')?.publicId ?? '';
    expect((await operate(`keys revoke ${publicId} --yes ${local.option}`)).code).toBe(0);
    return publicId;
  }
  const statusOf = async (publicId: string) => (await local.store.get('keys', publicId))?.status;

  it('comes back by status: active in the file, when the operator says yes to it', async () => {
    const publicId = await revokedKey();
    const line = applyLine(gatewayFile({ key: { status: 'active' } }));
    expect((await operate(`${line} --dry-run`)).out).toContain('status: "revoked" → "active"');
    const unasked = await operate(line);
    expect(unasked).toMatchObject({ code: 2, out: '', error: expect.stringContaining('key ci of team') });
    const declined = await operate(line, { answers: ['n'] });
    expect(declined.questions).toEqual([expect.stringMatching(/^Bring back what was revoked .*\(key ci of team\)\?/)]);
    expect([declined.code, await statusOf(publicId)]).toEqual([1, 'revoked']);
    expect((await operate(line, { answers: ['y'] })).out).toContain('1 changed');
    expect(await statusOf(publicId)).toBe('active');
  });
});

/** The lines of an apply, or of its dry run, that warn. */
const warningsOf = async (content: unknown, more = '') => {
  const { code, out } = await operate(`${applyLine(content)} ${more}`);
  expect(code).toBe(0);
  return out.split('\n').filter((line) => line.startsWith('warning: '));
};

describe('what has no effect is said, by apply and by its dry run', () => {
  it('credit_usd of a workspace that exists, and not where it is what the workspace was made with', async () => {
    expect(await warningsOf(gatewayFile())).toEqual([]);
    expect(await warningsOf(gatewayFile({ workspace: { credit_usd: '5' } }))).toEqual([]);
    const more = gatewayFile({ workspace: { credit_usd: '50.00' } });
    const warning =
      'warning: workspaces[0].credit_usd has no effect, the workspace exists: use gw credits add team AMOUNT';
    expect(await warningsOf(more, '--dry-run')).toEqual([warning]);
    expect(await warningsOf(more)).toEqual([warning]);
    const { credits } = await operateJson<{ credits: unknown[] }>(`credits show team ${local.option}`);
    expect(credits).toMatchObject([{ granted_usd: '5' }]);
  });

  it('presets, connections, models and limits that something else keeps from counting', async () => {
    const functions = (state: string) => [
      {
        id: 'echo',
        kind: 'prompt',
        revisions: [{ id: 'r1', state, model: 'acme/small', messages: [{ role: 'user', content: '{{input}}' }] }],
      },
    ];
    const workspace = {
      models: ['acme/small'],
      presets: [{ slug: 'terse', versions: [{ version: '1', config: { max_tokens: 5 } }] }],
      byok: { connections: [{ provider: 'acme', key: { env: 'PATH' } }] },
    };
    const key = { models: ['acme/large'], spend_limit_reset: 'daily' };
    const file = { key, workspace: { ...workspace, functions: functions('activated') } };
    const first = await warningsOf(gatewayFile(file));
    expect(first.map((line) => line.replace('warning: workspaces[0].', ''))).toEqual([
      'presets have no effect while the workspace has not features: { presets: true }',
      'byok.connections have no effect while the workspace has not features: { byok: true }',
      'keys[0].models names models that the workspace itself may not use: add them to its own models',
      expect.stringContaining('PATH'),
      'keys[0].spend_limit_reset has no effect on a key without spend_limit_usd',
    ]);
    const features = { presets: true, byok: true };
    const better = { ...workspace, features, models: 'all', functions: functions('draft') };
    const second = await warningsOf(
      gatewayFile({ key: { ...key, spend_limit_usd: '1' }, workspace: better }),
      '--dry-run',
    );
    expect(second.filter((line) => !line.includes('PATH'))).toEqual([
      'warning: revision r1 of function echo of team is activated and stays so: state: draft has no effect',
    ]);
  });
});

it('a credential in the place of its name is not taken by credentials set, and not repeated', async () => {
  const { code, out, error } = await operate('credentials set sk-live-0123456789abcdef --stage dev');
  expect([code, out]).toEqual([2, '']);
  expect(error).toContain('the credential itself is read from standard input');
  expect(error).not.toContain('0123456789');
});
