// Measures the resident bytes of a process for each byte of a request or an answer, by interface, path and state, next
// to the table of weights.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { heapOptions, tasksDefault } from '../../cdk/constructs/task-size.ts';
import type { BenchPlan } from '../bench-options.ts';
import { atMost, type SectionReport } from '../report.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import { startHostileProvider } from '../test-bed/hostile-provider.ts';
import { residentKib } from '../test-bed/resident-memory.ts';
import type { TestBed } from '../test-bed/test-bed.ts';
import { modelId, type WeighedCall, type WeighedWorkspace, type WeightRow, weightRows } from './weight-rows.ts';

const mib = 1024 * 1024;
/** Bytes of all concurrent calls. The number is so large that the other memory of a process counts little. */
const totalBytes = 96_000_000;
const lookEveryMs = 20;
/** A process has everything in memory once it has grown by no more than this for this long. */
const steadyKib = 2 * 1024;
const steadyMs = 2_000;
const measuredMaxMs = 30_000;
/** The first call of a process loads its code. */
const firstMaxMs = 10_000;
/** Growth that does not depend on the length of calls: code, pools and sockets. */
const fixedKib = 8 * 1_024;
/** Settings under which no call waits for memory. */
const environment = { MALLOC_MMAP_THRESHOLD_: '131072', GW_KEPT_BYTES_MAX: String(64 * 1024 * mib) };

export async function measureWeights(bed: TestBed, { rows: namePart }: BenchPlan): Promise<SectionReport> {
  const all = await weightRows();
  const chosenWeights = all.filter(({ name }) => name.includes(namePart));
  if (chosenWeights.length === 0)
    throw new Error(`no weight is named ${namePart}: ${all.map(({ name }) => name).join('; ')}`);
  const provider = await startHostileProvider();
  const newKey = () => createApiKey(systemRandomness);
  const keys = { plain: newKey(), guarded: newKey(), logged: newKey() };
  const configFile = join(bed.folder, 'weights.yaml');
  await writeFile(configFile, fileText(provider.url, all, keys));
  const measured: { name: string; perByte: number | undefined; weight: number }[] = [];
  for (const row of chosenWeights) {
    const growth = await measure(bed, configFile, row, { ...provider, key: keys[row.workspace ?? 'plain'] });
    if (growth !== undefined || row.mayCallNobody !== true)
      measured.push({ name: row.name, perByte: growth?.most ?? NaN, weight: row.weight });
    else measured.push({ name: row.name, perByte: undefined, weight: row.weight });
    if (row.restWeight !== undefined && growth !== undefined)
      measured.push({ name: `${row.name}, at rest`, perByte: growth.rest, weight: row.restWeight });
    const shown = (value: number | undefined) => value?.toFixed(2) ?? 'none';
    process.stderr.write(
      `${row.name}: ${shown(growth?.most)} of ${shown(row.weight)}, at rest ${shown(growth?.rest)} of ${shown(row.restWeight)}\n`,
    );
  }
  provider.stop();
  return {
    tables: [
      {
        title: 'Resident bytes for each byte',
        columns: ['of a request or an answer', 'measured', 'in the table'],
        rows: measured.map(({ name, perByte, weight }) => [name, perByte ?? 'never called', weight]),
      },
    ],
    targets: measured.flatMap(({ name, perByte, weight }) =>
      perByte === undefined ? [] : [atMost(name, perByte, weight)],
    ),
    failsWhereMissed: true,
  };
}

interface Measuring extends Pick<Awaited<ReturnType<typeof startHostileProvider>>, 'silentCalls'> {
  readonly key: string;
}

/**
 * Measures the growth of a process for each byte, while these calls are in progress: the most, and what remains after a
 * collection while they wait. Returns undefined if no provider is ever called.
 */
async function measure(bed: TestBed, configFile: string, row: WeightRow, { key, silentCalls }: Measuring) {
  const { storeUrl, folder } = bed;
  const nodeOptions = heapOptions(tasksDefault);
  const gateway = await startGateway({ name: 'weighed', configFile, storeUrl, folder, environment, nodeOptions });
  const { host, hostname, port } = new URL(gateway.url);
  const bytesOf = ({ path, type, body, headers = '' }: WeighedCall) =>
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: ${type}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
  const open = async (bytes: string): Promise<Socket> => {
    const socket = connect(Number(port), hostname).on('error', () => {});
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  const callsAtStart = silentCalls();
  const first = await open(bytesOf(row.first));
  first.resume();
  const isFirstCalled = () => silentCalls() > callsAtStart;
  for (let waitedMs = 0; row.isRequest && !isFirstCalled() && waitedMs < firstMaxMs; waitedMs += lookEveryMs)
    await sleep(systemClock, lookEveryMs);
  await sleep(systemClock, steadyMs);
  first.destroy();
  const callsBefore = silentCalls();
  const isCalled = !row.isRequest || isFirstCalled();
  const bytes = bytesOf(await row.call());
  await gateway.inspect({ collectsGarbage: true });
  const beforeKib = residentKib(gateway.pid);
  const sockets: Socket[] = [];
  const count = Math.ceil(totalBytes / row.bytes);
  for (let at = 0; isCalled && at < count; at += 1) {
    const socket = await open(bytes);
    sockets.push(row.isAnswerRead === true ? socket.resume() : socket.pause());
  }
  const isWhole = () => !row.isRequest || silentCalls() - callsBefore >= count;
  const mostKib = await highest(() => residentKib(gateway.pid), isWhole);
  // Buffers and texts outside the heap are freed by the collection after the one that finds them.
  for (let collection = 0; collection < 3; collection += 1)
    await gateway.inspect({ collectsGarbage: true, returnsPages: true });
  const restKib = residentKib(gateway.pid) - fixedKib;
  for (const socket of sockets) socket.destroy();
  await gateway.stop();
  if (!isCalled) return undefined;
  const perByte = (kib: number) => (isWhole() ? ((kib - beforeKib) * 1_024) / (count * row.bytes) : NaN);
  return { most: perByte(mostKib), rest: perByte(restKib) };
}

/** Returns the highest value that was read until it was steady. */
async function highest(read: () => number, isWhole: () => boolean): Promise<number> {
  const startedAtMs = systemClock.nowMs();
  let [most, last, movedAtMs] = [read(), read(), startedAtMs];
  for (let nowMs = startedAtMs; (nowMs - movedAtMs < steadyMs || !isWhole()) && nowMs - startedAtMs < measuredMaxMs; ) {
    await sleep(systemClock, lookEveryMs);
    const value = read();
    nowMs = systemClock.nowMs();
    if (Math.abs(value - last) > steadyKib) [last, movedAtMs] = [value, nowMs];
    most = Math.max(most, value);
  }
  return most;
}

const fileText = (
  url: string,
  rows: readonly WeightRow[],
  keys: Readonly<Record<'plain' | WeighedWorkspace, string>>,
) => `
guardrails:
  - { id: guard, kind: http, url: "${url}/guardrail", on: [input, output], timeout_ms: 20000 }
providers: ${rows
  .map(
    ({ name, model, isRequest }, at) => `
  - { id: p${at}, display_name: "${name}", base_url: "${url}/${model.folder ?? (isRequest ? 'silent' : '')}", auth: none, ${model.provider} }`,
  )
  .join('')}
models: ${rows
  .map(
    ({ name, model }, at) => `
  - { id: ${modelId(name)}, display_name: "${name}", created: 1760000000, context_length: 4000000, modalities: [text], providers: [
      { provider: p${at}, upstream_model: "${model.upstream}", input_price_per_million: "0", output_price_per_million: "0", streaming: true,
        context_length: 4000000, max_output_tokens: 4096, supported_params: { tools: true, vision: true, json_mode: true, json_schema: true } } ] }`,
  )
  .join('')}
workspaces:
  - { id: weighed, credit_usd: "1000.00", keys: [{ name: a, key: ${keys.plain} }] }
  - { id: guarded, credit_usd: "1000.00", guardrails: [guard], keys: [{ name: b, key: ${keys.guarded} }] }
  - { id: logged, credit_usd: "1000.00", content_log: { keep: 1d, share: 1 }, keys: [{ name: c, key: ${keys.logged} }] }
`;
