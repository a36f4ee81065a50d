// The playground's curl lines and code work when a user pastes them: each interface, as a stream and whole. `npm run
// test:python-clients` runs the Python code; here its request is read from the text.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { interfaces } from '../../shared/protocol/interface-pages/index.ts';
import { curlOf, sentCall, sentFile } from '../../shared/protocol/playground/index.ts';
import type { Harness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { audio, draft, drafts, hostile, png, startPlaygroundGateway } from './playground-drafts.ts';

let gateway: Harness;
/** The folder in which the code runs. */
const cwd = temporaryFolder();
beforeAll(async () => {
  writeFileSync(join(cwd, audio.name), Buffer.from(await audio.arrayBuffer()));
  gateway = await startPlaygroundGateway();
});
afterAll(() => gateway.stop());

/** Runs the code with only the key in a variable. */
function run(input: string): Promise<{ code: number | null; out: string }> {
  const child = spawn('bash', ['-s'], { cwd, env: { PATH: process.env.PATH, GW_API_KEY: gateway.key } });
  let out = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (out += data));
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

/**
 * Returns the arguments of the call, each on a line that begins with its name. Python's texts and numbers are those of
 * JSON.
 */
function pythonArguments(code: string): Record<string, unknown> {
  const [, callText = ''] = /^answer = client\.[\w.]+\(\n(.*?)\n\)\n/ms.exec(code) ?? [];
  const names: Record<string, string> = { True: 'true', False: 'false', None: 'null' };
  const json = `{${callText.replaceAll(/^ {4}(\w+)=/gm, '"$1": ')}}`.replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(True|False|None)\b|,(\s*[\]}])/g,
    (_all, text, name, end) => text ?? names[name] ?? end,
  );
  return JSON.parse(json);
}

/**
 * Returns the arguments of Gemini's SDK in one object. It has one argument for everything except the contents, and a
 * separate method for streams.
 */
function unwrapped({ config, ...fields }: Record<string, unknown>, streams: boolean): Record<string, unknown> {
  if (config === undefined) return fields;
  const { httpOptions, systemInstruction, tools, ...generationConfig } = config as Record<string, unknown>;
  const { extraBody } = httpOptions as { extraBody: object };
  return { ...fields, systemInstruction, tools, generationConfig, ...(streams && { stream: true }), ...extraBody };
}

describe('the code of a request', () => {
  it.each(drafts)('%s: works in a shell, and asks for the same', async (_title, name, one) => {
    const calledInterface = interfaces[name];
    const { url, body } = sentCall(calledInterface, gateway.url, calledInterface.body(one));
    const before = gateway.simulator.calls.length;
    const file = sentFile(calledInterface, one);
    const curl = await run(curlOf(url, body, file));
    expect([curl.code, curl.out.slice(0, 500)]).toEqual([0, expect.not.stringMatching(/"error":\s*["{]/)]);
    await gateway.settled();
    const sentBodies = gateway.simulator.calls.slice(before).map((call) => JSON.stringify(call.body));
    expect(sentBodies).toHaveLength(1);
    expect(sentBodies[0]).toContain(JSON.stringify(hostile).slice(1, -1));
    if (file !== undefined) {
      const form = gateway.simulator.calls[before]?.body;
      expect(form).toMatchObject({ file: { file_name: audio.name, type: audio.type, bytes: audio.size } });
    }
    expect((await gateway.lastRecord())?.outcome).toBe('ok');
  });

  it.each(drafts)('%s: asks for the same in Python', (_title, name, one) => {
    const body = interfaces[name].body(one);
    const file = sentFile(interfaces[name], one);
    const whole = interfaces[name].python('https://gw.example', body, file);
    const openLine = `    file=open(${JSON.stringify(audio.name)}, "rb"),\n`;
    expect(whole.includes(openLine)).toBe(file !== undefined);
    const python = whole.replace(openLine, '');
    const { extra_body: others, request_options: options, ...known } = pythonArguments(python);
    const { additional_body_parameters: ofOptions } = (options ?? {}) as { additional_body_parameters?: object };
    const { user, provider, ...ofAws } = body;
    const request = unwrapped({ ...known, ...(others as object), ...ofOptions }, one.streams);
    // boto3 accepts no unknown field anywhere.
    expect(request).toEqual(name === 'converse' ? ofAws : body);
    // The SDK would refuse unknown fields as arguments.
    expect(Object.keys(known)).not.toContain('provider');
    expect(python.split('\n')[0]).toBe('import os');
    expect(python).toContain('os.environ["GW_API_KEY"]');
  });

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
