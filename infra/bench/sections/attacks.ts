// Measures a process with the heap of a task under each kind of load that fills the heap. Reports the resident memory
// before the load, at its highest and a minute later. Small calls are made throughout, because V8 frees more by itself
// in an idle process.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { heapOptions, tasksDefault } from '../../cdk/constructs/task-size.ts';
import type { BenchPlan } from '../bench-options.ts';
import { createClient, type MeasuringClient } from '../measuring-client.ts';
import { atMost, percentile, type SectionReport } from '../report.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import { startHostileProvider } from '../test-bed/hostile-provider.ts';
import { residentKib } from '../test-bed/resident-memory.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const residentMaxMib = 512;
const residentLaterMaxMib = 300;
/** Growth that connections without a valid key may cause. */
const keylessGrowthMaxMib = 96;
const lookEveryMs = 50;
/**
 * Pauses before and after the load. A quick run needs the same pauses, because memory that is in use a few seconds
 * later proves nothing.
 */
const restMs = 3_000;
const afterMs = 60_000;
/** The images set the same: freed buffers of this size and more are returned to the system. */
const environment = { MALLOC_MMAP_THRESHOLD_: '131072' };

type Gateway = Awaited<ReturnType<typeof startGateway>>;

interface Attack {
  readonly name: string;
  /** Bound of the growth, where the attack has its own. */
  readonly growthMaxMib?: number;
  /**
   * Resolves when all calls are answered, or have used up their time, with a text about the answers if the attack reads
   * answers. `others`: keys of other workspaces.
   */
  run(gateway: Gateway, key: string, others: readonly [string, string]): Promise<string>;
}

const chat = (model: string, more: object = {}) => ({ model, messages: [{ role: 'user', content: 'Hello' }], ...more });
const largeChat = (model: string, bytes: number) =>
  chat(model, { messages: [{ role: 'user', content: 'word '.repeat(bytes / 5) }] });

/** Makes concurrent calls and reads their answers to the end. */
const calls =
  (count: number, path: string, body: object | string, headers: Record<string, string> = {}) =>
  async (gateway: Gateway, key: string) => {
    const client = createClient({ ...gateway, path }, count);
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const answers = await Promise.all(Array.from({ length: count }, () => client.send({ key, body: bytes, headers })));
    client.close();
    const statuses = [...Map.groupBy(answers, ({ status }) => status)];
    return statuses
      .map(([status, of]) => `${of.length} × ${status}${status === refusalStatus ? refusalOf(of) : ''}`)
      .join(', ');
  };

const refusalStatus = 503;

/** Describes how long refused calls waited, and the times of their Retry-After headers. */
function refusalOf(answers: readonly { readonly totalMs: number; readonly retryAfter: string | undefined }[]): string {
  const seconds = [...new Set(answers.map(({ retryAfter = 'none' }) => retryAfter))].toSorted();
  return ` in at most ${Math.round(Math.max(...answers.map(({ totalMs }) => totalMs)))} ms, Retry-After ${seconds.join(' ')}`;
}

const formType = { 'content-type': 'multipart/form-data; boundary=x' };
const formOf = (model: string, file: string, bytes: number): string =>
  `--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n` +
  '--x\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nWider.\r\n' +
  `--x\r\nContent-Disposition: form-data; name="${file}"; filename="a"\r\nContent-Type: image/png\r\n\r\n${'a'.repeat(bytes)}\r\n--x--\r\n`;

const bytesOf = (
  gateway: Gateway,
  key: string,
  body: object,
  { path = '/v1/chat/completions', ...headers }: Record<string, string> = {},
): string => {
  const text = JSON.stringify(body);
  const { host } = new URL(gateway.url);
  const lines = Object.entries({ host, authorization: `Bearer ${key}`, ...headers });
  const head = `POST ${path} HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}`;
  return `${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};

/** Opens connections that send these bytes and read nothing. */
async function unread(gateway: Gateway, count: number, bytes: string, forMs: number): Promise<string> {
  const port = Number(new URL(gateway.url).port);
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    socket.pause().write(bytes);
    if (at % 100 === 99) await once(socket, 'connect').catch(() => {});
  }
  await sleep(systemClock, forMs);
  for (const socket of sockets) socket.destroy();
  return '';
}

const slowBytes = 21_000_000;
const slowUploads = 10;
const slowForMs = 20_000;

/**
 * Uploads forms with two keys at a fifth of the slowest speed, again and again. Calls of 100 KB with a third key run at
 * the same time.
 */
async function slowForms(gateway: Gateway, key: string, [second, third]: readonly [string, string]): Promise<string> {
  const { host, port } = new URL(gateway.url);
  let isOver = false;
  const upload = async (of: string) => {
    while (!isOver) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket
        .resume()
        .write(
          `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${of}\r\n` +
            `Content-Type: ${formType['content-type']}\r\nContent-Length: ${slowBytes}\r\n\r\n`,
        );
      for (; !isOver && !socket.destroyed; await sleep(systemClock, 100)) socket.write('a'.repeat(slowBytes / 1_500));
      socket.destroy();
    }
  };
  const uploads = [key, second].flatMap((of) => Array.from({ length: slowUploads }, () => upload(of)));
  const client = createClient(gateway, 1);
  const body = JSON.stringify(largeChat('bench/small', 100_000));
  const times: number[] = [];
  let servedCount = 0;
  for (const untilMs = systemClock.nowMs() + slowForMs; systemClock.nowMs() < untilMs; await sleep(systemClock, 500)) {
    const { status, totalMs } = await client.send({ key: third, body });
    times.push(totalMs);
    if (status === 200) servedCount += 1;
  }
  isOver = true;
  await Promise.all(uploads);
  client.close();
  return `${servedCount} of ${times.length} calls of 100 KB, ${Math.round(percentile(times, 0.5))} ms`;
}

/** Opens streams of HTTP/2 and resets them at once. */
async function resetStreams(gateway: Gateway, count: number): Promise<string> {
  const open = () => connectHttp2(new URL(gateway.url).origin).on('error', () => {});
  let session = open();
  let sessions = 1;
  for (let at = 0; at < count; at += 1) {
    if (session.closed || session.destroyed) {
      session = open();
      sessions += 1;
    }
    const stream = session.request({ ':method': 'POST', ':path': '/v1/chat/completions' });
    stream.on('error', () => {}).close(constants.NGHTTP2_CANCEL);
    if (at % 50 === 49) await sleep(systemClock, 1);
  }
  session.destroy();
  return `${sessions} connections`;
}

const sendOne = async (gateway: Gateway, key: string, body: object, headers: Record<string, string> = {}) => {
  const client = createClient(gateway, 1);
  const { status, text } = await client.send({ key, body: JSON.stringify(body), headers });
  client.close();
  if (status !== 200) throw new Error(`${status}: ${text.slice(0, 200)}`);
};

const unreadMs = 12_000;
const cached = chat('bench/large', { cache: { ttl: 3_600 } });
const replayed = { 'idempotency-key': 'the-same' };

const streamed = chat('bench/events', { stream: true });
const claude = chat('bench/events', { stream: true, max_tokens: 1_000 });
const conversed = { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] };
const conversePath = '/bedrock/model/bench%2Fframes/converse-stream';
const mixed = (model: string) =>
  chat(model, { messages: [{ role: 'user', content: `漢字 ${'word '.repeat(740_000)}` }] });
const parts = Array.from({ length: 24_000 }, (_none, at) => ({ type: 'text', text: `${'word '.repeat(20)}${at}` }));

const unreadStreams = (name: string, count: number, body: object, path = '/v1/chat/completions'): Attack => ({
  name: `${name} of 65 KB events that are not read`,
  run: (gateway, key) => unread(gateway, count, bytesOf(gateway, key, body, { path }), unreadMs),
});

const attacks: readonly Attack[] = [
  unreadStreams('400 streams', 400, streamed),
  unreadStreams('1,200 streams', 1_200, streamed),
  unreadStreams('1,200 streams of Converse', 1_200, conversed, conversePath),
  unreadStreams('1,200 translated streams', 1_200, claude, '/v1/messages'),
  {
    name: '8 edits of 24 MB, translated',
    run: calls(8, '/images/edits', formOf('bench/gemini-edits-image', 'image', 24_000_000), formType),
  },
  {
    name: '24 edits of 24 MB, translated',
    run: calls(24, '/images/edits', formOf('bench/gemini-edits-image', 'image', 24_000_000), formType),
  },
  {
    name: '60 edits of 24 MB, translated',
    run: calls(60, '/images/edits', formOf('bench/gemini-edits-image', 'image', 24_000_000), formType),
  },
  {
    name: '120 transcriptions of 24 MB',
    run: calls(120, '/audio/transcriptions', formOf('bench/sound', 'file', 24_000_000), formType),
  },
  { name: 'slow forms of 21 MB of two keys', run: slowForms },
  { name: '40 bodies of 3.7 MB with CJK, relayed', run: calls(40, '/chat/completions', mixed('bench/slow')) },
  {
    name: '40 bodies of 3.7 MB with CJK, translated',
    run: calls(40, '/chat/completions', mixed('bench/slow-message')),
  },
  {
    name: '32 bodies of 3.3 MB in 24,000 text parts, translated',
    run: calls(32, '/chat/completions', chat('bench/slow-message', { messages: [{ role: 'user', content: parts }] })),
  },

  {
    name: '150 connections that do not read one cached answer of 8 MB',
    run: (gateway, key) => unread(gateway, 150, bytesOf(gateway, key, cached), unreadMs),
  },
  {
    name: '150 connections that do not read one replayed answer of 8 MB',
    run: (gateway, key) => unread(gateway, 150, bytesOf(gateway, key, chat('bench/large'), replayed), unreadMs),
  },
  { name: '300 replays of one answer of 8 MB', run: calls(300, '/chat/completions', chat('bench/large'), replayed) },
  { name: '40 answers of 8 MB of vectors', run: calls(40, '/embeddings', { model: 'bench/vectors', input: 'a' }) },
  { name: '60 answers of 8 MB', run: calls(60, '/chat/completions', chat('bench/large')) },
  {
    name: '30 bodies of 3.5 MB, translated',
    run: calls(30, '/chat/completions', largeChat('bench/slow-message', 3_500_000)),
  },
  { name: '15 bodies of 3.8 MB, relayed', run: calls(15, '/chat/completions', largeChat('bench/slow', 3_800_000)) },
  { name: '60 bodies of 3.8 MB, relayed', run: calls(60, '/chat/completions', largeChat('bench/slow', 3_800_000)) },
  {
    name: '6,000 heads of 15 KB that do not end, without a key',
    growthMaxMib: keylessGrowthMaxMib,
    run: (gateway) => unread(gateway, 6_000, `GET / HTTP/1.1\r\nA: ${'a'.repeat(15_000)}`, unreadMs),
  },
  {
    name: '6,000 heads of 1,000 lines that do not end, without a key',
    growthMaxMib: keylessGrowthMaxMib,
    run: (gateway) => unread(gateway, 6_000, `GET / HTTP/1.1\r\n${'Name: value\r\n'.repeat(1_000)}A: a`, unreadMs),
  },
  {
    name: '6,000 prefaces of HTTP/2, without a key',
    growthMaxMib: keylessGrowthMaxMib,
    run: (gateway) => unread(gateway, 6_000, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', unreadMs),
  },
  {
    name: '10,000 streams of HTTP/2 that are reset, without a key',
    growthMaxMib: keylessGrowthMaxMib,
    run: (gateway) => resetStreams(gateway, 10_000),
  },
];

export async function measureAttacks(bed: TestBed, { rows: namePart }: BenchPlan): Promise<SectionReport> {
  const provider = await startHostileProvider();
  const newKey = () => createApiKey(systemRandomness);
  const keys = { key: newKey(), secondKey: newKey(), honestKey: newKey() };
  const configFile = join(bed.folder, 'attacks.yaml');
  await writeFile(configFile, fileText(provider.url, keys));
  const chosen = attacks.filter(({ name }) => name.includes(namePart));
  if (chosen.length === 0)
    throw new Error(`no attack is named ${namePart}: ${attacks.map(({ name }) => name).join('; ')}`);
  const rows: (readonly (string | number)[])[] = [];
  for (const attack of chosen) rows.push(await measure(bed, configFile, attack, keys));
  provider.stop();
  const worst = (at: number) => Math.max(...rows.map((row) => Number(row[at])));
  return {
    tables: [
      {
        title: `Resident MiB of a process with ${heapOptions(tasksDefault).join(' ')}`,
        columns: [
          'load',
          'before',
          'at most',
          'a minute later',
          'small calls',
          'failed',
          'p50 ms',
          'p99 ms',
          'longest turn',
          'CPU s',
          'its answers',
        ],
        rows,
      },
    ],
    targets: [
      atMost('resident under load', worst(2), residentMaxMib, ' MiB'),
      atMost('resident a minute later', worst(3), residentLaterMaxMib, ' MiB'),
      atMost('small calls that failed', worst(5), 0),
      ...chosen.flatMap(({ name, growthMaxMib }, at) => {
        const [, before, most] = rows[at] ?? [];
        return growthMaxMib === undefined
          ? []
          : [atMost(`growth: ${name}`, Number(most) - Number(before), growthMaxMib)];
      }),
    ],
  };
}

/** Keys of three workspaces. */
interface Keys {
  readonly key: string;
  readonly secondKey: string;
  readonly honestKey: string;
}

async function measure(bed: TestBed, configFile: string, attack: Attack, { key, secondKey, honestKey }: Keys) {
  const nodeOptions = heapOptions(tasksDefault);
  const gateway = await startGateway({
    name: 'attacked',
    configFile,
    storeUrl: bed.storeUrl,
    folder: bed.folder,
    environment,
    nodeOptions,
  });
  const small = createClient(gateway, 8);
  const honest = { key: honestKey, body: JSON.stringify(chat('bench/small')) };
  for (let call = 0; call < 50; call += 1) await small.send(honest);
  await sendOne(gateway, key, cached);
  await sendOne(gateway, key, chat('bench/large'), replayed);
  await sleep(systemClock, restMs);
  const beforeKib = residentKib(gateway.pid);
  let mostKib = beforeKib;
  let isAttacked = true;
  let isOver = false;
  const look = async () => {
    for (; !isOver; await sleep(systemClock, lookEveryMs)) mostKib = Math.max(mostKib, residentKib(gateway.pid));
  };
  const times: number[] = [];
  let failed = 0;
  const callOthers = async (client: MeasuringClient) => {
    for (; !isOver; await sleep(systemClock, lookEveryMs)) {
      const { status, totalMs } = await client.send(honest);
      if (isAttacked) times.push(totalMs);
      if (status !== 200) failed += 1;
    }
  };
  const { cpuMs: cpuBeforeMs } = await gateway.inspect({ watchesTurns: true });
  const beside = [look(), callOthers(small), callOthers(small)];
  const answers = await attack.run(gateway, key, [secondKey, honestKey]);
  const { cpuMs, longestTurnMs } = await gateway.inspect();
  isAttacked = false;
  // The gateway continues to read streams after their clients have disconnected, so that the highest value may come
  // later.
  await sleep(systemClock, afterMs);
  const afterKib = residentKib(gateway.pid);
  isOver = true;
  await Promise.all(beside);
  small.close();
  await gateway.stop();
  const mib = [beforeKib, mostKib, afterKib].map((kib) => Math.round(kib / 1_024));
  process.stderr.write(
    `${attack.name}: ${mib.join(' ')} ${failed} ${longestTurnMs} ${cpuMs - cpuBeforeMs} ${answers}\n`,
  );
  return [
    attack.name,
    ...mib,
    times.length,
    failed,
    percentile(times, 0.5),
    percentile(times, 0.99),
    longestTurnMs,
    (cpuMs - cpuBeforeMs) / 1_000,
    answers,
  ] as const;
}

const fileText = (url: string, { key, secondKey, honestKey }: Keys): string => {
  const model = (name: string, provider = 'fast') => `
  - { id: bench/${name}, display_name: ${name}, created: 1760000000, context_length: 4000000, modalities: [text], providers: [
      { provider: ${provider}, upstream_model: ${name}, input_price_per_million: "0", output_price_per_million: "0", streaming: true,
        context_length: 4000000, max_output_tokens: 4096, supported_params: { tools: true, vision: false, json_mode: true, json_schema: true } } ] }`;
  return `
providers:
  - { id: fast, display_name: Relayed, base_url: "${url}", auth: none, apis: [chat-completions, embeddings] }
  - { id: sounds, display_name: Sounds, base_url: "${url}", auth: none, apis: [transcriptions] }
  - { id: google, kind: google, display_name: Edits, base_url: "${url}", auth: none, apis: [images, generate-content] }
  - { id: framed, display_name: Frames, base_url: "${url}", auth: none, apis: [converse] }
  - { id: other, display_name: Translated, base_url: "${url}", auth: none, apis: [messages] }
models: ${['small', 'large', 'slow', 'vectors', 'events'].map((name) => model(name)).join('')} ${model('slow-message', 'other')} ${model('frames', 'framed')} ${model('sound', 'sounds')} ${model('gemini-edits-image', 'google')}
workspaces:
  - { id: attackers, credit_usd: "1000.00", keys: [{ name: a, key: ${key} }] }
  - { id: more-attackers, credit_usd: "1000.00", keys: [{ name: c, key: ${secondKey} }] }
  - { id: others, credit_usd: "1000.00", keys: [{ name: b, key: ${honestKey} }] }
`;
};
