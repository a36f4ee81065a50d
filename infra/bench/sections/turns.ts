// Measures the longest turn of the event loop that one call costs, in processor time of its thread. Each length that a
// client or a provider chooses is doubled up to its bound. A product of two lengths shows as a factor of four where a
// length doubles.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiKey } from '../../../shared/configuration/keys/index.ts';
import type { ProviderApi } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import type { BenchPlan } from '../bench-options.ts';
import { createClient } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { type GatewayProcess, startGateway } from '../test-bed/gateway-process.ts';
import type { TestBed } from '../test-bed/test-bed.ts';
import {
  benchClients,
  type JsonSize,
  type LongAnswer,
  longAnswers,
  sizeOf,
  startLongProvider,
} from '../turns/long-answers.ts';
import { type LongRequest, longRequests } from '../turns/long-requests.ts';

/** Longest turn of a short body or answer, and of any other. Of a stream the size of its longest event counts. */
const turnMaxMs = { short: 50, long: 200 };
/** Size up to which a body, an answer or an event is short. */
const shortMax: JsonSize = { bytes: 1024 * 1024, values: 10_000 };
/** Number of calls of each size, so that no call is charged with a garbage collection. */
const callsOfEach = 3;
const apis = ['chat-completions', 'messages', 'responses', 'generate-content', 'converse', 'embeddings'] as const;
const modelOf = (api: ProviderApi): string => `turns/${api}`;

interface MeasuredCall {
  readonly path: string;
  readonly body: string;
  /** Size of the long part: the body, the answer, or the longest event of a stream. */
  readonly size: JsonSize;
}

/** The longest turn that was measured, with the row that it belongs to. */
interface LongestTurn {
  readonly row: string;
  readonly turnMs: number;
}

const isShort = ({ bytes, values }: JsonSize): boolean => bytes <= shortMax.bytes && values <= shortMax.values;

/** Returns the greatest length that is still short, or a little less. `whole` is the size of the maximum length. */
const shortLength = (max: number, { bytes, values }: JsonSize): number =>
  Math.floor(max * Math.min(1, (0.98 * shortMax.bytes) / bytes, (0.98 * shortMax.values) / values));

/** Returns the call of a length; sets the provider's answer. */
type Prepare = (length: number) => MeasuredCall;

export async function measureTurns({ folder }: TestBed, { rows: memberPart }: BenchPlan): Promise<SectionReport> {
  const provider = await startLongProvider();
  const key = createApiKey(systemRandomness);
  const configFile = join(folder, 'turns.yaml');
  await writeFile(configFile, fileText(provider.url, key));
  const gateway = await startGateway({ name: 'turns', configFile, folder });
  const longest: Record<keyof typeof turnMaxMs, LongestTurn> = {
    short: { row: 'none', turnMs: 0 },
    long: { row: 'none', turnMs: 0 },
  };
  const measure = async (kind: string, { from, to, member, max }: LongRequest | LongAnswer, prepare: Prepare) => {
    const way = from === to ? from : `${from} → ${to}`;
    const row = `${kind}, ${way}, ${member}`;
    const turns: number[] = [];
    const allowed: number[] = [];
    let status = 0;
    for (const length of [shortLength(max, prepare(max).size), max / 2, max]) {
      const call = prepare(length);
      const { turnMs, ...answer } = await longestTurn(gateway, key, call);
      const sizeName = isShort(call.size) ? 'short' : 'long';
      if (turnMs > longest[sizeName].turnMs) longest[sizeName] = { row, turnMs };
      turns.push(turnMs);
      allowed.push(turnMaxMs[sizeName]);
      status = answer.status;
    }
    process.stderr.write(`${row}: ${turns.join(' ')} ms, allowed ${allowed.join(' ')} (${status})\n`);
    return [kind, way, member, max, status, ...turns, `${allowed.join(', ')} ms`] as const;
  };
  const rows = [];
  const isWanted = ({ from, to, member }: LongRequest | LongAnswer) => `${from} ${to} ${member}`.includes(memberPart);
  for (const row of longRequests.filter(isWanted)) rows.push(await measure('request', row, requestOf(row)));
  for (const row of longAnswers.filter(isWanted)) {
    rows.push(await measure(row.isStream ? 'stream' : 'answer', row, answerOf(row, provider.answerWith)));
  }
  await gateway.stop();
  provider.stop();
  const title =
    'Longest turn of one call by what of it is long, ms of processor time of the thread, the least of three calls';
  const columns = ['of a', 'interfaces', 'what', 'length', 'status', 'short', 'half', 'whole', 'allowed'];
  const target = (kind: keyof typeof turnMaxMs, what: string) =>
    atMost(`longest turn of ${what} (${longest[kind].row})`, longest[kind].turnMs, turnMaxMs[kind], ' ms');
  return {
    tables: [{ title, columns, rows }],
    targets: [target('short', 'what has up to 1 MiB and 10,000 values'), target('long', 'what is longer')],
    failsWhereMissed: true,
  };
}

const requestOf =
  ({ from, to, body }: LongRequest): Prepare =>
  (length) => {
    const { path, fields } = benchClients[from];
    const requestBody = { ...fields(modelOf(to), false), ...body(Math.floor(length)) };
    const text = JSON.stringify(requestBody);
    return { path: path(modelOf(to), false), body: text, size: sizeOf(requestBody, text) };
  };

const answerOf =
  (
    { from, to, isStream, answer, inputs }: LongAnswer,
    answerWith: (longAnswer: ReturnType<LongAnswer['answer']>) => void,
  ): Prepare =>
  (length) => {
    const { path, fields, question } = benchClients[from];
    const longAnswer = answer(Math.floor(length));
    answerWith(longAnswer);
    const several = inputs && { input: Array.from({ length: inputs(length) }, () => 'a') };
    const body = JSON.stringify({ ...fields(modelOf(to), isStream), ...question, ...several });
    return { path: path(modelOf(to), isStream), body, size: longAnswer.size };
  };

/** Returns the shortest of the longest turns of several calls. */
async function longestTurn({ name, url, inspect }: GatewayProcess, key: string, { path, body }: MeasuredCall) {
  const client = createClient({ name, url: new URL(url).origin, path }, 1);
  let turnMs = Number.POSITIVE_INFINITY;
  let status = 0;
  for (let index = 0; index < callsOfEach; index += 1) {
    await inspect({ watchesTurns: true });
    status = (await client.send({ key, body })).status;
    turnMs = Math.min(turnMs, (await inspect()).longestTurnMs);
  }
  client.close();
  return { turnMs, status };
}

const fileText = (url: (api: ProviderApi) => string, key: string): string =>
  JSON.stringify({
    providers: apis.map((api) => ({ id: api, display_name: api, base_url: url(api), auth: 'none', apis: [api] })),
    models: apis.map((api) => ({
      ...{ id: modelOf(api), display_name: api, created: 1_760_000_000, context_length: 4_000_000 },
      modalities: ['text', 'image'],
      providers: [
        {
          ...{ provider: api, upstream_model: 'bench', streaming: true, context_length: 4_000_000 },
          ...{ input_price_per_million: '0.25', output_price_per_million: '1.00', max_output_tokens: 4_096 },
          supported_params: { tools: true, vision: true, json_mode: true, json_schema: true },
        },
      ],
    })),
    workspaces: [{ id: 'turns', credit_usd: '1000000.00', keys: [{ name: 'turns', key }] }],
  });
