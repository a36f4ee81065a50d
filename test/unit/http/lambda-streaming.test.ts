// Rules that keep a streaming function alive.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { createStreamingHandler, type Gateway } from '../../../shared/protocol/http/index.ts';
import { installAwsLambda, invoke, type StreamControl } from '../../support/aws-lambda-global.ts';
import { startMs } from '../../support/manual-clock.ts';
import {
  adapterDependencies,
  answering,
  chatEvent,
  correlationId,
  eventStream,
  eventStreamHeaders,
  gate,
  partsOf,
} from './fixtures.ts';

const eightNuls = '\0'.repeat(8);
const deliveryMaxMs = 60_000;

let runtime: ReturnType<typeof installAwsLambda>;
beforeEach(() => {
  runtime = installAwsLambda();
});
afterEach(() => runtime.uninstall());

async function* events(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('bytes of an answer', () => {
  it('are the prelude, eight NULs and the body', async () => {
    // The prelude is sent with a write, and no text is passed to end().
    const { dependencies } = adapterDependencies();
    const headers = { 'content-type': 'application/json', 'x-request-id': correlationId };
    const handler = createStreamingHandler(answering({ headers, body: '{"ok":true}' }), dependencies);

    const invocation = await invoke(handler, chatEvent());

    const prelude = `{"statusCode":200,"headers":{"content-type":"application/json","x-request-id":"${correlationId}"}}`;
    expect(invocation.bytes().toString('latin1')).toBe(`${prelude}${eightNuls}{"ok":true}`);
    expect(invocation.contentType()).toBe('application/vnd.awslambda.http-integration-response');
    expect(invocation.ends).toEqual([[]]);
    expect(invocation.failure).toBeUndefined();
    expect(invocation.deaths).toEqual([]);
  });

  it('of a stream are the prelude, eight NULs and every chunk as it came', async () => {
    const { dependencies, clock } = adapterDependencies();
    const body = events('data: {"a":"é"}\n\n', 'data: [DONE]\n\n');
    const handler = createStreamingHandler(answering({ ...eventStream, body }), dependencies);

    const invocation = await invoke(handler, chatEvent());

    const prelude = '{"statusCode":200,"headers":{"content-type":"text/event-stream; charset=utf-8"}}';
    expect(invocation.bytes()).toEqual(Buffer.from(`${prelude}${eightNuls}data: {"a":"é"}\n\ndata: [DONE]\n\n`));
    expect(invocation.ends).toEqual([[]]);
    // No timer survives the end.
    expect(clock.pending()).toBe(0);
  });

  it.each([
    ['an empty text', ''],
    ['a stream that yields nothing', events()],
  ])('of %s still have status and headers', async (_name, body) => {
    const { dependencies } = adapterDependencies();
    const handler = createStreamingHandler(answering({ status: 202, headers: { a: 'b' }, body }), dependencies);
    const invocation = await invoke(handler, chatEvent());
    expect(invocation.prelude()).toEqual({ statusCode: 202, headers: { a: 'b' } });
    expect(invocation.bodyText()).toBe('');
    expect(invocation.hangs).toBe(false);
  });
});

describe('a failure', () => {
  it('before the first byte is an internal_error envelope with its correlation id, and its stack stays in the log', async () => {
    const { dependencies, lines } = adapterDependencies();
    const handler = createStreamingHandler(() => Promise.reject(new Error('broken')), dependencies);

    const invocation = await invoke(handler, chatEvent());

    expect(invocation.prelude().statusCode).toBe(500);
    expect(invocation.prelude().headers).toMatchObject({ 'x-request-id': correlationId });
    expect(JSON.parse(invocation.bodyText())).toMatchObject({
      error: 'internal_error',
      correlation_id: correlationId,
    });
    expect(invocation.bytes().toString()).not.toContain('lambda-streaming.test');
    expect(lines[0]).toContain('lambda-streaming.test');
    expect(invocation.failure).toBeUndefined();
  });

  it('inside an event stream is an error line and the end marker, and the process lives', async () => {
    // The stream ends once and keeps its status, and the runtime gets no error.
    const { dependencies, events: logEvents } = adapterDependencies();
    let finished = 0;
    const body = (async function* () {
      yield 'data: {"n":1}\n\n';
      throw new Error('upstream said sk-secret');
    })();
    const finish = async () => void finished++;
    const handler = createStreamingHandler(answering({ ...eventStream, body, finish }), dependencies);

    const invocation = await invoke(handler, chatEvent());

    const [first, error, done, ...rest] = invocation.bodyText().split('\n\n');
    expect(first).toBe('data: {"n":1}');
    expect(JSON.parse(error?.slice('data: '.length) ?? '').error.code).toBe('no_available_provider');
    expect([done, ...rest]).toEqual(['data: [DONE]', '']);
    expect(invocation.prelude().statusCode).toBe(200);
    expect(invocation.bodyText()).not.toContain('sk-secret');
    expect(invocation.ends).toEqual([[]]);
    expect(invocation.failure).toBeUndefined();
    // The cleanup runs although the body failed.
    expect(finished).toBe(1);
    expect(logEvents()).toEqual(['body_failed']);
  });

  it('after the end marker adds no second one', async () => {
    const { dependencies } = adapterDependencies();
    const body = (async function* () {
      yield 'data: {"n":1}\n\n';
      yield 'data: [DONE]\n\n';
      throw new Error('too late to matter');
    })();
    const handler = createStreamingHandler(answering({ ...eventStream, body }), dependencies);
    const invocation = await invoke(handler, chatEvent());
    expect(invocation.bodyText()).toBe('data: {"n":1}\n\ndata: [DONE]\n\n');
  });

  it('inside a body that says nothing of its end adds nothing to it, whatever its type', async () => {
    const { dependencies } = adapterDependencies();
    const body = (async function* () {
      yield 'data: 1\n\n';
      throw new Error('cut');
    })();
    const handler = createStreamingHandler(answering({ headers: eventStreamHeaders, body }), dependencies);
    const invocation = await invoke(handler, chatEvent());
    expect(invocation.bodyText()).toBe('data: 1\n\n');
  });

  it('inside bytes breaks the request off where they end, finishes, and fails the invocation: the process lives', async () => {
    const { dependencies, clock, events: logEvents } = adapterDependencies();
    const order: string[] = [];
    const body = (async function* () {
      yield { text: 'RIFF\u00e9', isEnd: false };
      yield { text: '', isEnd: true, isCut: true } as const;
    })();
    const finish = async () => void order.push('finished');
    const handler = createStreamingHandler(
      answering({ headers: { 'content-type': 'audio/wav' }, body, finish }),
      dependencies,
    );

    const invocation = await invoke(handler, chatEvent());
    await nextTurn();

    expect(invocation.isCut).toBe(true);
    expect(invocation.writes).toEqual(['', 'RIFF\u00e9']);
    expect(invocation.ends).toEqual([]);
    expect(order).toEqual(['finished']);
    // Lambda counts an error of the function; alarms subtract this line.
    expect(invocation.failure).toMatchObject({ message: 'the answer broke, and is cut off' });
    expect(logEvents().filter((event) => event === 'answer_broken')).toHaveLength(1);
    expect(invocation.deaths).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it('inside bytes whose time is over breaks the request off as well', async () => {
    const { dependencies, clock } = adapterDependencies();
    const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const headers = { 'content-type': 'audio/mpeg' };
    const running = invoke(createStreamingHandler(answering({ headers, body: never }), dependencies), chatEvent());
    await nextTurn();
    clock.advance(deliveryMaxMs);
    const invocation = await running;
    await nextTurn();
    expect([invocation.isCut, invocation.ends, invocation.deaths]).toEqual([true, [], []]);
    expect(invocation.failure).toBeDefined();
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('ledger'))],
    [
      'throws at once',
      () => {
        throw new Error('ledger');
      },
    ],
  ])('of a finish that %s is logged and changes neither the answer nor the invocation', async (_name, finish) => {
    const { dependencies, events: logEvents } = adapterDependencies();
    const handler = createStreamingHandler(answering({ body: '{}', finish }), dependencies);
    const invocation = await invoke(handler, chatEvent());
    expect(invocation.bodyText()).toBe('{}');
    expect(invocation.failure).toBeUndefined();
    expect(logEvents()).toEqual(['finish_failed']);
  });
});

describe('an invocation', () => {
  it('ends for the client before finish begins, and for the runtime only after finish is done', async () => {
    const { dependencies } = adapterDependencies();
    const settlement = gate();
    const order: string[] = [];
    let control: StreamControl | undefined;
    const finish = async () => {
      order.push(`finish begins, ended ${control?.invocation.ends.length} times`);
      await settlement.opened;
      order.push('finish is done');
    };
    const handler = createStreamingHandler(answering({ body: '{}', finish }), dependencies);
    const running = invoke(handler, chatEvent(), {}, (stream) => {
      control = stream;
    }).then(() => order.push('invocation over'));
    await nextTurn();
    expect(order).toEqual(['finish begins, ended 1 times']);
    settlement.open();
    await running;
    expect(order).toEqual(['finish begins, ended 1 times', 'finish is done', 'invocation over']);
  });

  it('does not wait for a finish without end', async () => {
    const { dependencies, clock, events: logEvents } = adapterDependencies();
    const beginning = gate();
    const finish = () => {
      beginning.open();
      return new Promise<void>(() => {});
    };
    const handler = createStreamingHandler(answering({ body: '{}', finish }), dependencies);
    const running = invoke(handler, chatEvent());
    await beginning.opened;
    clock.advance(20_000);
    const invocation = await running;
    expect(invocation.bodyText()).toBe('{}');
    expect(logEvents()).toEqual(['finish_over_time']);
  });

  it('is given up in time for a last line if Lambda ends the invocation sooner, and the gateway knows when', async () => {
    const { dependencies, clock, events: logEvents } = adapterDependencies();
    const beginning = gate<number | undefined>();
    const gateway: Gateway = async (_request, { endsAtMs }) => ({
      status: 200,
      headers: {},
      body: '{}',
      finish: () => {
        beginning.open(endsAtMs);
        return new Promise<void>(() => {});
      },
    });
    const running = invoke(createStreamingHandler(gateway, dependencies), chatEvent(), {
      getRemainingTimeInMillis: () => 5_000,
    });
    expect(await beginning.opened).toBe(startMs + 5_000);
    clock.advance(4_799);
    expect(logEvents()).toEqual([]);
    clock.advance(1);
    await running;
    expect(logEvents()).toEqual(['finish_over_time']);
  });

  it('does not wait for idle sockets, if the runtime asks', async () => {
    // The Node 24 context does not have this field, so the handler does not add it.
    const { dependencies } = adapterDependencies();
    const handler = createStreamingHandler(answering({}), dependencies);
    const [older, newer] = [{ callbackWaitsForEmptyEventLoop: true }, {}];
    await invoke(handler, chatEvent(), older);
    await invoke(handler, chatEvent(), newer);
    expect(older.callbackWaitsForEmptyEventLoop).toBe(false);
    expect(newer).toEqual({});
  });

  it('waits for a slow reader, and writes the rest in order when it reads again', async () => {
    const { dependencies, clock } = adapterDependencies();
    const body = events('data: 1\n\n', 'data: 2\n\n', 'data: [DONE]\n\n');
    const handler = createStreamingHandler(answering({ ...eventStream, body }), dependencies);
    const controlGate = gate<StreamControl>();
    const running = invoke(handler, chatEvent(), {}, (control) => {
      control.block();
      controlGate.open(control);
    });
    const control = await controlGate.opened;
    await nextTurn();
    expect(control.invocation.bodyText()).toBe('data: 1\n\n');
    expect(control.waitingForDrain()).toBe(1);
    control.drain();
    await running;
    expect(control.invocation.bodyText()).toBe('data: 1\n\ndata: 2\n\ndata: [DONE]\n\n');
    expect(control.waitingForDrain()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('ends in the middle of no line if its time is over while a long part is written', async () => {
    const { dependencies, clock } = adapterDependencies();
    const long = `data: ${'y'.repeat(100_000)}\n\n`;
    const handler = createStreamingHandler(answering({ ...eventStream, body: events(long, long) }), dependencies);
    const running = invoke(handler, chatEvent(), {}, (control) => control.block());
    await nextTurn();
    clock.advance(deliveryMaxMs);
    const text = (await running).bodyText();
    expect(text.startsWith(`${long}data: {"error":{"code":"request_deadline_exceeded"`)).toBe(true);
  });

  it('does not wait for a reader that never reads again: the body is released, the stream closed, finish run', async () => {
    // Nothing else would show that the client has left.
    const { dependencies, clock } = adapterDependencies();
    const seenChunks: string[] = [];
    const body = (async function* () {
      try {
        yield 'data: 1\n\n';
        yield 'data: 2\n\n';
      } finally {
        seenChunks.push('provider released');
      }
    })();
    const finish = async () => void seenChunks.push('finished');
    const handler = createStreamingHandler(answering({ ...eventStream, body, finish }), dependencies);
    const running = invoke(handler, chatEvent(), {}, (control) => control.block());
    await nextTurn();
    expect(seenChunks).toEqual([]);
    clock.advance(deliveryMaxMs);
    const invocation = await running;
    expect(seenChunks).toEqual(['provider released', 'finished']);
    expect(invocation.bodyText()).toContain('"code":"request_deadline_exceeded"');
    expect(invocation.bodyText().endsWith('data: [DONE]\n\n')).toBe(true);
    expect(invocation.ends).toEqual([[]]);
  });

  it('counts that time from the arrival of the request, not from its answer', async () => {
    const { dependencies, clock } = adapterDependencies();
    const seenChunks: string[] = [];
    const gateway = async () => {
      clock.advance(50_000);
      const finish = async () => void seenChunks.push('finished');
      return { status: 200, ...eventStream, body: partsOf(events('data: 1\n\n', 'data: 2\n\n')), finish };
    };
    const running = invoke(createStreamingHandler(gateway, dependencies), chatEvent(), {}, (control) =>
      control.block(),
    );
    await nextTurn();
    clock.advance(deliveryMaxMs - 50_000 - 1);
    await nextTurn();
    expect(seenChunks).toEqual([]);
    clock.advance(1);
    await running;
    expect(seenChunks).toEqual(['finished']);
  });

  it('follows the stream budget for a stream, and not for a text', async () => {
    const { dependencies, clock } = adapterDependencies(300);
    const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const stream = createStreamingHandler(answering({ ...eventStream, body: never }), dependencies);
    const body = 'y'.repeat(100_000);
    const text = createStreamingHandler(answering({ body }), dependencies);
    let isOver = false;
    const streaming = invoke(stream, chatEvent()).finally(() => {
      isOver = true;
    });
    const running = invoke(text, chatEvent(), {}, (control) => control.block());
    await nextTurn();
    clock.advance(deliveryMaxMs);
    expect((await running).bodyText()).toBe(body);
    clock.advance(304_999 - deliveryMaxMs);
    await nextTurn();
    expect(isOver).toBe(false);
    clock.advance(1);
    expect((await streaming).bodyText()).toContain('"code":"request_deadline_exceeded"');
  });

  it('writes nothing after its end, however late a chunk comes', async () => {
    const { dependencies, clock } = adapterDependencies();
    const late = gate();
    const body = (async function* () {
      yield 'data: 1\n\n';
      await late.opened;
      yield 'data: late\n\n';
    })();
    const handler = createStreamingHandler(answering({ ...eventStream, body }), dependencies);
    const running = invoke(handler, chatEvent());
    await nextTurn();
    clock.advance(deliveryMaxMs);
    await nextTurn();
    // The body does not end either, and the wait for it has a bound of its own.
    clock.advance(2_000);
    const invocation = await running;
    late.open();
    await nextTurn();
    expect(invocation.bodyText()).not.toContain('late');
    expect(invocation.deaths).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it('stops when its stream breaks, and still finishes', async () => {
    const { dependencies } = adapterDependencies();
    let finished = 0;
    const body = events('data: 1\n\n', 'data: 2\n\n');
    const finish = async () => void finished++;
    const handler = createStreamingHandler(answering({ ...eventStream, body, finish }), dependencies);
    const controlGate = gate<StreamControl>();
    const running = invoke(handler, chatEvent(), {}, (control) => {
      control.block();
      controlGate.open(control);
    });
    const control = await controlGate.opened;
    await nextTurn();
    control.fail(new Error('ECONNRESET'));
    const invocation = await running;
    expect(invocation.bodyText()).toBe('data: 1\n\n');
    expect(finished).toBe(1);
    expect(invocation.failure).toBeUndefined();
  });
});

describe('middy', () => {
  it('never answers early on its own, however little time remains', async () => {
    const { dependencies } = adapterDependencies();
    const context = { getRemainingTimeInMillis: () => 1 };
    const handler = createStreamingHandler(answering({ body: '{}' }), dependencies);
    const invocation = await invoke(handler, chatEvent(), context);
    expect(invocation.bodyText()).toBe('{}');
    expect(invocation.failure).toBeUndefined();
  });

  it('shares no signal between two invocations at once, and none of them aborts', async () => {
    const { dependencies } = adapterDependencies();
    const signals: AbortSignal[] = [];
    const both = gate();
    const handler = createStreamingHandler(async (_request, { clientGone }) => {
      signals.push(clientGone);
      if (signals.length === 2) both.open();
      await both.opened;
      return { status: 200, headers: {}, body: '{}' };
    }, dependencies);
    await Promise.all([invoke(handler, chatEvent()), invoke(handler, chatEvent())]);
    expect(signals[0]).not.toBe(signals[1]);
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
  });

  it('runs in our execution mode: one streaming handler of three parameters, which takes any iterable body', async () => {
    // If the option were ignored, the handler would be a plain one, and middy's own mode refuses a body that is any
    // iterable.
    const { dependencies } = adapterDependencies();
    const handler = createStreamingHandler(answering({ body: events('a', 'b') }), dependencies);
    expect(runtime.built).toEqual([handler]);
    expect(handler).toHaveLength(3);
    expect((await invoke(handler, chatEvent())).bodyText()).toBe('ab');
  });
});

describe('the global of the runtime', () => {
  it('is needed to build a handler and for nothing else: the module loads without it', async () => {
    runtime.uninstall();
    const { dependencies } = adapterDependencies();
    const loaded = await import('../../../shared/protocol/http/lambda-handlers.ts');
    expect(() => loaded.createStreamingHandler(answering({}), dependencies)).toThrow('inside the Lambda runtime');
  });
});
