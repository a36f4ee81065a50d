// The image of the local gateway. It cannot be built here: it is linted, and what it would hold is put into a folder and run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('infra/local/Dockerfile');
const packageFile = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;

/** `[instruction, rest]`, continued lines joined. */
const instructions = dockerfile
  .replaceAll(/^#.*$/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line): [string, string][] => {
    const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name === undefined || rest === undefined ? [] : [[name, rest]];
  });
const all = (name: string) => instructions.filter(([found]) => found === name).map(([, rest]) => rest);

describe('the Dockerfile', () => {
  it('has no fault that a linter finds', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  it('runs the Node of the project, without root and without development tools', () => {
    for (const image of all('FROM')) expect(image).toMatch(`node:${packageFile.devDependencies.node}-slim`);
    expect(all('USER')).toEqual(['node']);
    // Nothing behind it is done as root.
    const user = instructions.findIndex(([name]) => name === 'USER');
    expect(instructions.slice(user).map(([name]) => name)).not.toEqual(expect.arrayContaining(['RUN', 'COPY']));
    expect(all('RUN')[0]).toContain('--omit=dev');
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

describe('what the image holds', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-image-'));
    for (const path of ['package.json', 'shared', 'functions', 'infra/local']) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('imports packages that are there without development tools, and no other', () => {
    const files = globSync('{shared,functions,infra/local}/**/*.ts', { cwd: folder });
    const imported = files.flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import\() ?'(@?[a-z][\w./-]*)'/g)].map(
        ([, name = '']) => name,
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

  it('starts with the entry point on another DynamoDB server, answers its health check, and ends with SIGTERM', async () => {
    const server = await startEmbeddedDynamo({ log: () => {} });
    const [entry = ''] = all('ENTRYPOINT');
    const args = (JSON.parse(entry) as string[])
      .slice(1)
      .map((arg) => arg.replace('/app', folder).replace('8787', '0').replace('0.0.0.0', '127.0.0.1'));
    const { PATH } = process.env;
    const child = spawn(process.execPath, [...args, '--log', 'off', '--dynamodb', server.endpoint], {
      cwd: folder,
      env: { PATH, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let text = '';
      const url = await new Promise<string>((found, reject) => {
        child.stdout.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          const ready = /^ready (\S+)$/m.exec(text)?.[1];
          if (ready !== undefined) found(ready);
        });
        child.once('exit', () => reject(new Error(`it ended: ${text}`)));
      });
      const check = /"(fetch.*)"\]$/.exec(all('HEALTHCHECK')[0] ?? '')?.[1] ?? '';
      const probe = spawn(process.execPath, ['-e', check.replace('8787', new URL(url).port)], { stdio: 'inherit' });
      expect(await once(probe, 'exit')).toEqual([0, null]);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      await server.stop();
    }
  });
});
