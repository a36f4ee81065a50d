// Sums the metrics of several processes. The main process requests the metrics from each serving process; a client that
// calls a serving process gets the sum from the main process. The counts of a process that has ended stay in the sum,
// because a counter must never fall.
import cluster, { type Worker } from 'node:cluster';
import { fail } from '../../shared/errors/index.ts';
import { systemClock, waitAtMost } from '../../shared/foundation/time/index.ts';
import {
  type CallMetrics,
  createMetricsText,
  type MetricValues,
  type ReadMetrics,
  sumOfCounts,
} from '../metrics/index.ts';
import type { Stop } from './open-composition.ts';

/** A message to a process or back, with the `id` of the request. */
type MetricsMessage =
  | { readonly metrics: 'asked' | 'wanted'; readonly id: number }
  | { readonly metrics: 'counted'; readonly id: number; readonly values: MetricValues }
  | { readonly metrics: 'sum'; readonly id: number; readonly text: string };

/** A process that does not answer in time counts with its last answer. */
const answerMaxMs = 2_000;

const isMetricsMessage = (message: unknown): message is MetricsMessage =>
  typeof message === 'object' && message !== null && 'metrics' in message;

/** Creates the sum in the main process, before it starts the other processes. */
export function sumProcessMetrics(started: Stop[]): ReadMetrics {
  const textOf = createMetricsText();
  const lastOf = new Map<Worker, MetricValues>();
  let ended: MetricValues = [];
  let ending = Promise.resolve();
  const questions = createQuestions<void>();

  const onMessage = (worker: Worker, message: unknown): void => {
    // The first message means that the process serves and accepts requests.
    if (typeof message === 'object' && message !== null && 'port' in message) lastOf.set(worker, []);
    if (!isMetricsMessage(message)) return;
    if (message.metrics === 'counted') {
      if (lastOf.has(worker)) lastOf.set(worker, message.values);
      questions.answer(message.id);
    }
    if (message.metrics === 'asked') {
      void read().then((text) => send(worker, { metrics: 'sum', id: message.id, text }));
    }
  };
  const onExit = (worker: Worker): void => {
    const last = lastOf.get(worker) ?? [];
    lastOf.delete(worker);
    ending = ending.then(async () => {
      ended = await sumOfCounts([ended, last]);
    });
  };
  cluster.on('message', onMessage).on('exit', onExit);
  started.push(() => {
    cluster.off('message', onMessage).off('exit', onExit);
  });

  async function read(): Promise<string> {
    await Promise.all(
      [...lastOf.keys()].map((worker) => questions.ask((id) => send(worker, { metrics: 'wanted', id }))),
    );
    await ending;
    return textOf([ended, ...lastOf.values()]);
  }
  return read;
}

/** Reads the sum in a process that serves. Rejects if the main process gives no answer. */
export function joinProcessMetrics(metrics: CallMetrics): ReadMetrics {
  const questions = createQuestions<string>();
  process.on('message', (message: unknown) => {
    if (!isMetricsMessage(message)) return;
    const { id } = message;
    if (message.metrics === 'sum') questions.answer(id, message.text);
    if (message.metrics === 'wanted') {
      void metrics.read().then((values) => process.send?.({ metrics: 'counted', id, values } satisfies MetricsMessage));
    }
  });
  return async () => {
    const ask = (id: number) => void process.send?.({ metrics: 'asked', id } satisfies MetricsMessage);
    const text = await questions.ask(ask, 2 * answerMaxMs);
    if (text === undefined)
      throw fail('RATE_LIMITER_UNAVAILABLE', { message: 'The main process gave no metrics in time.' });
    return text;
  };
}

function send(worker: Worker, message: MetricsMessage): void {
  if (worker.isConnected()) worker.send(message);
}

/** Creates the pending requests. A request without an answer in time resolves with undefined. */
function createQuestions<Value>() {
  const waiting = new Map<number, (value: Value) => void>();
  let count = 0;
  return {
    answer: (id: number, value: Value) => waiting.get(id)?.(value),
    async ask(send: (id: number) => void, maxMs = answerMaxMs): Promise<Value | undefined> {
      const id = ++count;
      const { promise, resolve } = Promise.withResolvers<Value>();
      waiting.set(id, resolve);
      send(id);
      return waitAtMost(systemClock, maxMs, promise, () => undefined).finally(() => waiting.delete(id));
    },
  };
}
