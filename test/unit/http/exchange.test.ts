import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { deliverBody, textPieces } from '../../../shared/protocol/http/delivery.ts';
import {
  createBufferedHandler,
  type GatewayResponse,
  guardProcess,
  readCorrelation,
  toGatewayRequest,
} from '../../../shared/protocol/http/index.ts';
import { incomingBody } from '../../../shared/protocol/http/node-body.ts';
import { runExchange } from '../../../shared/protocol/http/node-exchange.ts';
import { readPlainBody } from '../../../shared/protocol/http/plain-body.ts';
import { createMemoryBudget, providerSocketBytes } from '../../../shared/protocol/memory-budget/index.ts';
import { anyText } from '../../support/any-text.ts';
import { manualClock, startMs } from '../../support/manual-clock.ts';
import { adapterDependencies, answering, chatEvent, correlationId, gate, partsOf } from './fixtures.ts';

describe('correlation', () => {
  const names = [
    'x-gw-trace-id',
    'x-gw-span-id',
    'x-gw-parent-span-id',
    'x-gw-session-id',
    'x-session-id',
    'traceparent',
  ];
  const idShape = /^[A-Za-z0-9._:-]{1,128}$/;
  const read = (headers: Record<string, string[]>) => readCorrelation(headers, systemRandomness);

  describe('the correlation headers', () => {
    it('always give a trace id that is valid in an answer, whatever was sent', () => {
      const value = fc.oneof(anyText(), fc.stringMatching(idShape), fc.constant('a\r\nx-evil: 1'));
      const headers = fc.dictionary(fc.constantFrom(...names), fc.array(value, { minLength: 1, maxLength: 2 }));
      fc.assert(
        fc.property(headers, (sentHeaders) => {
          const { correlation, fault } = read(sentHeaders);
          expect(correlation.traceId).toMatch(idShape);
          if (Object.values(sentHeaders).some((values) => values.length > 1))
            expect(fault?.code).toBe('invalid_correlation');
          if (fault !== undefined) expect(fault.message).not.toMatch(/[\r\n]|evil/);
        }),
      );
    });

    it('name every fault at once, so that a client needs one round to correct them', () => {
      const { fault } = read({ 'x-gw-trace-id': ['a b'], 'x-gw-span-id': ['s', 's'], 'x-gw-session-id': [''] });
      expect(fault?.message).toBe(
        'x-gw-trace-id is malformed; x-gw-span-id was sent twice; x-gw-session-id is malformed.',
      );
    });
  });
});

const read = (event: unknown) => toGatewayRequest(event, manualClock());
const bodyOf = async (event: unknown) => (await read(event).readBody()).toString();
const hardSize = 4 * 1024 * 1024;

describe('a function URL event', () => {
  it('gives method, path without query, and each header in lower case with all its values', () => {
    const request = read(chatEvent({ rawQueryString: 'a=1' }));
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat/completions', query: 'a=1' });
    expect(request.headers).toEqual({ 'content-type': ['application/json'], authorization: ['Bearer sk-gw-1'] });
    // Lambda joins repeated values with a comma, so they arrive as one value.
    const eventHeaders = JSON.parse('{"X-A":"1","x-a":"2","x-gw-span-id":"a,b","__proto__":"x"}');
    const { headers } = read(chatEvent({ headers: eventHeaders }));
    expect(Object.entries(headers)).toEqual([
      ['x-a', ['1', '2']],
      ['x-gw-span-id', ['a,b']],
      ['__proto__', ['x']],
    ]);
    for (const rawPath of ['/v1/models', '/v1/models/', '//v1///models//']) {
      expect(read(chatEvent({ rawPath })).path).toBe('/v1/models');
    }
    for (const rawPath of ['/', '//', '', undefined]) expect(read(chatEvent({ rawPath })).path).toBe('/');
  });

  it('decodes base64 exactly once', async () => {
    const inner = Buffer.from('{"a":"é"}').toString('base64');
    expect(await bodyOf(chatEvent({ body: inner, isBase64Encoded: true }))).toBe('{"a":"é"}');
    expect(await bodyOf(chatEvent({ body: inner, isBase64Encoded: false }))).toBe(inner);
  });

  it('reads an absent body as empty', async () => {
    for (const body of [undefined, null, '']) expect(await bodyOf(chatEvent({ body }))).toBe('');
  });

  it('takes a body of the hard size and not one byte more, plain or base64', async () => {
    const bytes = Buffer.alloc(hardSize, 'a');
    const over = Buffer.alloc(hardSize + 1, 'a');
    const tooLarge = { code: 'request_too_large' };
    const base64 = (body: Buffer) => chatEvent({ body: body.toString('base64'), isBase64Encoded: true });
    expect(await bodyOf(chatEvent({ body: bytes.toString() }))).toHaveLength(hardSize);
    await expect(bodyOf(chatEvent({ body: over.toString() }))).rejects.toMatchObject(tooLarge);
    expect(await bodyOf(base64(bytes))).toHaveLength(hardSize);
    await expect(bodyOf(base64(over))).rejects.toMatchObject(tooLarge);
    // The limit counts bytes, not characters.
    await expect(bodyOf(chatEvent({ body: 'é'.repeat(hardSize / 2 + 1) }))).rejects.toMatchObject(tooLarge);
  });

  it('says what Lambda takes if a body is longer, and counts one that is not in what the process keeps', async () => {
    const over = chatEvent({ body: Buffer.alloc(hardSize + 1).toString('base64'), isBase64Encoded: true });
    await expect(bodyOf(over)).rejects.toMatchObject({
      message: 'The request body is too large: at most 4 MiB on Lambda.',
    });
    const budget = createMemoryBudget(manualClock());
    const event = chatEvent({ body: Buffer.alloc(100_000, 0xff).toString('base64'), isBase64Encoded: true });
    await readPlainBody(read(event), { allocation: budget.open().openRequest(), workspace: 'a', weight: 3 });
    expect(budget.bytesInUse()).toBe(300_000);
  });

  it.each([
    ['now', startMs, startMs],
    ['some seconds ago', startMs - 9_000, startMs - 9_000],
    ['longer ago than a function may run: a stored event', startMs - 66_000, startMs],
    ['in the future', startMs + 1, startMs],
    ['no number', '1800000000000', startMs],
    ['not a number', Number.NaN, startMs],
    ['absent', undefined, startMs],
  ])('has a time of arrival, whatever its own time: %s', (_name, timeEpoch, expected) => {
    expect(read(chatEvent({ requestContext: { timeEpoch } })).arrivedAtMs).toBe(expected);
  });

  it('never throws, whatever it is', () => {
    const member = fc.anything();
    const event = fc.record(
      { rawPath: member, headers: member, requestContext: member, body: member, isBase64Encoded: member },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), event), (event) => {
        const request = read(event);
        expect(typeof request.method).toBe('string');
        expect(typeof request.path).toBe('string');
        expect(request.arrivedAtMs).toBe(startMs);
      }),
    );
    expect(read(undefined)).toMatchObject({ method: '', path: '/' });
  });
});

describe('in a function', () => {
  describe('a buffered handler', () => {
    it('declares fewer than three parameters, or Node 24 refuses it', () => {
      expect(createBufferedHandler(answering({}), adapterDependencies().dependencies).length).toBeLessThan(3);
    });

    it('returns status, headers and body, in pieces or not, and the head alone of what HEAD asks for', async () => {
      const { dependencies, clock } = adapterDependencies();
      const pieces = async function* () {
        yield 'a';
        yield 'b';
      };
      for (const body of ['ab', pieces()]) {
        const handler = createBufferedHandler(answering({ status: 201, headers: { a: 'b' }, body }), dependencies);
        expect(await handler(chatEvent(), {})).toEqual({ statusCode: 201, headers: { a: 'b' }, body: 'ab' });
      }
      const handler = createBufferedHandler(answering({ headers: { a: 'b' }, body: '{}' }), dependencies);
      const head = chatEvent({ requestContext: { http: { method: 'HEAD' }, timeEpoch: startMs } });
      expect(await handler(head, {})).toMatchObject({ headers: { a: 'b' }, body: '' });
      expect(clock.pending()).toBe(0);
    });

    it('returns nothing before finish is done', async () => {
      const { dependencies } = adapterDependencies();
      const settlement = gate();
      const handler = createBufferedHandler(answering({ finish: () => settlement.opened }), dependencies);
      let returned = false;
      const running = handler(chatEvent(), {}).then(() => {
        returned = true;
      });
      await nextTurn();
      expect(returned).toBe(false);
      settlement.open();
      await running;
      expect(returned).toBe(true);
    });

    it('answers a failure with the internal_error envelope, and a failed finish not at all', async () => {
      const { dependencies, events } = adapterDependencies();
      const failing = createBufferedHandler(() => Promise.reject(new Error('broken')), dependencies);
      const answer = await failing(chatEvent(), { callbackWaitsForEmptyEventLoop: true });
      expect(answer.statusCode).toBe(500);
      expect(answer.headers['x-request-id']).toBe(correlationId);
      expect(JSON.parse(answer.body)).toMatchObject({ error: 'internal_error', correlation_id: correlationId });
      const finish = () => Promise.reject(new Error('ledger'));
      const unsettled = createBufferedHandler(answering({ body: '{}', finish }), dependencies);
      expect((await unsettled(chatEvent(), {})).statusCode).toBe(200);
      expect(events()).toEqual(['request_failed', 'finish_failed']);
    });
  });
});

describe('the process guard', () => {
  it('logs an unhandled rejection once however often it is installed', () => {
    // A listener for unhandled rejections keeps the process alive.
    const { dependencies, lines } = adapterDependencies();
    const source = new EventEmitter();
    guardProcess(dependencies.log, source);
    guardProcess(dependencies.log, source);
    expect(source.listenerCount('unhandledRejection')).toBe(1);
    source.emit('unhandledRejection', new TypeError('lost'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'unhandled_rejection', error: { name: 'TypeError' } });
  });
});

describe('of an answer', () => {
  it('a long text is written in many turns, however fast it is read, so that others have theirs between them', async () => {
    const inTurn = [0];
    let isWritten = false;
    const others = (async () => {
      for (; !isWritten; inTurn.push(0)) await nextTurn();
    })();
    const write = (text: string) => {
      inTurn.push((inTurn.pop() ?? 0) + text.length);
      return true;
    };
    const sink = { write, once() {}, off() {} };
    const response = { status: 200, headers: {}, body: 'x'.repeat(20_000_000) };
    await deliverBody(
      { response, sink, arrivedAtMs: startMs, clientGone: new AbortController().signal },
      adapterDependencies().dependencies,
    );
    isWritten = true;
    await others;
    expect(inTurn.reduce((sum, characters) => sum + characters)).toBe(20_000_000);
    expect(Math.max(...inTurn)).toBeLessThan(5_000_000);
  });

  describe('pieces of a text', () => {
    it('joined are the text, none is too long, and none cuts a character', () => {
      const text = anyText({ maxLength: 60 });
      fc.assert(
        fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, size) => {
          const pieces = [...textPieces(whole, size)];
          expect(pieces.join('')).toBe(whole);
          for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(size);
          expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece)))).toEqual(Buffer.from(whole));
        }),
      );
    });

    it('of an empty text are one empty piece', () => {
      expect([...textPieces('', 5)]).toEqual(['']);
    });
  });
});

describe('an answer that is not read', () => {
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  };

  /** Sends an answer to a client that takes a piece at each `read`, or everything at once. */
  async function send(body: GatewayResponse['body'], readsAtOnce = false) {
    const { dependencies } = adapterDependencies();
    const budget = createMemoryBudget(dependencies.clock);
    const pieces: (() => void)[] = [];
    let mostBytes = 0;
    const stream = new Writable({
      highWaterMark: 100,
      write(_piece, _encoding, callback) {
        mostBytes = Math.max(mostBytes, budget.bytesInUse());
        if (readsAtOnce) callback();
        else pieces.push(callback);
      },
    });
    const incoming = incomingBody(Readable.from([]), 0, () => {});
    const answer = { stream, cut: () => {}, onGone() {}, begin() {}, flush() {}, endRequest: () => undefined };
    const head = { method: 'POST', path: '/', query: '', headers: {}, declaredBodyBytes: 0 };
    const exchange = { head, body: incoming, answer, keyFound() {}, cut: new AbortController().signal };
    void runExchange(async () => ({ status: 200, headers: {}, body, memory: budget.open() }), exchange, dependencies);
    await settle();
    const read = async () => {
      pieces.shift()?.();
      await settle();
    };
    return { budget, stream, read, mostBytes: () => mostBytes };
  }

  it('is counted by its bytes in memory, those written and those left, while it is unread and no longer', async () => {
    const { budget, read } = await send('x'.repeat(20_000));
    expect(budget.bytesInUse()).toBe(20_000);
    await read();
    // Node holds the last piece, which its reader has not taken.
    expect(budget.bytesInUse()).toBe(20_000 - 16_384);
    await read();
    expect(budget.bytesInUse()).toBe(0);
    const wide = await send('й'.repeat(20_000));
    expect(wide.budget.bytesInUse()).toBe(2 * 20_000);
    wide.stream.destroy();
    await settle();
    expect(wide.budget.bytesInUse()).toBe(0);
  });

  it('is counted with what the socket of its provider holds if it is a stream', async () => {
    async function* parts() {
      yield 'x'.repeat(20_000);
    }
    const { budget, stream } = await send(partsOf(parts()));
    expect(budget.bytesInUse()).toBe(20_000 + providerSocketBytes);
    stream.destroy();
    await settle();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('is not counted while its client reads', async () => {
    const { budget, stream, mostBytes } = await send('x'.repeat(200_000), true);
    expect([stream.writableFinished, mostBytes(), budget.bytesInUse()]).toEqual([true, 0, 0]);
  });
});
