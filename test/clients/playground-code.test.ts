// What the playground shows as curl and as code works when it is pasted: each interface, as a stream and whole.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { Draft } from '../../functions/operator/page/connection/playground/draft.ts';
import {
  interfaceNames,
  interfaces,
} from '../../functions/operator/page/connection/playground/playground-interfaces.ts';
import { curlOf } from '../../functions/operator/page/connection/playground/sdk-code.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      'initech/vectors': [{ provider: 'initech', upstream: 'echo' }],
    },
    providers: { initech: { apis: ['embeddings'] } },
    workspace: { functions: [promptFunction('label', 'acme/echo')] },
  });
});
afterAll(() => gateway.stop());

/** Text that would end a quote, a document or an argument of a shell. */
const hostile = `It's "quoted", $HOME, \`id\`, \\ and\nEND_OF_REQUEST\n$(exit 3)`;

const draft = (more: Partial<Draft> = {}): Draft => ({
  model: 'acme/echo',
  system: 'Be brief.',
  turns: [
    { role: 'user', text: 'What is it?', images: [png] },
    { role: 'assistant', text: '', calls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }] },
    { role: 'tool', results: [{ id: 'call_1', text: 'rain' }] },
    { role: 'assistant', text: 'Rain.', calls: [] },
    { role: 'user', text: hostile, images: [] },
  ],
  temperature: 0.5,
  outputTokensMax: 64,
  tools: [{ name: 'weather', description: 'The weather', parameters: { type: 'object', properties: {} } }],
  more: { user: 'u-1' },
  streams: false,
  ...more,
});

/** In a shell, or as a module of this project: with no more than the key in a variable. */
function run(command: string, words: readonly string[], input: string): Promise<{ code: number | null; out: string }> {
  const env = { PATH: process.env.PATH, GW_API_KEY: gateway.key };
  const child = spawn(command, words, { env, cwd: `${import.meta.dirname}/../..` });
  let out = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (out += data));
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

const bodies = interfaceNames.flatMap((name) => {
  const forms = interfaces[name].hasStreams ? [false, true] : [false];
  const more = name === 'messages' ? { metadata: { user_id: 'u-1' } } : { user: 'u-1' };
  const model = name === 'embeddings' ? 'initech/vectors' : 'acme/echo';
  return forms.map(
    (streams) => [`${name}${streams ? ', streamed' : ''}`, name, draft({ model, streams, more })] as const,
  );
});

describe('the code of a request', () => {
  it.each([...bodies, ['a function', 'chat-completions', draft({ model: 'gw/function/label', more: {} })] as const])(
    '%s: works in a shell and in JavaScript, and asks for the same',
    async (_title, name, one) => {
      const spoken = interfaces[name];
      const body = spoken.body(one);
      const origin = new URL(gateway.url).origin;
      const before = gateway.simulator.calls.length;
      const curl = await run('bash', ['-s'], curlOf(`${gateway.url}${spoken.path}`, body));
      expect([curl.code, curl.out.slice(0, 500)]).toEqual([0, expect.not.stringMatching(/"error":\s*["{]/)]);
      const code = await run(process.execPath, ['--input-type=module', '-'], spoken.sdkCode(origin, body));
      expect([code.code, code.out]).toEqual([0, expect.stringMatching(/\S/)]);
      await gateway.settled();
      const sent = gateway.simulator.calls.slice(before).map((call) => JSON.stringify(call.body));
      expect(sent).toHaveLength(2);
      expect(sent[0]).toContain(JSON.stringify(hostile).slice(1, -1));
      expect(sent[1]).toContain(JSON.stringify(hostile).slice(1, -1));
      const records = (await gateway.records()).slice(0, 2);
      expect(records.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    },
  );

  it.each(['chat-completions', 'messages', 'responses'] as const)(
    'of %s holds system text, parameters, tools, images and every turn',
    async (name) => {
      const body = interfaces[name].body(draft({ more: {} }));
      const answer = await fetch(`${gateway.url}${interfaces[name].path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify(body),
      });
      expect([answer.status, interfaces[name].readAnswer(await answer.json()).text]).toEqual([
        200,
        expect.stringContaining('simulated by the provider acme'),
      ]);
      const upstream = JSON.stringify(gateway.simulator.calls.at(-1)?.body);
      for (const part of ['Be brief.', '"temperature":0.5', 'weather', 'rain', 'Rain.', 'Oslo', png]) {
        expect(upstream).toContain(part);
      }
      expect(upstream).toMatch(/"max_(completion_)?tokens":64/);
    },
  );
});
