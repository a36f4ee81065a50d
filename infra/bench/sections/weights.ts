// Measures the resident bytes of a process for each byte of a request or an answer, by interface and path, next to the
// table of weights. The calls are the examples of the interfaces' descriptions, with a long text in place of their
// first text.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import { type InterfaceId, interfaceIds, servingApis } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { interfaceList } from '../../../shared/protocol/interface-list/index.ts';
import type { ClientInterface } from '../../../shared/protocol/interfaces/index.ts';
import {
  answerWeights,
  headWeight,
  pathsOf,
  type RequestPath,
  requestBytes,
} from '../../../shared/protocol/memory-budget/index.ts';
import { heapOptions, tasksDefault } from '../../cdk/constructs/task-size.ts';
import type { BenchPlan } from '../bench-options.ts';
import { atMost, type SectionReport } from '../report.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import { largeAnswerBytes, longEventBytes, startHostileProvider } from '../test-bed/hostile-provider.ts';
import { residentKib } from '../test-bed/resident-memory.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const mib = 1024 * 1024;
const requestWeighed = { json: 3_500_000, form: 24_000_000 };
/** Bytes of all concurrent calls. The number is so large that the other memory of a process counts little. */
const totalBytes = 96_000_000;
const lookEveryMs = 20;
/** A process has everything in memory once it has grown by no more than this for this long. */
const steadyKib = 2 * 1024;
const steadyMs = 2_000;
const measuredMaxMs = 30_000;
/** The first call of a process loads its code. */
const firstMaxMs = 10_000;
/** Settings under which no call waits for memory. */
const environment = { MALLOC_MMAP_THRESHOLD_: '131072', GW_KEPT_BYTES_MAX: String(64 * 1024 * mib) };

interface WeightRow {
  readonly name: string;
  /** Weight that the table has. */
  readonly weight: number;
  readonly model: WeighedModel;
  /** Set for the workspace whose output and input a guardrail checks. */
  readonly isGuarded?: boolean;
  readonly call: () => Promise<Call>;
  /** A shorter call of the same kind, which loads the code. */
  readonly first: Call;
  /** Bytes of each call that are weighed. */
  readonly bytes: number;
  /**
   * Whether the request is weighed. A request has arrived when the provider or the guardrail has it; an answer has
   * arrived when no more bytes come.
   */
  readonly isRequest: boolean;
}

interface WeighedModel {
  readonly provider: string;
  readonly upstream: string;
}

interface Call {
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly headers?: string;
}

/**
 * Returns each interface with each path that a call of the interface may take, and each answer with each path of the
 * answer.
 */
async function weightRows(): Promise<readonly WeightRow[]> {
  const requests = await Promise.all(interfaceIds.map(rowsOfInterface));
  const manyValues = await Promise.all((['relayed', 'translated', 'guarded'] as const).map(manyValuesRow));
  return [...requests.flat(), ...manyValues, ...(await rowsOfAnswers())];
}

async function rowsOfInterface(id: InterfaceId): Promise<readonly WeightRow[]> {
  const [route] = interfaceList[id].routes;
  const loaded = await interfaceList[id].load();
  const { body } = await loaded.operation(route?.operation);
  const form = body.kind === 'vendor' ? body.form : undefined;
  const bodies = [...(form?.isOnly === true ? [] : [false]), ...(form === undefined ? [] : [true])];
  // A body is read on every path, and no call stays in memory only for that.
  const paths = pathsOf(id).filter((path) => path !== 'read');
  const rows = bodies.flatMap((isForm) =>
    paths.map(async (path): Promise<WeightRow> => {
      const name = `${id} ${path}${isForm ? ', a form' : ''}`;
      const bytes = isForm ? requestWeighed.form : requestWeighed.json;
      const callWith = (text: string) => callOf(id, { model: modelId(name), isForm, text });
      return {
        ...{ name, weight: headWeight(id, isForm), bytes, isRequest: true, isGuarded: path === 'guarded' },
        model: modelOf(loaded, path),
        call: () => callWith('word '.repeat(bytes / 5)),
        first: await callWith('word'),
      };
    }),
  );
  return Promise.all(rows);
}

const large: WeighedModel = { provider: 'apis: [chat-completions]', upstream: 'large' };
const part = { type: 'text', text: 'word '.repeat(40) };
const parts = Array.from({ length: requestWeighed.json / JSON.stringify(part).length }, () => part);
/** Bytes of the list, and of each part the object and its two members, in five numbers of four bytes. */
const partsTableBytes = (1 + 3 * parts.length) * 20;

/** The weight of values: a text in many parts. */
async function manyValuesRow(path: RequestPath): Promise<WeightRow> {
  const name = `many values ${path}`;
  const callWith = (text: unknown) => callOf('chat-completions', { model: modelId(name), isForm: false, text });
  const textBytes = JSON.stringify(parts).length;
  const weight = requestBytes([path], { textBytes, tableBytes: partsTableBytes, formBytes: 0 }) / textBytes;
  const loaded = await interfaceList['chat-completions'].load();
  return {
    ...{ name, weight, bytes: textBytes, isRequest: true, isGuarded: path === 'guarded', model: modelOf(loaded, path) },
    call: () => callWith(parts),
    first: await callWith([part]),
  };
}

async function answerRow(
  name: string,
  weight: number,
  { id = 'chat-completions', more = {}, ...row }: Partial<WeightRow> & { id?: InterfaceId; more?: object } = {},
): Promise<WeightRow> {
  const call = await callOf(id, { model: modelId(name), isForm: false, text: 'Hello' });
  const headers = name === 'answer replayed' ? 'idempotency-key: the-same\r\n' : '';
  const first = { ...call, headers, body: JSON.stringify({ ...JSON.parse(call.body), ...more }) };
  return {
    name,
    weight,
    model: large,
    bytes: largeAnswerBytes,
    isRequest: false,
    call: async () => first,
    first,
    ...row,
  };
}

const rowsOfAnswers = (): Promise<readonly WeightRow[]> =>
  Promise.all([
    answerRow('answer relayed', answerWeights.relayed),
    answerRow('answer translated', answerWeights.translated, { id: 'messages' }),
    answerRow('answer guarded', answerWeights.relayed + answerWeights.guarded, { isGuarded: true }),
    answerRow('answer replayed', answerWeights.replayed),
    answerRow('answer cached', answerWeights.cached, { more: { cache: { ttl: 3_600 } } }),
    answerRow('event', answerWeights.event, {
      ...{ bytes: longEventBytes, model: { ...large, upstream: 'long-events' }, more: { stream: true } },
    }),
  ]);

export async function measureWeights(bed: TestBed, { rows: namePart }: BenchPlan): Promise<SectionReport> {
  const all = await weightRows();
  const chosenWeights = all.filter(({ name }) => name.includes(namePart));
  if (chosenWeights.length === 0)
    throw new Error(`no weight is named ${namePart}: ${all.map(({ name }) => name).join('; ')}`);
  const provider = await startHostileProvider();
  const [key, guardedKey] = [createApiKey(systemRandomness), createApiKey(systemRandomness)];
  const configFile = join(bed.folder, 'weights.yaml');
  await writeFile(configFile, fileText(provider.url, all, { key, guardedKey }));
  const measured: { name: string; perByte: number | undefined; weight: number }[] = [];
  for (const row of chosenWeights) {
    const perByte = await measure(bed, configFile, row, {
      ...provider,
      key: row.isGuarded === true ? guardedKey : key,
    });
    measured.push({ name: row.name, perByte, weight: row.weight });
    process.stderr.write(`${row.name}: ${perByte?.toFixed(2) ?? 'never called'} of ${row.weight.toFixed(2)}\n`);
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

/** Models of the kinds of providers that have an interface in a format of their own. */
const packageModels = {
  embedding: 'gemini-embedding-001',
  image: 'gemini-2.5-flash-image',
  reranking: 'cohere.rerank-v3-5:0',
} as const;

function modelOf({ id, packageModels: kindOfModels }: ClientInterface, path: RequestPath): WeighedModel {
  const { native, throughHub, ...serving } = servingApis[id];
  const [api] = throughHub;
  if (path !== 'translated') return { provider: `apis: [${native}]`, upstream: 'silent' };
  if (api !== undefined) return { provider: `apis: [${api}]`, upstream: 'silent' };
  const kinds = 'apisByKind' in serving ? Object.keys(serving.apisByKind) : [];
  const kind = kinds.find((one) => one === 'google') ?? kinds[0];
  return {
    provider: `kind: ${kind}, apis: [${native}]`,
    upstream: kindOfModels === undefined ? 'silent' : packageModels[kindOfModels],
  };
}

const modelId = (row: string): string => `bench/${row.replaceAll(/\W+/g, '-')}`;

interface Filling {
  readonly model: string;
  readonly isForm: boolean;
  /** Any value of a JSON body. */
  readonly text: unknown;
}

/** Texts of the examples begin with a capital letter, and names do not. */
async function callOf(id: InterfaceId, { model, isForm, text }: Filling): Promise<Call> {
  const [route] = interfaceList[id].routes;
  if (route === undefined) throw new Error(`${id} has no route`);
  const { body } = await (await interfaceList[id].load()).operation(route.operation);
  const example =
    body.kind === 'vendor' ? body.example : (Object.values(body.examples)[0] as { readonly value: object }).value;
  let isFilled = isForm;
  const filled = JSON.stringify(example, (name, value: unknown) => {
    if (name === 'model') return model;
    if (isFilled || typeof value !== 'string' || !/^[A-Z]/.test(value)) return value;
    isFilled = true;
    return text;
  });
  if (!isFilled) throw new Error(`the example of ${id} has no text`);
  const base = route.base === 'all' ? '/v1' : route.base;
  const path = base + route.path.replace(/\*+/, encodeURIComponent(model));
  const form = body.kind === 'vendor' ? body.form : undefined;
  if (!isForm || form === undefined) return { path, type: 'application/json', body: filled };
  const field = (name: string, more: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const fields = Object.entries(JSON.parse(filled) as Readonly<Record<string, unknown>>)
    .filter(([name, value]) => typeof value === 'string' && !(name in form.files))
    .map(([name, value]) => field(name, '', String(value)));
  const file = field(form.needed[0], '; filename="a"\r\nContent-Type: image/png', String(text));
  return { path, type: 'multipart/form-data; boundary=x', body: `${fields.join('')}${file}--x--\r\n` };
}

interface Measuring extends Pick<Awaited<ReturnType<typeof startHostileProvider>>, 'silentCalls'> {
  readonly key: string;
}

/**
 * Measures the growth of a process for each byte, while these calls are in progress. Returns undefined if no
 * provider is ever called.
 */
async function measure(bed: TestBed, configFile: string, row: WeightRow, { key, silentCalls }: Measuring) {
  const { storeUrl, folder } = bed;
  const nodeOptions = heapOptions(tasksDefault);
  const gateway = await startGateway({ name: 'weighed', configFile, storeUrl, folder, environment, nodeOptions });
  const { host, hostname, port } = new URL(gateway.url);
  const bytesOf = ({ path, type, body, headers = '' }: Call) =>
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
  if (isCalled) for (let at = 0; at < count; at += 1) sockets.push((await open(bytes)).pause());
  const isWhole = () => !row.isRequest || silentCalls() - callsBefore >= count;
  const mostKib = await highest(() => residentKib(gateway.pid), isWhole);
  for (const socket of sockets) socket.destroy();
  await gateway.stop();
  if (!isCalled) return undefined;
  return isWhole() ? ((mostKib - beforeKib) * 1_024) / (count * row.bytes) : NaN;
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
  keys: { readonly key: string; readonly guardedKey: string },
) => `
guardrails:
  - { id: guard, kind: http, url: "${url}/guardrail", on: [input, output], timeout_ms: 20000 }
providers: ${rows
  .map(
    ({ name, model, isRequest }, at) => `
  - { id: p${at}, display_name: "${name}", base_url: "${url}${isRequest ? '/silent' : ''}", auth: none, ${model.provider} }`,
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
  - { id: weighed, credit_usd: "1000.00", keys: [{ name: a, key: ${keys.key} }] }
  - { id: guarded, credit_usd: "1000.00", guardrails: [guard], keys: [{ name: b, key: ${keys.guardedKey} }] }
`;
