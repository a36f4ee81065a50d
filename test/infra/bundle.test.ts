import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from '@jest/globals';
import { buildBundles, bundleEntries, bundleMaxBytes, bundleNames } from '../../infra/build/bundle.ts';

const projectRoot = new URL('../..', import.meta.url).pathname;
const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'gw-build-'));

const server = "import { createServer } from 'node:net'; createServer().listen(0);";

/** A source tree in which both functions have this handler. */
const sourcesWith = async (handler: string, web = server): Promise<string> => {
  const root = await temporaryFolder();
  for (const entry of bundleEntries) {
    const file = join(root, entry);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, entry.endsWith('web.ts') ? web : handler);
  }
  return root;
};

describe('the build', () => {
  it('bundles everything small enough, ready to load, with nothing else in the folders that are uploaded', async () => {
    const output = await temporaryFolder();
    const bundles = await buildBundles(projectRoot, output);
    expect(bundles.map(({ name }) => name)).toEqual(['chat-completions', 'models', 'web']);
    const uploaded = {
      'chat-completions': ['index.cjs', 'schema-worker.cjs'],
      models: ['index.cjs'],
      web: ['index.js', 'package.json', 'schema-worker.cjs'],
    };
    for (const { name, file, bytes } of bundles) {
      expect(file).toBe(join(output, name, String(uploaded[name][0])));
      expect((await readdir(dirname(file))).toSorted()).toEqual(uploaded[name]);
      expect(bytes).toBeLessThan(bundleMaxBytes);
    }
  });

  it('bundles no client of the AWS SDK', async () => {
    const output = await temporaryFolder();
    await buildBundles(projectRoot, output);
    for (const name of bundleNames) {
      const metafile = await readFile(join(output, 'meta', name, 'index.json'), 'utf8');
      const packages = Object.keys(JSON.parse(metafile).inputs).filter((path) => path.includes('/@aws-sdk/'));
      expect(packages.filter((path) => !path.includes('/@aws-sdk/util-dynamodb/'))).toEqual([]);
    }
  });

  it('puts the thread that checks schemas beside the code that starts it, ready to work', async () => {
    const output = await temporaryFolder();
    await buildBundles(projectRoot, output);
    for (const [name, main] of [
      ['chat-completions', 'index.cjs'],
      ['web', 'index.js'],
    ] as const) {
      expect(await readFile(join(output, name, main), 'utf8')).toContain('"schema-worker.cjs"');
      const worker = new Worker(join(output, name, 'schema-worker.cjs'));
      worker.postMessage(JSON.stringify({ kind: 'schema', schema: { type: 'strin' }, maxMs: 1_000 }));
      expect((await once(worker, 'message'))[0]).toMatchObject({
        value: { message: expect.stringContaining('at /type') },
      });
      await worker.terminate();
    }
  });

  it('leaves the runtime’s own global as it is', async () => {
    const output = await temporaryFolder();
    const handler = 'export const handler = awslambda.streamifyResponse(async (event: object) => event);';
    const [bundle] = await buildBundles(await sourcesWith(handler), output);
    expect(await readFile(String(bundle?.file), 'utf8')).toContain('awslambda.streamifyResponse(');
  });

  it('fails on a Web Function that binds no address', async () => {
    const sources = await sourcesWith('export const handler = () => 1;', 'export const other = 1;');
    await expect(buildBundles(sources, await temporaryFolder())).rejects.toThrow(/web.*it binds no address/);
  });

  it.each([
    ['exports no handler', 'export const other = 1;', /exports no handler/],
    ['does not load', 'export const handler = () => 1; missing();', /does not load: ReferenceError: missing/],
    ['does not resolve', "export { handler } from 'no-such-package';", /Could not resolve "no-such-package"/],
    [
      'is too large',
      `export const handler = () => '${'x'.repeat(bundleMaxBytes)}';`,
      /chat-completions has \d+ bytes, 716800 are allowed/,
    ],
  ])('fails on a bundle that %s', async (_fault, handler, reason) => {
    await expect(buildBundles(await sourcesWith(handler), await temporaryFolder())).rejects.toThrow(reason);
  });
});
