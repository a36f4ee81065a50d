// Places a process between providers and clients that do whatever they like, with every interface and format. The
// process must survive, serve honest calls at the same time, and have exact books in the end.
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
import { sendHostile } from '../hostile/hostile-client.ts';
import { startHostileProxy } from '../hostile/hostile-proxy.ts';
import { hostileRequest } from '../hostile/hostile-requests.ts';
import { seededRandom } from '../hostile/seeded-random.ts';
import { createClient, jsonBody } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { areExact, type Books, readBooks } from '../test-bed/books.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import { residentKib } from '../test-bed/resident-memory.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const clients = 48;
const workspace = 'hostile';
/**
 * Time limit for exact books: an abandoned call is read for another ten seconds, and its lease ends after seventy-five.
 */
const booksWithinMs = 120_000;
const lookEveryMs = 1_000;

/** Behaviours of the simulator before its bytes are changed. */
const behaviours = [
  ...['echo', 'tools', 'reasoning', 'redacted-reasoning', 'refusal', 'content-filter', 'two-choices', 'blocked-prompt'],
  ...['usage:1000:500:300:120:200:80', 'no-usage', 'zero-usage', 'wrong-usage:negative', 'wrong-usage:astronomic'],
  ...['invalid-json', 'truncated-json', 'error-500', 'error-429', 'cut:1', 'echo-request'],
];
const formats = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;

export async function measureHostile(bed: TestBed, { hostile: { minutes, seed } }: BenchPlan): Promise<SectionReport> {
  const random = seededRandom(seed);
  const simulator = await startSimulator({ paceMs: 0 });
  const proxy = await startHostileProxy(simulator.port, random);
  const [key, honestKey] = [createApiKey(systemRandomness), createApiKey(systemRandomness)];
  const configFile = join(bed.folder, 'hostile.yaml');
  const file = gatewayFile({ hostile: proxy.url, honest: simulator.url }, { key, honestKey });
  await writeFile(configFile, JSON.stringify(file));
  const nodeOptions = heapOptions(tasksDefault);
  const start = { name: 'hostile', configFile, storeUrl: bed.storeUrl, folder: bed.folder, nodeOptions };
  const gateway = await startGateway(start);
  const port = Number(new URL(gateway.url).port);
  const ids = file.models.map(({ id }) => id);
  const options = {
    key,
    models: ids.filter((id) => !id.startsWith('vectors/') && id !== honestModel),
    vectors: ids.filter((id) => id.startsWith('vectors/')),
  };
  const endsAtMs = systemClock.nowMs() + minutes * 60_000;
  const isOver = () => systemClock.nowMs() >= endsAtMs;
  const statuses = new Map<number | string, number>();
  let requests = 0;
  const callHostile = async () => {
    while (!isOver()) {
      const { status = 'left' } = await sendHostile(port, hostileRequest(random, options), random);
      requests += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const honest = { calls: 0, failed: 0 };
  const honestClient = createClient(gateway, 2);
  const callHonest = async () => {
    for (; !isOver(); await sleep(systemClock, lookEveryMs / 4)) {
      const { status } = await honestClient.send({ key: honestKey, body: jsonBody(honestModel) });
      honest.calls += 1;
      if (status !== 200) honest.failed += 1;
    }
  };
  let mostKib = 0;
  const look = async () => {
    for (; !isOver(); await sleep(systemClock, lookEveryMs)) {
      mostKib = Math.max(mostKib, residentKib(gateway.pid));
      // The simulator remembers every call.
      simulator.clear();
    }
  };
  await Promise.all([...Array.from({ length: clients }, callHostile), callHonest(), look()]);
  const isAlive = Number.isFinite(residentKib(gateway.pid));
  const books = await exactBooks(bed);
  honestClient.close();
  await gateway.stop();
  proxy.stop();
  await simulator.stop();
  const faults = readFileSync(gateway.outputFile, 'utf8').match(faultLine) ?? [];
  for (const line of faults.slice(0, 5)) process.stderr.write(`${line.slice(0, 2_000)}\n`);
  const isWell = isAlive && areExact(books);
  const answered = [...statuses].toSorted().map(([status, count]) => `${count} × ${status}`);
  return {
    tables: [
      {
        title: `A process among hostile clients and providers for ${minutes} minutes, seed ${seed}`,
        columns: ['what', 'figure'],
        rows: [
          ['requests', requests],
          ['answers', answered.join(', ')],
          ['records, their cost, of keys, of the workspace, held', bookText(books)],
          ['resident MiB at most', Math.round(mostKib / 1_024)],
          ['honest calls, failed', `${honest.calls}, ${honest.failed}`],
          ['faults of its own in the log', faults.length],
        ],
      },
    ],
    targets: [
      atMost('the process has ended, or its books are not exact', isWell ? 0 : 1, 0),
      atMost('answers that say internal_error', statuses.get(500) ?? 0, 0),
      atMost('faults of its own in the log', faults.length, 0),
      atMost('honest calls that failed', honest.failed, 0),
    ],
  };
}

const faultLine = /^.*"(?:internal_error|answer_failed|server_failed|task_failed|unhandled\w*|uncaught\w*)".*$/gm;

const bookText = ({ calls, recorded, keysSpent, workspaceSpent, held }: Books): string =>
  [calls, recorded, keysSpent, workspaceSpent, held].join(', ');

/** Returns the books as soon as they are exact, or after a time limit. */
async function exactBooks({ storeUrl }: TestBed): Promise<Books> {
  const client = createDynamoClient({ endpoint: storeUrl });
  const store = createDynamoStore({ client, stage: 'local' });
  try {
    for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
      const books = await readBooks(store, workspace);
      if (areExact(books) || waitedMs >= booksWithinMs) return books;
      await sleep(systemClock, lookEveryMs);
    }
  } finally {
    client.destroy();
  }
}

const honestModel = 'honest/model';

function gatewayFile(
  urls: Readonly<Record<'hostile' | 'honest', string>>,
  keys: { readonly key: string; readonly honestKey: string },
) {
  const abilities = {
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
    providers: providers.map((provider) => ({ provider, upstream_model: upstream, ...abilities })),
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
      provider('honest', urls.honest, ['chat-completions']),
    ],
    models: [
      ...formats.flatMap((api, at) =>
        behaviours.map((behaviour) =>
          model(
            `${api}/${behaviour.replaceAll(':', '-')}`,
            [`${api}-1`, `${formats[(at + 1) % formats.length]}-2`],
            behaviour,
          ),
        ),
      ),
      model('vectors/echo', ['vectors'], 'echo'),
      model('vectors/error', ['vectors'], 'error-500'),
      model(honestModel, ['honest'], 'echo'),
    ],
    workspaces: [
      {
        id: workspace,
        credit_usd: '1000000.00',
        features: { byok: true },
        keys: [{ name: 'hostile', key: keys.key, spend_limit_usd: '1000000.00' }],
      },
      { id: 'honest', credit_usd: '1000000.00', keys: [{ name: 'honest', key: keys.honestKey }] },
    ],
  };
}
