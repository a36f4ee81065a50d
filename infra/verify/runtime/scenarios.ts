// What must hold of the bundles under Lambda's own runtime client, which no test of ours can stand in for: status and
// headers before the body, chunks as they come, and a process that outlives whatever goes wrong.
import assert from 'node:assert/strict';
import { routePaths } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import type { PreparedStage } from './prepare-stage.ts';
import { type Answer, readBuffered, readStreamed } from './read-delivery.ts';
import type { RunningFunction } from './start-function.ts';

export interface Scenario {
  readonly title: string;
  readonly bundle: 'gateway' | 'models';
  /** Throws for what does not hold. */
  readonly run: (target: RunningFunction, stage: Pick<PreparedStage, 'key' | 'bucket'>) => Promise<void>;
}

const event = (method: string, path: string, key: string | undefined, body?: object, headers = {}) => ({
  version: '2.0',
  rawPath: path.split('?')[0],
  rawQueryString: path.split('?')[1] ?? '',
  headers: {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...headers,
  },
  requestContext: {
    http: { method, path, sourceIp: '127.0.0.1', userAgent: 'verify' },
    timeEpoch: systemClock.nowMs(),
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  isBase64Encoded: false,
});

async function chat(target: RunningFunction, key: string | undefined, body: object, headers = {}): Promise<Answer> {
  const request = { messages: [{ role: 'user', content: 'Hello there' }], ...body };
  return readStreamed(await target.invoke(event('POST', `/v1${routePaths.chatCompletions}`, key, request, headers)));
}

const dataLines = ({ body }: Answer): string[] =>
  body.split('\n\n').flatMap((block) => (block.startsWith('data: ') ? [block.slice('data: '.length)] : []));

export const scenarios: readonly Scenario[] = [
  {
    title: 'JSON: a whole answer with its status and headers before it',
    bundle: 'gateway',
    async run(target, { key }) {
      const answer = await chat(target, key, { model: 'test/echo' });
      assert.equal(answer.status, 200);
      assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
      assert.ok(answer.headers['x-request-id']);
      const { choices, usage } = JSON.parse(answer.body);
      assert.equal(choices[0].finish_reason, 'stop');
      assert.ok(usage.total_tokens > 0);
    },
  },
  {
    title: 'stream: every chunk leaves when it comes, and the last is [DONE]',
    bundle: 'gateway',
    async run(target, { key }) {
      const answer = await chat(target, key, { model: 'test/echo', stream: true });
      assert.equal(answer.status, 200);
      assert.match(answer.headers['content-type'] ?? '', /^text\/event-stream/);
      const lines = dataLines(answer);
      assert.equal(lines.at(-1), '[DONE]');
      assert.ok(answer.pieces > 3, `${lines.length} events came in ${answer.pieces} pieces`);
    },
  },
  {
    title: 'error: a refusal is an envelope with its own status',
    bundle: 'gateway',
    async run(target) {
      const answer = await chat(target, undefined, { model: 'test/echo' });
      assert.equal(answer.status, 401);
      assert.equal(JSON.parse(answer.body).error, 'UNAUTHORIZED');
    },
  },
  {
    title: 'error: what is no event of a function URL is answered too, and the process lives',
    bundle: 'gateway',
    async run(target) {
      const answer = readStreamed(await target.invoke({}));
      assert.ok(answer.status >= 400 && answer.status < 500, `the status is ${answer.status}`);
    },
  },
  {
    title: 'cut stream: a provider that dies leaves an error event, [DONE] and a process that lives',
    bundle: 'gateway',
    async run(target, { key }) {
      const answer = await chat(target, key, { model: 'test/cut', stream: true });
      assert.equal(answer.status, 200);
      const lines = dataLines(answer);
      assert.equal(lines.at(-1), '[DONE]');
      assert.ok(
        lines.some((line) => line.includes('"error"')),
        'no error event came',
      );
    },
  },
  {
    title: 'afterwards: the same process answers again',
    bundle: 'gateway',
    async run(target, { key }) {
      const answer = await chat(target, key, { model: 'test/echo' });
      assert.equal(answer.status, 200);
    },
  },
  {
    title: 'large result: kept in the bucket by the client that is loaded on demand, and replayed from there',
    bundle: 'gateway',
    async run(target, { key, bucket }) {
      // What does not compress to the size of an item.
      const content = systemRandomness.bytes(600_000).toString('base64');
      const body = { model: 'test/large', messages: [{ role: 'user', content }] };
      const headers = { 'idempotency-key': 'large-result' };
      const first = await chat(target, key, body, headers);
      assert.equal(first.status, 200);
      const replayed = await chat(target, key, body, headers);
      assert.equal(replayed.headers['idempotent-replayed'], 'true');
      assert.equal(replayed.body, first.body);
      assert.deepEqual(bucket.methods, ['PUT', 'GET']);
    },
  },
  {
    title: 'generation: the record of a call is found by its id, in the query string of the event',
    bundle: 'gateway',
    async run(target, { key }) {
      const { headers } = await chat(target, key, { model: 'test/echo' });
      const path = `/v1${routePaths.generation}?id=${headers['x-request-id']}`;
      const answer = await readStreamed(await target.invoke(event('GET', path, key)));
      assert.equal(answer.status, 200);
      assert.equal(JSON.parse(answer.body).data.outcome, 'ok');
    },
  },
  {
    title: 'models: the listing comes at once',
    bundle: 'models',
    async run(target, { key }) {
      const answer = readBuffered(await target.invoke(event('GET', `/v1${routePaths.models}`, key)));
      assert.equal(answer.status, 200);
      const ids = JSON.parse(answer.body).data.map(({ id }: { id: string }) => id);
      assert.ok(ids.includes('test/echo'));
    },
  },
];
