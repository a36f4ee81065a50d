// `npm run bench:cold [-- STARTS]`: how long the first call of a new process waits for its first output, under Lambda's
// runtime client. The module loads with all of a core, the call gets 0.29 of one, as a function of 512 MB does. Once with
// what every call needs read while the module loads, once without. Store, secret and provider are on this machine: on AWS
// each connection takes a TLS handshake more.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { environmentNames, routePaths } from '../../../shared/foundation/constants/index.ts';
import { buildBundles } from '../../build/bundle.ts';
import { type PreparedStage, prepareStage } from '../../build/runtime-test/prepare-stage.ts';
import { findRuntimeClient } from '../../build/runtime-test/runtime-client.ts';
import { event } from '../../build/runtime-test/scenarios.ts';
import { startFunction } from '../../build/runtime-test/start-function.ts';
import { median, tableText } from '../report.ts';
import { cpuQuota, removeGroups } from './cpu-quota.ts';

/** 512 MB of the 1,769 that have a whole core. */
const quotaCores = 0.29;
const startsDefault = 15;
const name = 'gateway';
const projectRoot = resolve(import.meta.dirname, '../../..');
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Kind {
  readonly title: string;
  readonly bundlesRoot: string;
  readonly loadMs: number[];
  readonly firstOutputMs: number[];
}

const client = await findRuntimeClient(say);
if (client.kind === 'absent') say(`skipped: Lambda's runtime client is not here, as ${client.reason}`);
else await measure(client.main, Number(process.argv[2] ?? startsDefault));
process.exit();

async function measure(clientMain: string, starts: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-cold-start-'));
  const stage = await prepareStage(say);
  const quota = cpuQuota(quotaCores);
  try {
    const kinds = await bundlesOf(folder);
    const secret = await startSecret();
    // In turns, so that a disturbance of the machine affects both. The first turn fills the file cache.
    for (let turn = 0; turn <= starts; turn += 1) {
      for (const kind of kinds) {
        const times = await measureOne({ clientMain, kind, stage, secretUrl: secret, quota });
        if (turn === 0) continue;
        kind.loadMs.push(times.loadMs);
        kind.firstOutputMs.push(times.firstOutputMs);
      }
    }
    const rows = kinds.map((kind) => [kind.title, median(kind.loadMs), median(kind.firstOutputMs)] as const);
    const title = `First call of a process with ${quotaCores} cores, by ${quota.by}; medians of ${starts} starts`;
    process.stdout.write(tableText({ title, columns: ['module', 'load ms', 'first output ms'], rows }));
  } finally {
    removeGroups();
    await stage.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without its `index.mjs` a bundle is what it was before: it reads in its first call. */
async function bundlesOf(folder: string): Promise<readonly [Kind, Kind]> {
  const [warm, plain] = [join(folder, 'warm'), join(folder, 'plain')];
  await buildBundles(projectRoot, warm);
  await cp(warm, plain, { recursive: true });
  await rm(join(plain, name, 'index.mjs'));
  const kindOf = (title: string, bundlesRoot: string): Kind => ({ title, bundlesRoot, loadMs: [], firstOutputMs: [] });
  return [kindOf('reads in the first call', plain), kindOf('reads while it loads', warm)];
}

/** A Secrets Manager with one secret. Gives its URL. */
async function startSecret(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const body = JSON.stringify({ Name: 'providers', SecretString: '{}' });
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Run {
  readonly clientMain: string;
  readonly kind: Kind;
  readonly stage: PreparedStage;
  readonly secretUrl: string;
  readonly quota: ReturnType<typeof cpuQuota>;
}

async function measureOne({ clientMain, kind, stage, secretUrl, quota }: Run) {
  const variables = {
    [environmentNames.providerSecret]: 'providers',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretUrl,
  };
  const startedAtMs = performance.now();
  const options = { name, bundlesRoot: kind.bundlesRoot, client: clientMain, ...stage, variables };
  const target = await startFunction(options);
  await target.loaded;
  const loadMs = performance.now() - startedAtMs;
  const release = quota.apply(target.pid);
  try {
    const body = { model: 'test/echo', stream: true, messages: [{ role: 'user', content: 'Hello there' }] };
    const calledAtMs = performance.now();
    const answer = await target.invoke(event('POST', `/v1${routePaths.chatCompletions}`, stage.key, body));
    if (!Buffer.concat(answer.chunks).toString('utf8').includes('[DONE]')) throw new Error(target.output());
    return { loadMs, firstOutputMs: answer.firstAtMs - calledAtMs };
  } finally {
    await release();
    await target.stop();
  }
}
