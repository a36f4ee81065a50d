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
import { benchClients, type LongAnswer, longAnswers, startLongProvider } from '../turns/long-answers.ts';
import { type LongRequest, longRequests } from '../turns/long-requests.ts';

/** Maximum turn of a body or an answer of up to one mebibyte, and of a body or an answer of any size. */
const turnMaxMs = { short: 50, long: 200 };
const shortMaxBytes = 1024 * 1024;
/** Number of calls of each size, so that no call is charged with a garbage collection. */
const callsOfEach = 3;
const apis = ['chat-completions', 'messages', 'responses', 'generate-content', 'converse', 'embeddings'] as const;
const modelOf = (api: ProviderApi): string => `turns/${api}`;

interface MeasuredCall {
  readonly path: string;
  readonly body: string;
  /** Bytes of the long part: the body, or the answer. */
  readonly bytes: number;
}

/** Returns the call of a length; sets the provider's answer. */
type Prepare = (length: number) => MeasuredCall;

export async function measureTurns({ folder }: TestBed, { rows: memberPart }: BenchPlan): Promise<SectionReport> {
  const provider = await startLongProvider();
  const key = createApiKey(systemRandomness);
  const configFile = join(folder, 'turns.yaml');
  await writeFile(configFile, fileText(provider.url, key));
  const gateway = await startGateway({ name: 'turns', configFile, folder });
  const longest = { short: 0, long: 0 };
  const measure = async (kind: string, { from, to, member, max }: LongRequest | LongAnswer, prepare: Prepare) => {
    const half = await longestTurn(gateway, key, prepare(max / 2), longest);
    const whole = await longestTurn(gateway, key, prepare(max), longest);
    const way = from === to ? from : `${from} → ${to}`;
    process.stderr.write(`${kind}, ${way}, ${member}: ${half.turnMs} ${whole.turnMs} ms (${whole.status})\n`);
    return [kind, way, member, max, whole.status, half.turnMs, whole.turnMs] as const;
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
  return {
    tables: [{ title, columns: ['of a', 'interfaces', 'what', 'length', 'status', 'at half', 'whole'], rows }],
    targets: [
      atMost('longest turn of a request or an answer up to 1 MiB', longest.short, turnMaxMs.short, ' ms'),
      atMost('longest turn of a longer one', longest.long, turnMaxMs.long, ' ms'),
    ],
  };
}

const requestOf =
  ({ from, to, body }: LongRequest): Prepare =>
  (length) => {
    const { path, fields } = benchClients[from];
    const text = JSON.stringify({ ...fields(modelOf(to), false), ...body(Math.floor(length)) });
    return { path: path(modelOf(to), false), body: text, bytes: Buffer.byteLength(text) };
  };

const answerOf =
  (
    { from, to, isStream, answer, inputs }: LongAnswer,
    answerWith: (sent: ReturnType<LongAnswer['answer']>) => void,
  ): Prepare =>
  (length) => {
    const { path, fields, question } = benchClients[from];
    const sent = answer(Math.floor(length));
    answerWith(sent);
    const several = inputs && { input: Array.from({ length: inputs(length) }, () => 'a') };
    const body = JSON.stringify({ ...fields(modelOf(to), isStream), ...question, ...several });
    return { path: path(modelOf(to), isStream), body, bytes: Buffer.byteLength(sent.body) };
  };

/** Returns the shortest of the longest turns of several calls. */
async function longestTurn(
  { name, url, inspect }: GatewayProcess,
  key: string,
  { path, body, bytes }: MeasuredCall,
  longest: { short: number; long: number },
) {
  const client = createClient({ name, url: new URL(url).origin, path }, 1);
  let turnMs = Number.POSITIVE_INFINITY;
  let status = 0;
  for (let index = 0; index < callsOfEach; index += 1) {
    await inspect({ watchesTurns: true });
    status = (await client.send({ key, body })).status;
    turnMs = Math.min(turnMs, (await inspect()).longestTurnMs);
  }
  client.close();
  const kind = bytes > shortMaxBytes ? 'long' : 'short';
  longest[kind] = Math.max(longest[kind], turnMs);
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
