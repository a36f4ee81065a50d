import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

interface Shown {
  readonly status: string;
  readonly active: string | null;
  readonly contents: object;
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
const say = (content: string) => ({ model: 'acme/small', messages: [{ role: 'user', content }] });
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
  [simulator, local] = await Promise.all([startTestSimulator(), startLocalStore()]);
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
    const shownFunction = await operate(`functions show team echo --revision good ${local.option}`);
    expect(parse(shownFunction.out)).toMatchObject({
      id: 'good',
      kind: 'prompt',
      cases: revision('good', 'pears').cases,
    });
    expect((await operate(`functions show team echo ${local.option}`)).out).toMatch(/^good +draft +yes +- /m);
    expect(await operate(`functions show team nobody ${local.option}`)).toMatchObject({ code: 1, out: '' });
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

    const qualification = await qualify('echo good');
    expect([qualification.code, qualification.progress.at(-1)]).toEqual([0, 'running case 2 of 2 …']);
    expect((await show('echo')).revisions[0]?.qualified_at).not.toBeNull();
    expect(qualification.out + failed.out).not.toContain('sk-gw-');
  });

  it('whose answer fails its schema are reported with the place of the fault', async () => {
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

  it('are published from a file or from standard input, a new one too, in the words of the gateway file', async () => {
    const first = local.write('r1.yaml', { id: 'r1', kind: 'prompt', ...say('Say {{input}}\ntwice.') });
    const publication = await operate(`functions publish team told ${first} --activate ${local.option}`);
    expect(publication).toMatchObject({ code: 0, error: '' });
    expect(publication.out).toMatch(/^team +told +prompt +enabled +r1 +1$/m);
    expect(publication.out).toContain('published and activated: gw/function/told@r1');
    const publish = (line: string, content: object) =>
      operate(`functions publish team told ${line} ${local.option}`, { standardInput: JSON.stringify(content) });
    const next = await publish('- --revision r2 --json', { kind: 'prompt', ...say('Say {{input}}\nonce.') });
    expect(JSON.parse(next.out)).toMatchObject({
      active: 'r1',
      revisions: [{ id: 'r1' }, { id: 'r2', state: 'draft' }],
    });
    expect((await publish('- --revision r2', say('Say {{input}}\nonce.'))).out).toContain('nothing changed');
    const shownFunction = await show('told');
    const hidden = await publish('- --revision r1', say('Something else'));
    expect([hidden.code, hidden.error]).toEqual([1, expect.stringContaining('is activated and cannot be changed')]);
    expect(await show('told')).toEqual(shownFunction);
  });

  it('are the same again if what is shown of a revision is published, whatever its texts hold', async () => {
    const texts = ['{{input}}\n- a: "b" #c\n\n  d ', 'right\u200fto\u202eleft', 'steers \u001b[2J\u009b1m\ttwice', '1'];
    const messages = texts.map((content) => ({ role: 'user', content }));
    const publish = (id: string, standardInput: string) =>
      operate(`functions publish team ${id} - ${local.option}`, { standardInput });
    await publish('kept', JSON.stringify({ id: '1', kind: 'prompt', model: 'acme/small', messages }));
    const shownText = (await operate(`functions show team kept --revision 1 ${local.option}`)).out;
    expect(shownText).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    expect((await publish('kept', shownText)).out).toContain('nothing changed');
    await publish('copied', shownText);
    const contents = async (id: string) => JSON.stringify((await show(id)).contents);
    expect(await contents('copied')).toBe(await contents('kept'));
    expect(await contents('kept')).toContain(JSON.stringify(messages));
  });

  it('with cases serve once published only if these pass, or if they are skipped', async () => {
    const publish = (id: string, contains: string, options: string, circumstances = {}) =>
      operate(`functions publish team guarded - --revision ${id} --activate ${options} ${local.option}`, {
        standardInput: JSON.stringify({ kind: 'prompt', ...revision(id, contains) }),
        ...circumstances,
      });
    const through = `--url ${gateway.url}`;
    const keyless = await publish('r1', 'pears', through);
    expect([keyless.code, keyless.error]).toEqual([1, expect.stringContaining('GW_API_KEY')]);
    expect(await operate(`functions show team guarded ${local.option}`)).toMatchObject({ code: 1 });
    const unasked = await publish('r1', 'pears', '');
    expect([unasked.code, unasked.error]).toEqual([
      1,
      expect.stringMatching(/guarded@r1 is stored as a draft, .*functions qualify team guarded r1 --url URL/),
    ]);
    expect(await show('guarded')).toMatchObject({ active: null, revisions: [{ id: 'r1', state: 'draft' }] });
    const publication = await publish('r1', 'pears', through, { variables });
    expect(publication).toMatchObject({
      code: 0,
      out: expect.stringContaining('published and activated: gw/function/guarded@r1'),
    });
    const failed = await publish('r2', 'never said', through, { variables });
    expect([failed.code, failed.error]).toEqual([
      1,
      expect.stringContaining('1 of 2 cases failed: a draft, not activated'),
    ]);
    expect(failed.out).toMatch(/^ +2 +failed /m);
    expect(await show('guarded')).toMatchObject({ active: 'r1', revisions: [{}, { id: 'r2', state: 'draft' }] });
    expect(await publish('r2', 'never said', '--skip-cases')).toMatchObject({ code: 0 });
    expect(await show('guarded')).toMatchObject({ active: 'r2', revisions: [{}, { qualified_at: null }] });
    // An active revision that was activated before stays active and activated.
    const failsAgain = async (reason: string) => {
      const { out, ...again } = await publish('r2', 'never said', through, { variables });
      expect(again).toMatchObject({ code: 1, error: expect.stringContaining(`1 of 2 cases failed: ${reason}`) });
      expect(out).toContain('nothing changed');
    };
    await failsAgain('activated before, and stays active');
    // Cases that passed once do not run again.
    expect(await publish('r1', 'pears', '')).toMatchObject({ code: 0 });
    await failsAgain('activated before, not made active');
    expect(await show('guarded')).toMatchObject({ active: 'r1', revisions: [{}, { state: 'activated' }] });
    const unreached = await publish('r3', 'pears', '--url http://127.0.0.1:1/v1', { variables });
    expect(unreached).toMatchObject({
      code: 1,
      error: expect.stringMatching(
        /no gateway answers at http:\S+; gw\/function\/guarded@r3 is stored: a draft, not activated/,
      ),
    });
    expect(await show('guarded')).toMatchObject({ active: 'r1', revisions: [{}, {}, { id: 'r3', state: 'draft' }] });
    for (const options of ['--url http://127.0.0.1:1/v1 --skip-cases', '--url ftp://x']) {
      expect((await publish('r3', 'pears', options)).code).toBe(2);
    }
    expect((await operate(`functions publish team guarded - --skip-cases ${local.option}`)).code).toBe(2);
  });

  it('are not published from a text that is wrong, and the reason is reported with its place', async () => {
    const before = await show('echo');
    const standardInput = 'id: r9\nmodel: acme/small\nmesages: []';
    const { code, out, error } = await operate(`functions publish team echo - ${local.option}`, { standardInput });
    expect([code, out + error]).toEqual([1, expect.stringMatching(/revision\.mesages: .*\(line 3\)/)]);
    expect(await show('echo')).toEqual(before);
  });

  it('of no workspace or without a kind are not made, and a file that is not there is named', async () => {
    const standardInput = JSON.stringify({ id: 'r1', ...say('x') });
    const publish = (line: string) => operate(`functions publish ${line} ${local.option}`, { standardInput });
    expect(await publish('nowhere new -')).toMatchObject({ code: 1 });
    expect((await publish('team new -')).out).toContain('kind: must be prompt or workflow');
    expect((await publish('team new missing.yaml')).error).toContain('cannot read missing.yaml');
    expect((await operate(`functions list ${local.option}`)).out).not.toMatch(/\bnew\b/);
  });

  it('show what differs between two revisions, line by line, and that nothing does', async () => {
    const compare = (both: string) => operate(`functions compare team echo ${both} ${local.option}`);
    const { code, out } = await compare('good bad');
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => !line.startsWith('  '))).toEqual([
      '- good',
      '+ bad',
      '',
      '-       contains: pears',
      '+       contains: never said',
    ]);
    expect(out).toContain('      content: "Repeat: {{input}}"');
    expect((await compare('good good')).out).toBe('good and good hold the same');
    expect(await compare('good none')).toMatchObject({
      code: 1,
      error: expect.stringContaining('has no revision none'),
    });
    const { is_same, lines } = await operateJson<{ is_same: boolean; lines: { kind: string; text: string }[] }>(
      `functions compare team echo bad good ${local.option}`,
    );
    expect([is_same, lines.filter(({ kind }) => kind !== 'same').map(({ kind }) => kind)]).toEqual([
      false,
      ['removed', 'added'],
    ]);
  });
});
