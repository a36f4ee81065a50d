// Calls of ten seconds for one task, at the steady rate that keeps so many of them in flight.
import { readFileSync } from 'node:fs';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { type Answer, createClient, jsonBody } from '../measuring-client.ts';
import { models } from './bench-file.ts';
import type { Task } from './task-process.ts';

export const callMs = 10_000;
const kibPerMib = 1_024;

/** Every other call is a stream: one whose chunks come together once it has waited, or evenly over its time, as from a model that writes. */
const streams = {
  JSON: undefined,
  'half of them streams that wait': 'wait',
  'half of them streams that write': 'paced',
};

export interface TaskLoad {
  readonly inFlight: number;
  readonly kind: keyof typeof streams;
}

export function createLoad(task: Task, keys: readonly string[], { inFlight, kind }: TaskLoad) {
  const client = createClient(task, inFlight * 2);
  const json = jsonBody(models.limited, { user: `wait-${callMs}` });
  const pace = streams[kind];
  const other = pace === undefined ? json : jsonBody(models.limited, { user: `${pace}-${callMs}`, stream: true });
  const everyMs = callMs / inFlight;
  const answers: Answer[] = [];
  const running = new Set<Promise<void>>();
  let [sent, peakKib] = [0, 0];
  const send = () => {
    const one = client.send({ body: sent % 2 === 0 ? json : other, key: keys[sent % keys.length] }).then((answer) => {
      answers.push(answer);
      running.delete(one);
    });
    sent += 1;
    running.add(one);
  };
  const startedAtMs = performance.now();
  let stopsAtMs = startedAtMs;
  return {
    /** Of what has ended, in the order of its end. */
    answers,
    inFlight: () => running.size,
    /** Resident, as Linux counts it; NaN elsewhere. */
    peakMib: () => peakKib / kibPerMib,
    /** Goes on for so long where it stopped. */
    async run(forMs: number) {
      stopsAtMs += forMs;
      for (let now = performance.now(); now < stopsAtMs; now = performance.now()) {
        while (startedAtMs + sent * everyMs <= now) send();
        peakKib = Math.max(peakKib, residentKib(task.pid));
        await sleep(systemClock, Math.max(1, everyMs));
      }
    },
    async ended() {
      await Promise.all(running);
      client.close();
    },
  };
}

/** A whole answer, or a stream with its end and without an error. */
export const isWhole = ({ status, text }: Answer): boolean =>
  status === 200 && (text.startsWith('{') || text.trimEnd().endsWith('data: [DONE]')) && !text.includes('"error"');

export function residentKib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);
  } catch {
    return NaN;
  }
}
