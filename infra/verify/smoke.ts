// `npm run smoke -- --stage NAME` (or `--url BASE_URL`): one call of each kind through the base URL that clients use, one
// line per check, and an exit code. It writes nothing but the calls themselves. The API key is read from GW_API_KEY.
import { parseArgs } from 'node:util';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { openAwsAccount } from '../cdk/aws-account.ts';
import { apiStackName } from '../cdk/resource-names.ts';

const usage = `GW_API_KEY=sk-gw-… npm run smoke -- (--stage NAME [--profile NAME] [--region NAME] | --url BASE_URL)
  [--model ID] [--function ID --input TEXT]`;
/** Longer than the budget of a call. */
const answerTimeoutMs = 70_000;

export interface SmokeOptions {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** A stored function and an input it accepts. Undefined: that check is left out, and says so. */
  readonly storedFunction?: { readonly id: string; readonly input: string } | undefined;
  readonly send?: typeof fetch;
}

interface Usage {
  readonly cost: number;
  readonly cost_usd: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Fails with what was found instead. */
function expectThat(isTrue: boolean, found: string): asserts isTrue {
  if (!isTrue) throw new Error(found);
}

const dataLines = (body: string): string[] =>
  body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));

function readCostUsd({ body }: Pick<Answer, 'body'>): number {
  const { usage } = JSON.parse(body) as { usage?: Partial<Usage> };
  expectThat(typeof usage?.cost === 'number' && usage.cost >= 0, 'the answer has no cost');
  expectThat(Number(usage.cost_usd) === usage.cost, `cost ${usage.cost} is not cost_usd ${usage.cost_usd}`);
  return usage.cost;
}

/** Name → check. In this order, because each uses what the former has shown. Gives a few words on what was found. */
function smokeChecks({ baseUrl, apiKey, model, storedFunction, send = fetch }: SmokeOptions) {
  const call = async (path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await send(`${baseUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
    const text = await response.text();
    expectThat(response.status === 200, `status ${response.status}: ${text.slice(0, 300)}`);
    return { status: response.status, headers: response.headers, body: text };
  };
  const chat = (members: object, headers?: Record<string, string>) =>
    call('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }], ...members }, headers);

  const costsUsd: number[] = [];
  let firstId: string | null = null;

  return {
    async list() {
      const { data } = JSON.parse((await call('/models')).body) as { data: { id: string }[] };
      expectThat(data[0]?.id === 'auto', 'the first model is not auto');
      expectThat(
        data.some(({ id }) => id === model),
        `there is no model ${model}`,
      );
      return `${data.length} models`;
    },
    async json() {
      const answer = await chat({});
      const { object } = JSON.parse(answer.body) as { object: string };
      expectThat(object === 'chat.completion', `the answer is ${object}`);
      costsUsd.push(readCostUsd(answer));
      firstId = answer.headers.get('x-request-id');
      return `by ${answer.headers.get('x-gw-provider')}`;
    },
    async stream() {
      const answer = await chat({ stream: true, usage: { include: true } });
      const lines = dataLines(answer.body);
      expectThat(
        lines.at(-1) === '[DONE]' && lines.indexOf('[DONE]') === lines.length - 1,
        'it does not end in [DONE]',
      );
      const errors = lines.filter((line) => line.startsWith('{"error"'));
      expectThat(errors.length === 0, String(errors[0]));
      const last = lines.findLast((line) => line.includes('"cost_usd"')) ?? '{}';
      costsUsd.push(readCostUsd({ body: last }));
      return `${lines.length - 1} chunks`;
    },
    async function() {
      if (storedFunction === undefined) return 'left out: name one with --function ID --input TEXT';
      const messages = [{ role: 'user', content: storedFunction.input }];
      const answer = await chat({ model: `gw/function/${storedFunction.id}`, messages });
      const { gw } = JSON.parse(answer.body) as { gw?: { function_id: string; revision_id: string } };
      expectThat(gw?.function_id === storedFunction.id, 'the answer does not name the function');
      costsUsd.push(readCostUsd(answer));
      return `revision ${gw.revision_id}`;
    },
    async replay() {
      const headers = { 'idempotency-key': systemRandomness.uuid() };
      const [first, second] = [await chat({}, headers), await chat({}, headers)];
      expectThat(first.headers.get('idempotent-replayed') === null, 'the first answer is a replay');
      expectThat(second.headers.get('idempotent-replayed') === 'true', 'the second answer is not a replay');
      expectThat(second.body === first.body, 'the replay differs from the answer');
      costsUsd.push(readCostUsd(first));
      return `${second.body.length} characters, the same twice`;
    },
    async account() {
      const read = async (path: string) =>
        (JSON.parse((await call(path)).body) as { data: Record<string, unknown> }).data;
      const { name, workspace } = await read('/key');
      const { remaining } = await read('/credits');
      // Other calls were made since, so its record is there.
      const { outcome } = await read(`/generation?id=${firstId}`);
      expectThat(outcome === 'ok', `the record of the first call says ${outcome}`);
      return `key ${name} of ${workspace}, ${remaining} USD left`;
    },
    async cost() {
      const sum = costsUsd.reduce((total, cost) => total + cost, 0);
      return `${sum.toFixed(9)} USD for ${costsUsd.length} calls`;
    },
  };
}

/** Stops at the first check that fails. Resolves with whether all of them passed. */
export async function runSmoke(options: SmokeOptions, print: (line: string) => void): Promise<boolean> {
  for (const [name, check] of Object.entries(smokeChecks(options))) {
    const startedAtMs = systemClock.nowMs();
    const line = (verdict: string, text: string) =>
      print(`${verdict.padEnd(6)}${name.padEnd(10)}${`${systemClock.nowMs() - startedAtMs} ms`.padEnd(10)}${text}`);
    try {
      line('ok', await check());
    } catch (error) {
      line('FAILS', error instanceof Error ? error.message : String(error));
      return false;
    }
  }
  return true;
}

async function readOptions(args: readonly string[]): Promise<SmokeOptions> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { stage: text, url: text, profile: text, region: text, model: text, function: text, input: text },
  });
  const { stage, url, model = 'auto', function: id, input = 'Hello', profile, region } = values;
  if ((stage === undefined) === (url === undefined)) throw new Error(`usage: ${usage}`);
  const apiKey = process.env.GW_API_KEY;
  if (!apiKey) throw new Error('GW_API_KEY is not set; make a key with: npm run gw -- keys create');
  const baseUrl = url ?? (await readBaseUrl(String(stage), { profile, region }));
  const storedFunction = id === undefined ? undefined : { id, input };
  return { baseUrl: baseUrl.replace(/\/$/, ''), apiKey, model, storedFunction };
}

async function readBaseUrl(stage: string, shell: { profile: string | undefined; region: string | undefined }) {
  const { account, region, readStack } = await openAwsAccount(shell);
  const baseUrl = (await readStack(apiStackName(stage)))?.outputs.BaseUrl;
  if (baseUrl === undefined) throw new Error(`account ${account}, region ${region} has no deployed stage ${stage}`);
  return baseUrl;
}

if (import.meta.main) {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  try {
    const options = await readOptions(process.argv.slice(2));
    print(`smoke test of ${options.baseUrl}`);
    process.exitCode = (await runSmoke(options, print)) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`smoke: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
