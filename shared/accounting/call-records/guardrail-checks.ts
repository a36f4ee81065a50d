// Converts the checks of a call by guardrails to the entries of its record. There is one entry for each guardrail and
// direction, however many texts the guardrail checked.
import { formatUsd, type PicoUsd } from '../../foundation/money/index.ts';
import type { GuardrailCheck } from '../../protocol/router/index.ts';
import type { StoredKind } from './stored-kinds.ts';

interface RecordedChecks extends Omit<GuardrailCheck, 'startedAtMs'> {
  readonly checks: number;
}

interface ChecksDocument extends Omit<RecordedChecks, 'costPicoUsd'> {
  readonly cost_usd?: string;
}

/** Decisions in rising strength. The strongest of a guardrail's decisions is recorded. */
const actions = ['pass', 'failed', 'mask', 'block'] as const satisfies readonly GuardrailCheck['action'][];

export function sumOfChecks(checks: readonly GuardrailCheck[] = []): readonly RecordedChecks[] | undefined {
  if (checks.length === 0) return undefined;
  const sums = new Map<string, RecordedChecks>();
  for (const { startedAtMs: _inTimeLine, ...check } of checks) {
    const name = `${check.direction} ${check.id}`;
    const former = sums.get(name);
    sums.set(name, former === undefined ? { ...check, checks: 1 } : addCheck(former, check));
  }
  return [...sums.values()];
}

const addCheck = (
  former: RecordedChecks,
  { action, ms, units, costPicoUsd }: Omit<GuardrailCheck, 'startedAtMs'>,
): RecordedChecks => ({
  ...former,
  action: actions.indexOf(action) > actions.indexOf(former.action) ? action : former.action,
  checks: former.checks + 1,
  ms: former.ms + ms,
  units: sum(former.units, units),
  costPicoUsd: sum(former.costPicoUsd, costPicoUsd),
});

const sum = <Amount extends number | PicoUsd>(
  one: Amount | undefined,
  other: Amount | undefined,
): Amount | undefined =>
  one === undefined || other === undefined ? (one ?? other) : (((one as bigint) + (other as bigint)) as Amount);

type Stored = [string, 'input' | 'output', GuardrailCheck['action'], number, number, number | null, string | null];

/** Returns the kind, which is stored as JSON. A call has few checks. */
export const guardrailChecks = (
  countMax: number,
): StoredKind<readonly RecordedChecks[], readonly ChecksDocument[]> => ({
  toScalar: (value) => {
    const checks = (Array.isArray(value) ? value : []) as readonly RecordedChecks[];
    if (checks.length === 0) return undefined;
    const storedChecks = checks.slice(0, countMax).map((one): Stored => {
      const { id, direction, action, units = null, costPicoUsd } = one;
      return [id, direction, action, one.checks, Math.round(one.ms), units, costPicoUsd?.toString() ?? null];
    });
    return JSON.stringify(storedChecks);
  },
  fromScalar: (stored) =>
    (JSON.parse(stored as string) as Stored[]).map(([id, direction, action, checks, ms, units, cost]) => ({
      ...{ id, direction, action, checks, ms },
      ...(units === null ? {} : { units }),
      ...(cost === null ? {} : { costPicoUsd: BigInt(cost) }),
    })),
  toJson: (checks) =>
    checks.map(({ costPicoUsd, ...one }) => ({
      ...one,
      ...(costPicoUsd === undefined ? {} : { cost_usd: formatUsd(costPicoUsd) }),
    })),
  schema: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        direction: { type: 'string', enum: ['input', 'output'] },
        action: { type: 'string', enum: [...actions] },
        checks: { type: 'integer', minimum: 1 },
        ms: { type: 'integer', minimum: 0 },
        units: { type: 'integer', minimum: 0 },
        cost_usd: { type: 'string' },
      },
      required: ['id', 'direction', 'action', 'checks', 'ms'],
    },
  },
});
