// Lists the checks of the smoke test in their order, because each uses results of the previous checks.
import { headerNames, plainBodyMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import {
  type Arrival,
  createClient,
  describeArrival,
  expectThat,
  type SmokeAccess,
  type SmokeAnswer,
} from './smoke-client.ts';

export interface SmokeOptions extends SmokeAccess {
  readonly model: string;
  /** A stored function and a valid input; undefined skips the check, which then reports this. */
  readonly storedFunction?: { readonly id: string; readonly input: string } | undefined;
  /** Undefined skips the checks of a deployed stage, which then report this. */
  readonly deployed?: DeployedStage | undefined;
  /** False if the path to the gateway is known to buffer streams, as an emulated AWS does. */
  readonly streamsArrive?: boolean;
}

/** Parts that only a deployed stage has. */
export interface DeployedStage {
  /** The function's own base URL, if clients use a distribution. */
  readonly directUrl: string | undefined;
  /** Whether tasks run the calls. No address bypasses the load balancer of tasks. */
  readonly hasTasks: boolean;
  /** Secret that the distribution adds to its requests. */
  readonly readOriginSecret: () => Promise<string>;
  /**
   * Waits until CloudWatch has counted so many requests since then, and returns a description of the wait. Rejects if
   * it does not count them in time.
   */
  readonly awaitMetrics: (requests: number, sinceMs: number) => Promise<string>;
  /**
   * Makes an alarm notify the topic, if the operator agrees, and returns the alarm. Rejects if the topic was not
   * reached.
   */
  readonly tryAlarm: () => Promise<string>;
}

/** Bytes of headers and of other fields of the body and of the event. */
const spareBytes = 65_536;
/** Limit of the event that Lambda makes of a request: 6 MB. */
const eventMaxBytes = 6 * 1_024 * 1_024;
/**
 * A quotation mark of a prompt is `\\"` in the body, and `\\\\\\"` in the event, which contains the body as a JSON
 * string.
 */
const bytesOfQuote = { body: 2, event: 4 } as const;
const leftOut = 'left out: only a deployed stage has it (--stage NAME)';
/** An answer that is long enough to be sent in many parts, and short enough to cost next to nothing. */
const longAnswer = {
  stream: true,
  usage: { include: true },
  max_tokens: 300,
  messages: [{ role: 'user', content: 'Count from one to sixty in words, separated by commas.' }],
};

function readCostUsd(body: string): number {
  const { usage } = JSON.parse(body) as { usage?: { readonly cost?: number; readonly cost_usd?: string } };
  expectThat(typeof usage?.cost === 'number' && usage.cost >= 0, 'the answer has no cost');
  expectThat(Number(usage.cost_usd) === usage.cost, `cost ${usage.cost} is not cost_usd ${usage.cost_usd}`);
  return usage.cost;
}

/** Returns the cost of a stream that ended well. Fails if it did not. */
function readStreamCostUsd(body: string): { readonly costUsd: number; readonly chunks: number } {
  const lines = body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
  expectThat(lines.at(-1) === '[DONE]' && lines.indexOf('[DONE]') === lines.length - 1, 'it does not end in [DONE]');
  const errors = lines.filter((line) => line.startsWith('{"error"'));
  expectThat(errors.length === 0, String(errors[0]));
  const last = lines.findLast((line) => line.includes('"cost_usd"')) ?? '{}';
  return { costUsd: readCostUsd(last), chunks: lines.length - 1 };
}

/** Returns the checks by name; each returns a few words on its result. */
export function smokeChecks(options: SmokeOptions) {
  const smoke = openSmoke(options);
  return {
    ...answerChecks(smoke),
    ...stageChecks(smoke),
    async cost() {
      const sum = smoke.costsUsd.reduce((total, cost) => total + cost, 0);
      return `${sum.toFixed(9)} USD for ${smoke.costsUsd.length} calls`;
    },
  };
}

function openSmoke(options: SmokeOptions) {
  const { model, streamsArrive = true } = options;
  const client = createClient(options);
  const chat = (members: object, headers?: Record<string, string>) =>
    client.call('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }], ...members }, headers);
  const describe = (arrival: Arrival) =>
    streamsArrive ? describeArrival(arrival) : 'its arrival is not measured: it is known to be held back';
  const costsUsd: number[] = [];
  return { options, client, chat, describe, costsUsd };
}

type Smoke = ReturnType<typeof openSmoke>;

/** Returns the checks of any gateway. */
function answerChecks({ options: { model, storedFunction }, client, chat, describe, costsUsd }: Smoke) {
  let firstId: string | null = null;
  return {
    async list() {
      const { data } = JSON.parse((await client.call('/models')).body) as { data: { id: string }[] };
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
      costsUsd.push(readCostUsd(answer.body));
      firstId = answer.headers.get('x-request-id');
      return `by ${answer.headers.get('x-gw-provider')}`;
    },
    async stream() {
      const { body, arrival } = await client.stream('/chat/completions', { model, ...longAnswer });
      const { costUsd, chunks } = readStreamCostUsd(body);
      costsUsd.push(costUsd);
      return `${chunks} chunks, ${describe(arrival)}`;
    },
    /**
     * Sends the largest bodies that a function URL accepts, a body of plain text and a body of quotation marks, which
     * are twice as long in Lambda's event. The calls cost nothing, because the model does not exist.
     */
    async body() {
      const quotes = Math.min(
        (plainBodyMaxBytes - spareBytes) / bytesOfQuote.body,
        (eventMaxBytes - spareBytes) / bytesOfQuote.event,
      );
      const sizes: number[] = [];
      for (const content of ['a'.repeat(plainBodyMaxBytes - spareBytes), '"'.repeat(quotes)]) {
        const message = { model: 'smoke/none', messages: [{ role: 'user', content }] };
        const size = JSON.stringify(message).length;
        const { status, body } = await client.request('/chat/completions', message);
        const isRead = body.includes('"unknown_model"');
        expectThat(isRead, `a body of ${size} bytes does not reach the gateway: ${status} ${body.slice(0, 200)}`);
        sizes.push(size);
      }
      return `${sizes[0]} bytes of text and ${sizes[1]} of quotes are read`;
    },
    async function() {
      if (storedFunction === undefined) return 'left out: name one with --function ID --input TEXT';
      const messages = [{ role: 'user', content: storedFunction.input }];
      const { body } = await chat({ model: `gw/function/${storedFunction.id}`, messages });
      const { gw } = JSON.parse(body) as { gw?: { function_id: string; revision_id: string } };
      expectThat(gw?.function_id === storedFunction.id, 'the answer does not name the function');
      costsUsd.push(readCostUsd(body));
      return `revision ${gw.revision_id}`;
    },
    async replay() {
      const headers = { 'idempotency-key': systemRandomness.uuid() };
      const [first, second]: SmokeAnswer[] = [await chat({}, headers), await chat({}, headers)];
      expectThat(first?.headers.get('idempotent-replayed') === null, 'the first answer is a replay');
      expectThat(second?.headers.get('idempotent-replayed') === 'true', 'the second answer is not a replay');
      expectThat(second.body === first.body, 'the replay differs from the answer');
      costsUsd.push(readCostUsd(first.body));
      return `${second.body.length} characters, the same twice`;
    },
    async account() {
      const read = async (path: string) =>
        (JSON.parse((await client.call(path)).body) as { data: Record<string, unknown> }).data;
      const { name, workspace } = await read('/key');
      const { remaining } = await read('/credits');
      // Other calls were made in the meantime, so the record of the first call exists.
      const { outcome } = await read(`/generation?id=${firstId}`);
      expectThat(outcome === 'ok', `the record of the first call says ${outcome}`);
      return `key ${name} of ${workspace}, ${remaining} USD left`;
    },
  };
}

function stageChecks({ options, client, describe, costsUsd }: Smoke) {
  const { model, deployed, clock = systemClock } = options;
  const startedAtMs = clock.nowMs();
  return {
    async direct() {
      if (deployed === undefined) return leftOut;
      if (deployed.directUrl === undefined)
        return `left out: ${deployed.hasTasks ? 'tasks have no URL of their own' : 'clients use the URL of the function itself'}`;
      const direct = createClient({ ...options, baseUrl: deployed.directUrl });
      const { status, body } = await direct.request('/models');
      expectThat(
        status === 404 && body.includes('"not_found"'),
        `the URL of the function does not refuse callers who go around the distribution: ${status} ${body.slice(0, 200)}`,
      );
      const headers = { [headerNames.originSecret]: await deployed.readOriginSecret() };
      const streamed = await direct.stream('/chat/completions', { model, ...longAnswer }, headers);
      costsUsd.push(readStreamCostUsd(streamed.body).costUsd);
      return `refused; as the distribution calls it: ${describe(streamed.arrival)}`;
    },
    async metrics() {
      return deployed === undefined ? leftOut : deployed.awaitMetrics(client.requestCount(), startedAtMs);
    },
    async alarm() {
      return deployed === undefined ? leftOut : deployed.tryAlarm();
    },
  };
}
