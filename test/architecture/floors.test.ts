import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '#jest';
import { projectRoot, readSourceFiles, type SourceFile } from '../support/source-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Floor, floorMap, powerHomes } from './floor-map.ts';

const sources = readSourceFiles(['shared', 'functions', 'infra']);
const tests = readSourceFiles(['test']);

const floorOf = (path: string): Floor | undefined =>
  floorMap
    .filter(({ folder }) => path === folder || path.startsWith(`${folder}/`))
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];

const isSameFolder = (a: string, b: string): boolean => floorOf(a)?.folder === floorOf(b)?.folder;

const forPages = 'shared/protocol/interface-pages/index.ts';

describe('the source tree', () => {
  it('has nothing at its top level but what the tools and the four folders need', () => {
    const dotfilesAndOutput = /^\.|^(node_modules|dist|cdk\.out|coverage)$/;
    const found = readdirSync(projectRoot).filter((name) => !dotfilesAndOutput.test(name));
    const tooling = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'biome.json',
      'cdk.json',
      'package-lock.json',
      'package.json',
      'tsconfig.json',
    ];
    expect(found.toSorted()).toEqual([...tooling, 'functions', 'infra', 'shared', 'test'].toSorted());
  });

  it('gives every file a floor', () => {
    expect(sources.filter(({ path }) => floorOf(path) === undefined).map(({ path }) => path)).toEqual([]);
  });

  it('imports only downward, or inside a folder', () => {
    const upward = sources.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !isSameFolder(path, target))
        .filter((target) => (floorOf(target)?.floor ?? Number.POSITIVE_INFINITY) >= (floorOf(path)?.floor ?? 0))
        .map((target) => `${path} imports ${target}: ${floorOf(path)?.advice}`),
    );
    expect(upward).toEqual([]);
  });

  it('lets no function import another one', () => {
    const functionOf = (path: string) => /^functions\/[^/]+\//.exec(path)?.[0];
    const across = sources.flatMap(({ path, imports }) =>
      imports
        .filter((target) => functionOf(path) !== undefined && functionOf(target) !== undefined)
        .filter((target) => functionOf(target) !== functionOf(path))
        .map((target) => `${path} imports ${target}`),
    );
    expect(across).toEqual([]);
  });

  it('enters a shared folder only through its index', () => {
    const deepImports = [...sources, ...tests].flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('shared/') && !target.endsWith('/index.ts'))
        .filter((target) => !isSameFolder(path, target) && !path.startsWith('test/unit/'))
        // The console's pages import these files directly, because an interface's index would load its parsers into the
        // browser.
        .filter((target) => !(path === forPages && /\/(playground|turns)\.ts$/.test(target)))
        .map((target) => `${path} imports ${target}`),
    );
    expect(deepImports).toEqual([]);
  });

  it('changes no gateway that tests share: what a test applies a file to it has started itself, or its set-up does', () => {
    const changes = tests.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(\w+)\.apply\(/g)].flatMap(({ 1: name = '', index }) => {
        const before = text.slice(0, index);
        const start = [...before.matchAll(/^ *(it|beforeAll|beforeEach)\b/gm)].at(-1);
        const isOwn = new RegExp(`\\b${name} = await start`).test(before.slice(start?.index ?? 0));
        const isShared = start?.[1] === 'it' && text.includes(`${name} = await startHarness`) && !isOwn;
        return isShared ? [`${path}: ${name}.apply`] : [];
      }),
    );
    expect(changes).toEqual([]);
  });

  it('gives a folder of one file no index beside it', () => {
    const barrels = sources.filter(({ path }) => {
      const beside = sources.filter((other) => dirname(other.path) === dirname(path));
      return path.startsWith('shared/') && path.endsWith('/index.ts') && beside.length === 2;
    });
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });

  it('lets answers leave by the one exit alone: nothing else makes a good answer of what a provider wrote', () => {
    const homes = [
      'functions/gateway/exit/exit.ts',
      // These files answer with a key's own data and with the description, which no provider wrote.
      'functions/gateway/account/serve-account.ts',
      'functions/gateway/routes.ts',
      // This file writes the status of an attempt.
      'functions/gateway/settlement/write-record.ts',
    ];
    const makers = sources.filter(
      ({ path, text }) => path.startsWith('functions/gateway/') && /\bokStatus\b/.test(text),
    );
    expect(makers.map(({ path }) => path).toSorted()).toEqual(homes.toSorted());
    const readers = sources.filter(({ text }) => /\bPassed<[^>]*>\s*=>\s*\w+ as Passed\b|as Passed</.test(text));
    expect(readers.map(({ path }) => path)).toEqual(['functions/gateway/exit/exit.ts']);
  });

  it('has no import cycle', () => {
    expect(findCycle(sources)).toBeUndefined();
  });

  it('loads the CDK library for the app alone: neither the command line nor deploy, smoke and bench', () => {
    const byPath = new Map(sources.map((source) => [source.path, source]));
    const isLoaded = (path: string, seen: Set<string>): boolean => {
      const source = byPath.get(path);
      if (source === undefined || seen.has(path)) return false;
      seen.add(path);
      return /from '(aws-cdk-lib|constructs)/.test(source.text) || source.imports.some((next) => isLoaded(next, seen));
    };
    const isStart = /^infra\/(.*\/)?(main|deploy|smoke|app)\.ts$/;
    // The emulated stage contains the import as text, because it writes it into a copy of the app.
    const starts = sources
      .map(({ path }) => path)
      .filter((path) => isStart.test(path) && path !== 'infra/verify/main.ts');
    expect(starts).toEqual(expect.arrayContaining(['infra/cli/main.ts', 'infra/cdk/deploy.ts']));
    expect(starts.filter((path) => isLoaded(path, new Set()))).toEqual(['infra/cdk/app.ts']);
  });

  it('lets a function take reports and administration without the gateway file and the command line', () => {
    const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]));
    const reached = new Set(['shared/accounting/reports/index.ts', 'shared/configuration/administration/index.ts']);
    // A `for` loop over a set also visits the paths that are added while it runs.
    for (const path of reached) for (const target of importsOf.get(path) ?? []) reached.add(target);
    expect([...reached].filter((path) => /^infra|gateway-file/.test(path))).toEqual([]);
    expect(reached.size).toBeGreaterThan(50);
  });

  it('lets nothing that ships import a test', () => {
    const guilty = sources.filter(({ imports }) => imports.some((target) => target.startsWith('test/')));
    expect(guilty.map(({ path }) => path)).toEqual([]);
  });

  it('shares between test folders only what is in test/support', () => {
    const shared = tests.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('test/') && !target.startsWith('test/support/'))
        .filter((target) => dirname(target) !== dirname(path))
        .map((target) => `${path} imports ${target}: move it to test/support`),
    );
    expect(shared).toEqual([]);
  });

  it('takes the functions of jest from #jest, which bounds the time of a test', () => {
    const strangers = tests.filter(
      ({ path, text }) => /from '@jest\/globals'/.test(text) && path !== 'test/support/jest.ts',
    );
    expect(strangers.map(({ path }) => `${path}: import from '#jest'`)).toEqual([]);
  });

  it('makes temporary folders for tests in one place, where the run removes them', () => {
    const home = 'test/support/temporary-folder.ts';
    const strangers = tests.filter(
      ({ path, text }) => /import[^;]*\b(tmpdir|mkdtemp(Sync)?)\b/.test(text) && path !== home,
    );
    expect(strangers.map(({ path }) => path)).toEqual(['test/architecture/floors.test.ts']);
  });

  it.each(powerHomes)('keeps $power in one home', ({ sign, homes }) => {
    const strangers = sources.filter(
      ({ path, text }) => sign.test(text) && !homes.some((home) => path.startsWith(home)),
    );
    expect(strangers.map(({ path }) => path)).toEqual([]);
  });

  it('keeps files short, and the provider loop shortest of all', () => {
    const limits: Record<string, number> = {
      'functions/gateway/serve.ts': 90,
      'functions/gateway/handler.ts': 60,
      'functions/gateway/admission/admit.ts': 80,
      'functions/gateway/provider/provide.ts': 120,
      'functions/gateway/provider/attempt-candidate.ts': 60,
    };
    const lineLimit = 400;
    const indexLimit = 40;
    // A folder with one file needs no index, because the index would hide nothing.
    const isAlone = (path: string) =>
      !sources.some((other) => other.path !== path && dirname(other.path) === dirname(path));
    const isIndex = (path: string) => path.endsWith('/index.ts') && !isAlone(path);
    const limitOf = (path: string) => limits[path] ?? (isIndex(path) ? indexLimit : lineLimit);
    const long = sources.filter(({ path, text }) => text.split('\n').length > limitOf(path));
    expect(long.map(({ path }) => path)).toEqual([]);
  });
});

describe('a run of the tests', () => {
  const { jest } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const module = jest.globalSetup.replace('<rootDir>', projectRoot);

  it.each([
    ['ends', ''],
    ['fails', 'throw new Error("failed");'],
    ['is interrupted', 'process.kill(process.pid, "SIGINT"); await new Promise((done) => setTimeout(done, 60_000));'],
  ])('leaves nothing in the folder for temporary files when it %s', (_how, end) => {
    const folder = temporaryFolder();
    const child = `import { mkdtempSync } from 'node:fs'; import { tmpdir } from 'node:os'; mkdtempSync(tmpdir() + '/');`;
    const script = `
      import { spawnSync } from 'node:child_process';
      import { readdirSync } from 'node:fs';
      import start, { temporaryFolder } from '${module}';
      start();
      temporaryFolder();
      spawnSync(process.execPath, ['--input-type=module', '--eval', "${child}"]);
      console.log(readdirSync(process.env.TMPDIR).length, readdirSync('${folder}').length);
      ${end}`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, TMPDIR: folder },
      encoding: 'utf8',
    });
    expect(stdout).toBe('2 1\n');
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** Returns the paths of the first cycle of imports, or undefined. */
function findCycle(files: readonly SourceFile[]): readonly string[] | undefined {
  const importsOf = new Map(files.map(({ path, imports }) => [path, imports]));
  const finished = new Set<string>();
  const walk = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    for (const target of importsOf.get(path) ?? []) {
      const cycle = walk(target, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    finished.add(path);
    return undefined;
  };
  for (const { path } of files) {
    const cycle = walk(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
