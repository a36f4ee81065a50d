// The kinds of requests whose rounds are counted. Every one goes to a fresh or a warm gateway as its name says.
import type { CoreRequest } from '../core/create-core.ts';
import { type BenchKeys, models } from '../gateway-file.ts';
import { functionBody, jsonBody, streamBody } from '../request-bodies.ts';

export type Before =
  /** Calls of the same kind went through this gateway a moment ago. */
  | 'warm'
  /** Its copies of the configuration have grown old. */
  | 'stale'
  /** Another gateway has served the same key since. */
  | 'other'
  /** It has just started. */
  | 'cold';

export interface RequestKind {
  readonly name: string;
  readonly before: Before;
  /** The n-th request of this kind. Ids are its own. */
  readonly request: (number: number) => CoreRequest;
}

export function requestKinds({ limited, unlimited }: BenchKeys): RequestKind[] {
  const json = jsonBody(models.limited);
  const plain: CoreRequest = { key: limited, body: json };
  const kind = (name: string, request: (number: number) => CoreRequest, before: Before = 'warm'): RequestKind => ({
    name,
    before,
    request,
  });
  const cached = jsonBody(models.limited, { cache: { ttl: 3_600 } });
  return [
    kind('plain JSON, every limit set', () => plain),
    kind('plain JSON, no limits', () => ({ key: unlimited, body: jsonBody(models.unlimited) })),
    kind('stream of 300 chunks', () => ({ key: limited, body: streamBody(models.limited) })),
    kind('with Idempotency-Key', (n) => ({ ...plain, headers: { 'idempotency-key': `bench-${n}` } })),
    kind('replay of a stored answer', () => ({ ...plain, headers: { 'idempotency-key': 'bench-replay' } })),
    kind('with span id', (n) => ({ ...plain, headers: { 'x-gw-trace-id': 'bench', 'x-gw-span-id': `bench-${n}` } })),
    kind('cached answer', () => ({ key: limited, body: cached })),
    kind('function (prompt)', (n) => ({
      key: limited,
      body: functionBody(models.function),
      headers: { 'idempotency-key': `00000000-0000-4000-8000-${String(n).padStart(12, '0')}` },
    })),
    kind('plain JSON, configuration older than 5 s', () => plain, 'stale'),
    kind('plain JSON, key served elsewhere meanwhile', () => plain, 'other'),
    kind('plain JSON, first call of an instance', () => plain, 'cold'),
  ];
}
