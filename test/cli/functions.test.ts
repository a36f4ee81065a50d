import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { type RunningGateway, startGateway } from './child-processes.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

interface Shown {
  readonly status: string;
  readonly active: string | null;
  readonly revisions: readonly { id: string; state: string; qualified_at: string | null }[];
}

const revision = (id: string, contains: string) => ({
  id,
  model: 'acme/small',
  messages: [{ role: 'user', content: 'Repeat: {{input}}' }],
  cases: [
    { input: 'apples', expect: { contains: 'apples' } },
    { input: 'pears', expect: { contains } },
  ],
});
const workflow = {
  id: 'twice',
  kind: 'workflow',
  revisions: [
    {
      id: 'r1',
      input: { type: 'object', schema: { type: 'object', required: ['word'] } },
      steps: [
        { id: 'one', model: 'acme/small', messages: [{ role: 'user', content: 'Say {{input.word}}' }] },
        { id: 'two', model: 'acme/small', messages: [{ role: 'user', content: 'Again: {{steps.one.output}}' }] },
      ],
      output: { step: 'two' },
      cases: [{ input: { word: 'plums' }, expect: { contains: 'plums' } }],
    },
  ],
};

const labelSchema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };
const labelFormat = {
  response_format: { type: 'json_schema', json_schema: { name: 'label', schema: labelSchema } },
  cases: [{ input: 'apples', expect: { contains: 'fruit' } }],
};

let simulator: Simulator;
let local: LocalStore;
let gateway: RunningGateway;
let variables: Record<string, string>;
beforeAll(async () => {
  [simulator, local] = await Promise.all([startSimulator({ paceMs: 0 }), startLocalStore()]);
  const functions = [
    { id: 'echo', kind: 'prompt', revisions: [revision('good', 'pears'), revision('bad', 'never said')] },
    workflow,
    { id: 'label', kind: 'prompt', revisions: [{ ...revision('r1', ''), model: 'acme/prose', ...labelFormat }] },
  ];
  const plain = gatewayFile({ baseUrl: simulator.urlOf('acme'), workspace: { functions } });
  const [entry] = plain.models[0]?.providers ?? [];
  const params = { json_mode: true, json_schema: true };
  const prose = { ...entry, upstream_model: 'invalid-json', supported_params: params };
  const models = [...plain.models, { ...plain.models[0], id: 'acme/prose', providers: [prose] }];
  const file = local.write('gateway.yaml', { ...plain, models });
  const { created_keys } = await operateJson<{ created_keys: { key: string }[] }>(`apply -f ${file} ${local.option}`);
  variables = { GW_API_KEY: created_keys[0]?.key ?? '' };
  gateway = await startGateway(`--config ${file} ${local.option}`, local.folder);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([simulator.stop(), local.stop()]);
});

const qualify = (what: string, circumstances = { variables }) =>
  operate(`functions qualify team ${what} --url ${gateway.url} ${local.option}`, circumstances);
const show = (id: string) => operateJson<Shown>(`functions show team ${id} ${local.option}`);

describe('functions', () => {
  it('are listed and shown with the states and the contents of their revisions', async () => {
    const { out } = await operate(`functions list ${local.option}`);
    expect(out).toMatch(/^team +echo +prompt +enabled +- +2$/m);
    expect(out).toMatch(/^team +twice +workflow +enabled +- +1$/m);
    const shown = await operate(`functions show team echo --revision good ${local.option}`);
    expect(shown.out).toMatch(/^good +draft +yes +- /m);
    expect(shown.out).toContain('Repeat: {{input}}');
    expect(await operate(`functions show team nobody ${local.option}`)).toMatchObject({ code: 1, out: '' });
  });

  it('with cases are not activated before they are qualified', async () => {
    const { code, error } = await operate(`functions activate team echo good ${local.option}`);
    expect([code, error]).toEqual([1, expect.stringContaining('is not qualified')]);
    expect((await show('echo')).active).toBeNull();
  });

  it('are qualified when every case passes, and only then', async () => {
    const failed = await qualify('echo bad');
    expect(failed).toMatchObject({ code: 1, error: expect.stringContaining('1 of 2 cases failed: not qualified') });
    expect(failed.out).toMatch(/^ +1 +passed\n +2 +failed +the answer does not contain/m);
    expect(failed.out).toMatch(/^case 2 answered:\n.*pears/m);
    expect(failed.out).not.toContain('case 1 answered');
    const { cases } = JSON.parse((await qualify('echo bad --json')).out) as { cases: { answer?: string }[] };
    expect(cases.map(({ answer }) => answer)).toEqual([undefined, expect.stringContaining('pears')]);
    expect((await show('echo')).revisions.map(({ qualified_at }) => qualified_at)).toEqual([null, null]);

    const passed = await qualify('echo good');
    expect([passed.code, passed.progress.at(-1)]).toEqual([0, 'running case 2 of 2 …']);
    expect((await show('echo')).revisions[0]?.qualified_at).not.toBeNull();
    expect(passed.out + failed.out).not.toContain('sk-gw-');
  });

  it('whose answer fails its schema are told where', async () => {
    const { code, out } = await qualify('label r1');
    expect([code, out]).toEqual([1, expect.stringMatching(/ the last one fails at \/.*: .+\./)]);
  });

  it('of several steps are qualified as they would run', async () => {
    expect(await qualify('twice r1')).toMatchObject({ code: 0, error: '' });
  });

  it('are not qualified through a URL where no gateway is: one line names it', async () => {
    const url = 'http://127.0.0.1:1/v1';
    const { code, out, error } = await operate(`functions qualify team echo good --url ${url} ${local.option}`, {
      variables,
    });
    expect([code, out, error]).toEqual([1, '', `gw functions qualify: no gateway answers at ${url}`]);
  });

  it.each([
    ['no key', {}],
    ['something that is no key', { GW_API_KEY: 'sk-other' }],
    [
      'a key of another store',
      { GW_API_KEY: 'sk-gw-demodemodemodemo-demodemodemodemodemodemodemodemodemodemokey2Jc7YM' },
    ],
  ])('are not qualified with %s, and no call is made', async (_name, others) => {
    const before = simulator.calls.length;
    const { code, error } = await qualify('echo good', { variables: others as Record<string, string> });
    expect([code, error]).toEqual([1, expect.stringContaining('GW_API_KEY')]);
    expect(error).not.toContain('sk-');
    expect(simulator.calls.length).toBe(before);
  });

  it('are activated, disabled after a yes, and enabled again', async () => {
    const on = await operate(`functions activate team twice r1 ${local.option}`);
    expect([on.code, on.out]).toEqual([0, expect.stringMatching(/enabled +r1/)]);
    expect((await operate(`functions disable team twice ${local.option}`)).code).toBe(2);
    expect((await operate(`functions disable team twice ${local.option}`, { answers: ['no'] })).code).toBe(1);
    expect((await show('twice')).status).toBe('enabled');
    const disabled = await operate(`functions disable team twice --yes ${local.option}`);
    expect([disabled.code, disabled.out]).toEqual([0, expect.stringContaining('may still answer for up to 5 s')]);
    expect((await show('twice')).status).toBe('disabled');
    expect((await operate(`functions enable team twice ${local.option}`)).code).toBe(0);
    expect(await show('twice')).toMatchObject({ status: 'enabled', active: 'r1' });
  });
});
