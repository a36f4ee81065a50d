// 5,000 generated requests of any kind: none gets a 5xx of ours, hangs, or causes an unhandled rejection (jest fails a
// test for one). Each run generates the same requests, which are enough to reach every status and every stage.
// GW_FUZZ_SEED=n generates others, GW_FUZZ_TIMES=n a multiple of their number.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { readHeldAmounts } from '../../shared/accounting/holds/index.ts';
import { anyText } from '../support/any-text.ts';
import { arbitraryValue, mutated, spoiltBytes } from './arbitrary-json.ts';
import { costlyRequest, credentialOf, functionCall, someHeaders, validRequest } from './arbitrary-request.ts';
import { arbitraryAnswer, arbitrarySchema } from './arbitrary-schema.ts';
import { freeModel } from './fuzz-file.ts';
import type { FuzzRequest, Upstream } from './fuzz-gateway.ts';
import { bytesOf, type Case, type FuzzRun, startFuzzRun } from './fuzz-run.ts';
import { script, startOddProvider } from './odd-provider.ts';
import {
  eventStreamHeaders,
  framings,
  goodChunks,
  goodCompletion,
  goodTexts,
  goodUpstream,
  jsonHeaders,
  jsonReply,
  streamBytes,
} from './upstream-replies.ts';

let fuzz: FuzzRun;
beforeAll(async () => {
  fuzz = await startFuzzRun();
});
afterAll(() => fuzz.stop());

const authorization = (): Record<string, string[]> => ({ authorization: [`Bearer ${fuzz.key}`] });
const chat = (more: Record<string, unknown> = {}): FuzzRequest => ({
  headers: authorization(),
  body: bytesOf({ model: freeModel, messages: [{ role: 'user', content: 'Hello' }], ...more }),
});

describe('a made-up request', () => {
  const caseOf = (body: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Case> =>
    body.map((bytes) => ({ request: { headers: authorization(), body: bytes }, upstream: goodUpstream, faults: [] }));

  it('with fields of any value is answered', async () => {
    await fuzz.runAll(500, caseOf(mutated(validRequest, 2).map(bytesOf)));
  });

  it('to a function with any input is answered', async () => {
    await fuzz.runAll(200, caseOf(mutated(functionCall, 1).map(bytesOf)));
  });

  it('is one of a whole batch, whatever number is asked for', async () => {
    const before = fuzz.callCount();
    await fuzz.runAll(1, caseOf(validRequest.map(bytesOf)));
    expect([fuzz.callCount() > before, (fuzz.callCount() - before) % 50]).toEqual([true, 0]);
  });

  it('that is as large or deep as it may be, or more, is answered', async () => {
    await fuzz.runAll(50, caseOf(costlyRequest.map(bytesOf)));
  });

  it('with a text that is nearly JSON, or no text, is answered', async () => {
    const text = validRequest.map((body) => JSON.stringify(body));
    const garbage = fc.oneof(fc.uint8Array({ maxLength: 200 }), arbitraryValue.map(bytesOf));
    await fuzz.runAll(
      350,
      caseOf(fc.oneof({ weight: 4, arbitrary: spoiltBytes(text) }, { weight: 1, arbitrary: garbage })),
    );
  });

  it('with any headers, method and path is answered', async () => {
    const cases = fc
      .record({
        credential: credentialOf(fuzz.key),
        headers: someHeaders,
        body: fc.oneof({ weight: 3, arbitrary: validRequest }, { weight: 1, arbitrary: arbitraryValue }),
        method: fc.oneof(
          { weight: 9, arbitrary: fc.constant('POST') },
          { weight: 1, arbitrary: fc.constantFrom('GET', 'OPTIONS', 'HEAD', 'DELETE', '__proto__', '') },
        ),
        path: fc.oneof(
          { weight: 9, arbitrary: fc.constant('/v1/chat/completions') },
          { weight: 1, arbitrary: fc.constant('/v1/models') },
          { weight: 1, arbitrary: fc.oneof(fc.webPath(), fc.constantFrom('', '__proto__', '/v1/chat/completions/')) },
        ),
      })
      .map(({ credential, headers, body, ...line }): Case => {
        const all = credential.length === 0 ? headers : { ...headers, authorization: credential };
        return { request: { ...line, headers: all, body: bytesOf(body) }, upstream: goodUpstream, faults: [] };
      });
    await fuzz.runAll(350, cases);
  });
});

describe('a made-up schema', () => {
  it('is refused, or an answer to it is judged', async () => {
    const cases = fc.tuple(arbitrarySchema, arbitraryAnswer).map(([schema, content]): Case => {
      const response_format = { type: 'json_schema', json_schema: { name: 'made-up', schema } };
      const [choice] = goodCompletion.choices;
      const answer = { ...goodCompletion, choices: [{ ...choice, message: { role: 'assistant', content } }] };
      return { request: chat({ response_format }), upstream: () => jsonReply(answer), faults: [] };
    });
    await fuzz.runAll(300, cases);
  });
});

describe('a provider that answers anything', () => {
  const statusOf = fc.oneof(
    { weight: 3, arbitrary: fc.constant(200) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(201, 204, 301, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529, 599),
    },
  );
  const headersOf = fc.constantFrom<Record<string, string>>(
    jsonHeaders,
    jsonHeaders,
    eventStreamHeaders,
    {},
    { 'content-type': 'text/html', 'retry-after': '-1' },
    { ...jsonHeaders, 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' },
    { ...jsonHeaders, 'retry-after': '99999999999999999999' },
  );
  const error = {
    error: { message: 'No.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
  };

  it('in JSON never makes us fail', async () => {
    const bodies = fc.oneof(
      { weight: 4, arbitrary: mutated(fc.constant(goodCompletion), 3).map(bytesOf) },
      { weight: 2, arbitrary: mutated(fc.constant(error), 2).map(bytesOf) },
      { weight: 1, arbitrary: spoiltBytes(fc.constant(JSON.stringify(goodCompletion))) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
    );
    const cases = fc
      .tuple(statusOf, headersOf, bodies, fc.boolean(), fc.boolean(), fc.boolean())
      .map(([status, headers, body, breaks, stream, exclude]): Case => {
        const upstream: Upstream = () => ({ status, headers, pieces: [body], breaks });
        return { request: chat({ stream, reasoning: { exclude } }), upstream, faults: [502] };
      });
    await fuzz.runAll(300, cases);
  });

  it('in an exchange that may be no HTTP never makes us fail, or wait', async () => {
    const provider = await startOddProvider();
    const cases = fc
      .tuple(script, fc.boolean())
      .map(
        ([one, stream]): Case => ({ request: chat({ stream }), upstream: provider.transportFor(one), faults: [502] }),
      );
    await fuzz.runAll(150, cases);
    provider.stop();
  });

  it('in a stream never makes us fail', async () => {
    const texts = fc.oneof(
      { weight: 3, arbitrary: mutated(fc.constant(goodChunks), 3).map(textsOf) },
      { weight: 1, arbitrary: fc.array(anyText()) },
    );
    const framing = fc.constantFrom(...Object.values(framings));
    const cuts = fc.array(fc.nat({ max: 2_000 }), { maxLength: 6 });
    const cases = fc
      .tuple(
        texts,
        framing,
        cuts,
        fc.boolean(),
        fc.boolean(),
        fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      )
      .map(([events, form, at, breaks, include, leavesAfter]): Case => {
        const pieces = cutAt(streamBytes(events, form), at);
        const upstream: Upstream = () => ({ status: 200, headers: eventStreamHeaders, pieces, breaks });
        return { request: chat({ stream: true, usage: { include } }), upstream, leavesAfter, faults: [502] };
      });
    await fuzz.runAll(300, cases);
  });
});

const textsOf = (chunks: unknown): string[] =>
  (Array.isArray(chunks) ? chunks : [chunks]).map((one) => JSON.stringify(one) ?? '');

function cutAt(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const sorted = [0, ...positions.map((at) => Math.min(at, bytes.length)).toSorted((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

/** The tests of the parser cover the framings of events. This framing can be cut in the most places. */
describe('the stream of a provider', () => {
  const bytes = streamBytes(goodTexts, framings['with CRLF and comments']);
  const request = () => chat({ stream: true, stream_options: { include_usage: true } });

  it('reaches the client unchanged, at whatever byte it is cut', async () => {
    const expected = streamBytes(goodTexts, { lineEnd: '\n', prefix: 'data: ' }).toString();
    await fuzz.overAll(bytes.length + 1, async (at) => {
      const upstream: Upstream = () => ({ status: 200, headers: eventStreamHeaders, pieces: cutAt(bytes, [at]) });
      const { text } = await fuzz.run({ request: request(), upstream, faults: [] });
      if (text !== expected) throw new Error(`cut at ${at}: ${text}`);
    });
  });

  it('that breaks off at whatever byte ends with an error and [DONE], or is refused', async () => {
    await fuzz.overAll(bytes.length + 1, async (at) => {
      const pieces = [bytes.subarray(0, at)];
      const upstream: Upstream = () => ({ status: 200, headers: eventStreamHeaders, pieces, breaks: at % 2 === 1 });
      const { status, text } = await fuzz.run({ request: request(), upstream, faults: [502] });
      const isWhole = status === 200 && !text.includes('"error"');
      if (isWhole && !text.includes('"finish_reason":"stop"')) throw new Error(`half an answer at ${at}: ${text}`);
    });
  });
});

const dayMs = 86_400_000;

describe('all of them', () => {
  it('are 5,000, of which many reached a stage worth failing in', () => {
    expect(fuzz.callCount()).toBeGreaterThanOrEqual(5_000);
    expect(fuzz.statuses.get(200) ?? 0).toBeGreaterThan(1_500);
    expect([...fuzz.statuses.keys()]).toEqual(
      expect.arrayContaining([200, 400, 401, 402, 404, 405, 409, 422, 429, 502]),
    );
  });

  it('hold nothing any more, and were recorded for what was spent', async () => {
    const { store, credit, records, clock } = fuzz.composition;
    const standing: string[] = [];
    for (const table of ['ledger', 'keys'] as const) {
      for await (const item of store.scan(table)) {
        if (readHeldAmounts(item).some(({ amount }) => amount > 0n)) standing.push(String(item.pk));
      }
    }
    expect(standing).toEqual([]);
    let recorded = 0n;
    // A run may begin before midnight and end after it.
    for (const daysAgo of [0, 1]) {
      const day = new Date(clock.nowMs() - daysAgo * dayMs).toISOString().slice(0, 10);
      for await (const record of records.read('team', day)) if (!record.isByok) recorded += record.costPicoUsd;
    }
    const { spent } = await credit.show({ workspace: 'team', spendLimit: null });
    expect(spent).toBeGreaterThan(0n);
    expect(recorded).toBe(spent);
  });

  it('left nothing in the log that we did not expect', () => {
    const unexpected = /internal_error|deferred_task_failed|settlement_failed|finish_failed|result_not_stored/;
    expect(fuzz.logLines.filter((line) => unexpected.test(line)).slice(0, 3)).toEqual([]);
  });
});
