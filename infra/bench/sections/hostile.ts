// Runs a gateway process against clients and providers that send malformed requests and answers in every interface and
// format. The process must survive, must serve regular calls at the same time, and its totals must match in the end.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { createDynamoClient, createDynamoStore } from '../../../shared/storage/dynamodb-store/index.ts';
import { heapOptions, tasksDefault } from '../../cdk/constructs/task-size.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import type { BenchPlan } from '../bench-options.ts';
import { sendHostileRequest } from '../hostile/hostile-client.ts';
import { startHostileProxy } from '../hostile/hostile-proxy.ts';
import { hostileRequest } from '../hostile/hostile-requests.ts';
import { seededRandom } from '../hostile/seeded-random.ts';
import { createClient, jsonBody, type MeasuredEndpoint } from '../measuring-client.ts';
import { atMost, mustBeTrue, type SectionReport } from '../report.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import { residentKib } from '../test-bed/resident-memory.ts';
import type { TestBed } from '../test-bed/test-bed.ts';
import { readTotals, type Totals, totalsMatch } from '../test-bed/totals.ts';

const clients = 48;
const workspace = 'hostile';
/**
 * Time to wait until the totals match. An abandoned answer is read for another 10 s, and the lease of its call lasts
 * 75 s.
 */
const totalsTimeoutMs = 120_000;
const pollIntervalMs = 1_000;

/** Behaviours of the simulator. The hostile proxy then corrupts the bytes of its answers. */
const behaviours = [
  ...['echo', 'tools', 'reasoning', 'redacted-reasoning', 'refusal', 'content-filter', 'two-choices', 'blocked-prompt'],
  ...['usage:1000:500:300:120:200:80', 'no-usage', 'zero-usage', 'wrong-usage:negative', 'wrong-usage:astronomic'],
  ...['invalid-json', 'truncated-json', 'error-500', 'error-429', 'cut:1', 'echo-request'],
];
const formats = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;

export async function measureHostileTraffic(bed: TestBed, { hostile }: BenchPlan): Promise<SectionReport> {
  const random = seededRandom(hostile.seed);
  const simulator = await startSimulator({ paceMs: 0 });
  const proxy = await startHostileProxy(simulator.port, random);
  const [key, regularKey] = [createApiKey(systemRandomness), createApiKey(systemRandomness)];
  const configFile = join(bed.folder, 'hostile.yaml');
  const file = gatewayFile({ hostile: proxy.url, regular: simulator.url }, { key, regularKey });
  await writeFile(configFile, JSON.stringify(file));
  const nodeOptions = heapOptions(tasksDefault);
  const start = { name: 'hostile', configFile, storeUrl: bed.storeUrl, folder: bed.folder, nodeOptions };
  const gateway = await startGateway(start);
  const ids = file.models.map(({ id }) => id);
  const options = {
    key,
    models: ids.filter((id) => !id.startsWith('vectors/') && id !== regularModel),
    embeddingModels: ids.filter((id) => id.startsWith('vectors/')),
  };
  const load = await runLoad(gateway, hostile.minutes, {
    callHostile: () => sendHostileRequest(Number(new URL(gateway.url).port), hostileRequest(random, options), random),
    regularKey,
    clearHistory: () => simulator.clear(),
  });
  const isAlive = Number.isFinite(residentKib(gateway.pid));
  const totals = await readFinalTotals(bed);
  await gateway.stop();
  proxy.stop();
  await simulator.stop();
  const faults = readFileSync(gateway.outputFile, 'utf8').match(faultLine) ?? [];
  for (const line of faults.slice(0, 5)) process.stderr.write(`${line.slice(0, 2_000)}\n`);
  const { calls, recordedCost, keysSpent, workspaceSpent, reserved } = totals;
  const statusCounts = [...load.statuses].toSorted().map(([status, count]) => `${count} × ${status}`);
  return {
    tables: [
      {
        title: `A process among hostile clients and providers for ${hostile.minutes} minutes, seed ${hostile.seed}`,
        columns: ['measure', 'value'],
        rows: [
          ['requests', load.requests],
          ['answers', statusCounts.join(', ')],
          [
            'calls, recorded cost, spent by keys, spent by the workspace, still reserved',
            [calls, recordedCost, keysSpent, workspaceSpent, reserved].join(', '),
          ],
          ['resident MiB at most', Math.round(load.residentMaxKib / 1_024)],
          ['regular calls, failed', `${load.regular.calls}, ${load.regular.failed}`],
          ['internal errors in the log', faults.length],
        ],
      },
    ],
    targets: [
      mustBeTrue('the process is alive, and its totals match', isAlive && totalsMatch(totals)),
      atMost('answers with internal_error', load.statuses.get(500) ?? 0, 0),
      atMost('internal errors in the log', faults.length, 0),
      atMost('regular calls that failed', load.regular.failed, 0),
    ],
  };
}

interface LoadSources {
  readonly callHostile: () => Promise<{ readonly status: number | string | undefined }>;
  readonly regularKey: string;
  /** Clears the simulator's list of calls, which would grow without a bound. */
  readonly clearHistory: () => void;
}

/**
 * Calls the gateway from hostile clients and a regular client, and samples the gateway's memory. Counts the outcomes.
 */
async function runLoad(gateway: MeasuredEndpoint & { readonly pid: number }, minutes: number, sources: LoadSources) {
  const endsAtMs = systemClock.nowMs() + minutes * 60_000;
  const isOver = () => systemClock.nowMs() >= endsAtMs;
  const load = {
    requests: 0,
    statuses: new Map<number | string, number>(),
    regular: { calls: 0, failed: 0 },
    residentMaxKib: 0,
  };
  const runHostileClient = async () => {
    while (!isOver()) {
      const { status = 'disconnected' } = await sources.callHostile();
      load.requests += 1;
      load.statuses.set(status, (load.statuses.get(status) ?? 0) + 1);
    }
  };
  const regularClient = createClient(gateway, 2);
  const runRegularClient = async () => {
    while (!isOver()) {
      const { status } = await regularClient.send({ key: sources.regularKey, body: jsonBody(regularModel) });
      load.regular.calls += 1;
      if (status !== 200) load.regular.failed += 1;
      await sleep(systemClock, pollIntervalMs / 4);
    }
  };
  const sampleMemory = async () => {
    while (!isOver()) {
      load.residentMaxKib = Math.max(load.residentMaxKib, residentKib(gateway.pid));
      sources.clearHistory();
      await sleep(systemClock, pollIntervalMs);
    }
  };
  await Promise.all([...Array.from({ length: clients }, runHostileClient), runRegularClient(), sampleMemory()]);
  regularClient.close();
  return load;
}

const faultLine = /^.*"(?:internal_error|answer_failed|server_failed|task_failed|unhandled\w*|uncaught\w*)".*$/gm;

/** Returns the totals as soon as they match, or after a time limit. */
async function readFinalTotals({ storeUrl }: TestBed): Promise<Totals> {
  const client = createDynamoClient({ endpoint: storeUrl });
  const store = createDynamoStore({ client, stage: 'local' });
  try {
    for (let waitedMs = 0; ; waitedMs += pollIntervalMs) {
      const totals = await readTotals(store, workspace);
      if (totalsMatch(totals) || waitedMs >= totalsTimeoutMs) return totals;
      await sleep(systemClock, pollIntervalMs);
    }
  } finally {
    client.destroy();
  }
}

const regularModel = 'regular/model';

function gatewayFile(
  urls: Readonly<Record<'hostile' | 'regular', string>>,
  keys: { readonly key: string; readonly regularKey: string },
) {
  const modelDefaults = {
    input_price_per_million: '1.00',
    output_price_per_million: '2.00',
    streaming: true,
    context_length: 128_000,
    max_output_tokens: 1_024,
    supported_params: { tools: true, vision: true, json_mode: true, json_schema: true },
  };
  const model = (id: string, providers: readonly string[], upstream: string) => ({
    id,
    display_name: id,
    created: 1_760_000_000,
    context_length: 128_000,
    modalities: ['text', 'image'],
    providers: providers.map((provider) => ({ provider, upstream_model: upstream, ...modelDefaults })),
  });
  const provider = (id: string, url: string, apis: readonly string[]) => ({
    id,
    display_name: id,
    base_url: url,
    auth: 'none',
    apis,
    first_chunk_timeout_ms: 5_000,
    idle_timeout_ms: 5_000,
  });
  return {
    providers: [
      ...formats.flatMap((api) => [
        provider(`${api}-1`, urls.hostile, [api]),
        provider(`${api}-2`, urls.hostile, [api]),
      ]),
      provider('vectors', urls.hostile, ['embeddings']),
      provider('regular', urls.regular, ['chat-completions']),
    ],
    models: [
      ...formats.flatMap((api, index) =>
        behaviours.map((behaviour) =>
          model(
            `${api}/${behaviour.replaceAll(':', '-')}`,
            [`${api}-1`, `${formats[(index + 1) % formats.length]}-2`],
            behaviour,
          ),
        ),
      ),
      model('vectors/echo', ['vectors'], 'echo'),
      model('vectors/error', ['vectors'], 'error-500'),
      model(regularModel, ['regular'], 'echo'),
    ],
    workspaces: [
      {
        id: workspace,
        credit_usd: '1000000.00',
        features: { byok: true },
        keys: [{ name: 'hostile', key: keys.key, spend_limit_usd: '1000000.00' }],
      },
      { id: 'regular', credit_usd: '1000000.00', keys: [{ name: 'regular', key: keys.regularKey }] },
    ],
  };
}
