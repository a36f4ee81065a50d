// Lists the start and the duration of each part of a call, as its record stores and the console draws them.
import type { GuardrailCheck } from '../../protocol/router/index.ts';
import type { StoredKind } from './stored-kinds.ts';

/**
 * The parts of a call:
 * admission    from the arrival until the call may run, or is refused
 * guardrail    from the first check of a guardrail in one direction to the end of its last check
 * attempt      one call to a provider, including the body of its answer
 * settlement   from the last byte of the answer until the record is made
 */
const partNames = ['admission', 'guardrail', 'attempt', 'settlement'] as const;
type PartName = (typeof partNames)[number];

export interface TimedPart {
  readonly part: PartName;
  /** Position among the guardrails, or the attempts, of the record. */
  readonly at?: number | undefined;
  /** Milliseconds from the arrival of the call. */
  readonly startMs: number;
  readonly ms: number;
}

interface TimedPartDocument {
  readonly part: PartName;
  readonly at?: number;
  readonly start_ms: number;
  readonly ms: number;
}

/** Matches `admission:0:12`, `attempt#1:14:230`. */
const partText = /^(admission|guardrail|attempt|settlement)(?:#(\d{1,3}))?:(\d{1,12}):(\d{1,12})$/;

/** Returns whole milliseconds, because a clock that was set back makes negative times. */
const toMs = (ms: number): number => Math.max(0, Math.round(ms));

/** Returns the kind of a time line, which is stored as one text. A part of another form is dropped. */
export const timeLine = (countMax: number): StoredKind<readonly TimedPart[], readonly TimedPartDocument[]> => ({
  toScalar: (value) => {
    const parts = (Array.isArray(value) ? value : []) as readonly TimedPart[];
    const texts = parts.slice(0, countMax).flatMap(({ part, at, startMs, ms }) => {
      const text = `${part}${at === undefined ? '' : `#${at}`}:${toMs(startMs)}:${toMs(ms)}`;
      return partText.test(text) ? [text] : [];
    });
    return texts.length === 0 ? undefined : texts.join(' ');
  },
  fromScalar: (stored) =>
    (stored as string).split(' ').flatMap((text) => {
      const [, part, at, start, ms] = partText.exec(text) ?? [];
      if (part === undefined) return [];
      const position = at === undefined ? {} : { at: Number(at) };
      return [{ part: part as PartName, ...position, startMs: Number(start), ms: Number(ms) }];
    }),
  toJson: (parts) =>
    parts.map(({ part, at, startMs, ms }) => ({
      part,
      ...(at === undefined ? {} : { at }),
      start_ms: startMs,
      ms,
    })),
  schema: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        part: { type: 'string', enum: [...partNames] },
        at: { type: 'integer', minimum: 0 },
        start_ms: { type: 'integer', minimum: 0 },
        ms: { type: 'integer', minimum: 0 },
      },
      required: ['part', 'start_ms', 'ms'],
    },
  },
});

type TimedCheck = Pick<GuardrailCheck, 'id' | 'direction' | 'startedAtMs' | 'ms'>;

/**
 * Returns the parts of a call before a provider is called, and the checks of its answer. `admittedMs` is the end of
 * admission.
 */
export function partsOfGateway(
  arrivedAtMs: number,
  admittedMs: number,
  checks: readonly TimedCheck[] = [],
): readonly TimedPart[] {
  const admission: TimedPart = { part: 'admission', startMs: 0, ms: admittedMs };
  if (checks.length === 0) return [admission];
  const spans = new Map<string, { readonly startMs: number; readonly endMs: number }>();
  for (const { id, direction, startedAtMs, ms } of checks) {
    const name = `${direction} ${id}`;
    const startMs = startedAtMs - arrivedAtMs;
    spans.set(name, { startMs: spans.get(name)?.startMs ?? startMs, endMs: startMs + ms });
  }
  return [
    admission,
    ...[...spans.values()].map(
      ({ startMs, endMs }, at): TimedPart => ({ part: 'guardrail', at, startMs, ms: endMs - startMs }),
    ),
  ];
}
