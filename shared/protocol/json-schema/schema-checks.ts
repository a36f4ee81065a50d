// Starts every check of a schema in this folder. The other modules and the validator are loaded with the first schema,
// because most requests have none. Work begins on the event loop; if the work does not finish at once, it continues in
// a worker.
import { startStopwatch } from '../../foundation/time/index.ts';
import type { AnswerCheck, Limits, TimedResult, ValueProblem } from './check.ts';
import { jsonText } from './json-value.ts';
import type { SchemaFault } from './prepare-schema.ts';
import {
  answerMaxCharacters,
  busyEventLoopMaxMs,
  eventLoopAnswerMaxCharacters,
  eventLoopMaxMs,
  eventLoopPatternWeightMax,
  workerCallMaxMs,
  workerJobMaxMs,
} from './schema-bounds.ts';
import { type SchemaWorkers, schemaWorkers } from './schema-workers.ts';

/** The schema work of one call, with the time that the work has used, and its key. */
export interface SchemaWork {
  readonly owner: string;
  /** The workers of the process, because a bundle that is loaded on demand would start more workers. */
  readonly workers: SchemaWorkers;
  eventLoopMs: number;
  workerMs: number;
}

/** Starts the work. In workers, each `owner` has a few jobs at a time. */
export const startSchemaWork = (owner: string): SchemaWork => ({
  owner,
  workers: schemaWorkers,
  eventLoopMs: 0,
  workerMs: 0,
});

/** Starts work for the command line, without a client. */
const operatorWork = () => startSchemaWork('operator');

/**
 * Returns the reason why this cannot be the schema of an answer or of an input, or undefined when it can. A schema must
 * not be changed after it was passed in, because it is prepared once for as long as its object lives.
 */
export const checkResponseSchema = (schema: unknown, work = operatorWork()): Promise<SchemaFault | undefined> =>
  run<SchemaFault | undefined>(work, {
    schema,
    job: { kind: 'schema' },
    here: ({ schemaFault }, limits) => schemaFault(schema, limits),
    outOfMemory: { message: 'The schema takes too much memory to be checked.' },
  });

/** Checks the text of one answer. Rejects if the schema has a fault, so call `checkResponseSchema` first. */
export const checkAnswer = (schema: unknown, answer: string, work = operatorWork()): Promise<AnswerCheck> =>
  run<AnswerCheck>(work, {
    schema,
    job: { kind: 'answer', answer },
    here: ({ answerCheck }, limits) => answerCheck(schema, answer, limits),
    // An answer that is too long is refused without parsing it.
    isLarge: answer.length > eventLoopAnswerMaxCharacters && answer.length <= answerMaxCharacters,
    outOfMemory: { kind: 'invalid', problem: tooMuchMemory, mismatch: `/: ${tooMuchMemory}`, isUnchecked: true },
  });

/** Checks a parsed value, including numbers that are stored as text. Rejects when the schema has a fault. */
export const checkValue = (schema: unknown, value: unknown, work = operatorWork()): Promise<ValueProblem | undefined> =>
  run<ValueProblem | undefined>(work, {
    schema,
    job: { kind: 'value', value },
    here: ({ valueProblem }, limits) => valueProblem(schema, value, limits),
    outOfMemory: { path: '', message: tooMuchMemory, mismatch: `/: ${tooMuchMemory}` },
  });

const tooMuchMemory = 'takes too much memory to be checked';

interface Question<Value> {
  readonly schema: unknown;
  readonly job: object;
  readonly here: (check: typeof import('./check.ts'), limits: Limits) => TimedResult<Value>;
  /** True for a large text, which is never parsed on the event loop, because a parser cannot be interrupted. */
  readonly isLarge?: boolean;
  readonly outOfMemory: Value;
}

let check: typeof import('./check.ts') | undefined;

/** Schemas that took too long to be prepared on the event loop. */
const forWorkers = new WeakSet<object>();

async function run<Value>(
  work: SchemaWork,
  { schema, job, here, isLarge = false, outOfMemory }: Question<Value>,
): Promise<Value> {
  const key = typeof schema === 'object' && schema !== null ? schema : undefined;
  check ??= await import('./check.ts');
  const availableMs = work.workers.isBusy(work.owner) ? busyEventLoopMaxMs : eventLoopMaxMs;
  const maxMs = availableMs - work.eventLoopMs;
  if (!isLarge && maxMs >= 1 && !(key && forWorkers.has(key))) {
    const elapsedMs = startStopwatch();
    const { value, over } = here(check, { maxMs, patternWeightMax: eventLoopPatternWeightMax });
    work.eventLoopMs += elapsedMs();
    if (over === undefined) return value;
    if (over === 'schema' && key !== undefined) forWorkers.add(key);
  }
  const leftMs = Math.max(1, Math.min(workerJobMaxMs, workerCallMaxMs - work.workerMs));
  const result = await work.workers.run(work.owner, jsonText({ ...job, schema, maxMs: leftMs }) ?? '');
  if (result === 'out_of_memory') return outOfMemory;
  work.workerMs += result.tookMs;
  return result.value as Value;
}
