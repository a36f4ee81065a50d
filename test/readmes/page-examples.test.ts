// Pages for users begin with an example. Each block of an example runs, or the program that it is for parses it.
// test/clients/first-files.test.ts starts the gateway files of pages, and readmes.test.ts parses command lines.
import { execFile, spawnSync } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { checkSettings } from '../../infra/cdk/check-settings.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { publishedKey } from '../../infra/local/demo/demo-file.ts';
import { startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { projectRoot, readMarkdownFiles } from '../support/source-files.ts';

const run = promisify(execFile);
const development = stageSettings.dev as StageSettings;

interface Block {
  readonly place: string;
  readonly kind: string;
  readonly text: string;
}
const pages = readMarkdownFiles(['shared', 'functions', 'infra', 'test']);
const blocks: readonly Block[] = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(({ 1: kind = '', 2: block = '', index }) => ({
    place: `${path}:${text.slice(0, index).split('\n').length}`,
    kind,
    text: block,
  })),
);
const ofKind = (...kinds: string[]) => blocks.filter(({ kind }) => kinds.includes(kind));
const titled = (some: readonly Block[]) => some.map((block) => [block.place, block.text] as const);

/** Pages for people who run or call a gateway, found by their first sentence. */
const usersPages = pages.filter(({ text }) => /^# .+\n\nFor (users|operators|callers)\b/.test(text));

describe('a page for users', () => {
  it.each(usersPages.map(({ path, text }) => [path, text] as const))('begins with an example: %s', (_path, text) => {
    const [beginning = ''] = text.split(/^## /m);
    expect(beginning).toMatch(/^```(sh|console|ts|yaml)\n/m);
  });

  it('is known by its first sentence', () => {
    expect(usersPages.length).toBeGreaterThan(25);
  });
});

describe('a block of a page', () => {
  it.each(titled(ofKind('yaml')))('is YAML: %s', (_place, text) => expect(parse(text)).toEqual(expect.any(Object)));

  it.each(titled(ofKind('json')))('is JSON: %s', (_place, text) => expect(JSON.parse(text)).toEqual(expect.anything()));

  it.each(titled(ofKind('sh')))('is what a shell can read: %s', (_place, text) => {
    expect(spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' }).stderr).toBe('');
  });
});

const withImports = ofKind('ts').filter(({ text }) => text.startsWith('import '));
const settings = ofKind('ts').filter((block) => !withImports.includes(block));

describe('settings of a stage in a page', () => {
  it.each(titled(settings))('are accepted: %s', (_place, text) => {
    const lines = text.split('\n').filter((line) => line !== '');
    for (const line of lines) {
      const writtenSettings = new Function('development', `return {${line}\n}`)(development) as Record<string, object>;
      for (const [name, value] of Object.entries(writtenSettings)) {
        const isStage = 'compute' in value;
        const stage = isStage ? value : { ...development, [name]: value };
        expect(() => checkSettings(isStage ? name : 'dev', stage as StageSettings)).not.toThrow();
      }
    }
    expect(lines.length).toBeGreaterThan(0);
  });
});

describe('lines of pages that call a gateway', () => {
  const shownUrl = 'http://127.0.0.1:8787';
  const curls = ofKind('sh').flatMap(({ place, text }) =>
    [...text.matchAll(/^curl (?:.*\\\n)*.*$/gm)]
      .filter(([line]) => line.includes(shownUrl))
      .map(([line]) => [place, line] as const),
  );
  const lines: string[] = [];
  let gateway: Awaited<ReturnType<typeof startLocalGateway>>;
  beforeAll(async () => {
    const options = { port: 0, host: '127.0.0.1', config: undefined, data: undefined, dynamodb: undefined } as const;
    gateway = await startLocalGateway({ ...options, log: 'off' }, (line) => lines.push(line));
  });
  afterAll(() => gateway.stop());
  const keys = () => ({
    GW_API_KEY: publishedKey,
    GW_OPERATOR_KEY: /#key=(\S+)/.exec(lines.find((line) => line.startsWith('console ')) ?? '')?.[1] ?? '',
  });
  const address = () => new URL(gateway.url).origin;

  it.each(curls)('are answered as they are on the page: %s: %s', async (_place, line) => {
    const script = `curl() { command curl --silent --show-error --fail-with-body "$@"; }\n${line.replaceAll(shownUrl, address())}`;
    const { stdout } = await run('bash', ['-e', '-o', 'pipefail', '-c', script], {
      env: { ...process.env, ...keys() },
    });
    expect(stdout).not.toBe('');
  });

  it.each(titled(withImports))('run with the packages that they import: %s', async (_place, text) => {
    const preamble = `const baseURL = '${address()}/openai/v1', apiKey = '${publishedKey}';\n`;
    const program = ['--input-type=module', '-e', `${preamble}${text}`];
    const { stderr } = await run(process.execPath, program, { cwd: projectRoot, timeout: 60_000 });
    expect(stderr).not.toMatch(/error/i);
  });

  it('are of more than one page', () => {
    expect(new Set(curls.map(([place]) => place)).size).toBeGreaterThan(2);
    expect(withImports.length).toBeGreaterThan(1);
  });
});

describe('the check of a signature in the page on alerts', () => {
  const [check] = ofKind('js');
  const isValid = (header: string, rawBody: string): boolean =>
    new Function('request', 'rawBody', 'secret', 'createHmac', 'timingSafeEqual', `${check?.text}; return isValid;`)(
      { headers: { 'x-gw-signature': header } },
      ...[rawBody, 'secret', createHmac, timingSafeEqual],
    );

  // test/flow/alerts verifies that the gateway signs in the same form.
  const signatureOf = (body: string, secret: string, nowMs: number): string => {
    const seconds = Math.floor(nowMs / 1_000);
    return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
  };

  it('takes what the gateway signs, and nothing that is altered, old or signed with another secret', () => {
    const now = Date.now();
    expect(isValid(signatureOf('{}', 'secret', now), '{}')).toBe(true);
    expect(isValid(signatureOf('{}', 'secret', now), '{ }')).toBe(false);
    expect(isValid(signatureOf('{}', 'other', now), '{}')).toBe(false);
    expect(isValid(signatureOf('{}', 'secret', now - 301_000), '{}')).toBe(false);
    expect(isValid('t=1,v1=2', '{}')).toBe(false);
  });
});
