// Records as items of the idempotency table, and the writes that move them from state to state.
import { sha256Hex } from '../../foundation/ids/index.ts';
import {
  absent,
  and,
  atMost,
  type Condition,
  equals,
  type Item,
  or,
  type Put,
  type Update,
} from '../../storage/store/index.ts';
import {
  type Claimant,
  type DoneRecord,
  expiryAfter,
  type IdempotencyRecord,
  type PackedBody,
  type StoredResult,
} from './record.ts';

/** Client text is no part of a table key: it would have a length and characters of the client's choice. */
export const recordKey = (workspace: string, key: string): string => `IDEM#${workspace}#${sha256Hex(key)}`;

/** A record that is over, was released, or whose owner is dead. */
const isFree = (nowMs: number): Condition =>
  or(
    absent('pk'),
    atMost('expires_at_epoch_seconds', Math.floor(nowMs / 1000)),
    and(equals('state', 'running'), atMost('lease_until_ms', nowMs)),
  );

const isMineAndRunning = (owner: string): Condition => and(equals('owner', owner), equals('state', 'running'));

/** One write that creates, takes over or is refused. The whole item is new: nothing of a former result stays. */
export const claimPut = (
  pk: string,
  { fingerprint, owner, nowMs, leaseUntilMs }: Claimant & { leaseUntilMs: number },
) =>
  ({
    table: 'idempotency',
    item: {
      pk,
      state: 'running',
      fingerprint: fingerprint.hash,
      fingerprint_version: fingerprint.version,
      owner,
      lease_until_ms: leaseUntilMs,
      expires_at_epoch_seconds: expiryAfter(nowMs),
    },
    condition: isFree(nowMs),
    // Its own first try is recognized by the owner in the refused item.
    repeatable: true,
  }) satisfies Put;

export const completeUpdate = (
  pk: string,
  owner: string,
  { status, headers, model, provider, executionId, guardrails }: Omit<StoredResult, 'body'>,
  body: PackedBody | undefined,
  nowMs: number,
) =>
  ({
    table: 'idempotency',
    key: pk,
    changes: {
      set: {
        state: 'done',
        result: {
          status,
          headers,
          model,
          provider,
          execution_id: executionId,
          guardrails,
          ...(body === undefined ? {} : bodyMembers(body)),
        },
        expires_at_epoch_seconds: expiryAfter(nowMs),
      },
      remove: ['lease_until_ms'],
    },
    condition: isMineAndRunning(owner),
    // Its own first try is recognized by owner and body in the refused item.
    repeatable: true,
  }) satisfies Update;

const bodyMembers = (body: PackedBody): Item => ({
  body_sha256: body.sha256,
  ...('bytes' in body ? { body_gzip: body.bytes } : { body_blob_key: body.blobKey, body_text_bytes: body.textBytes }),
});

/** Ends the lease and removes the owner, whose late writes are then refused. */
export const releaseUpdate = (pk: string, owner: string) =>
  ({
    table: 'idempotency',
    key: pk,
    changes: { set: { lease_until_ms: 0 }, remove: ['owner'] },
    condition: isMineAndRunning(owner),
    repeatable: true,
  }) satisfies Update;

export function recordOf(item: Item): IdempotencyRecord {
  const common = {
    fingerprint: item.fingerprint as string,
    fingerprintVersion: item.fingerprint_version as number,
    expiresAtEpochSeconds: item.expires_at_epoch_seconds as number,
  };
  if (item.state === 'done') return { ...common, ...doneMembers(item) };
  const owner = item.owner as string | undefined;
  return { ...common, state: 'running', owner, leaseUntilMs: item.lease_until_ms as number };
}

function doneMembers(item: Item): Omit<DoneRecord, 'fingerprint' | 'fingerprintVersion' | 'expiresAtEpochSeconds'> {
  const result = item.result as Item;
  return {
    state: 'done',
    owner: item.owner as string,
    result: {
      status: result.status as number,
      headers: result.headers as Record<string, string>,
      model: result.model as string | undefined,
      provider: result.provider as string | undefined,
      ...(result.execution_id === undefined ? {} : { executionId: result.execution_id as string }),
      ...(result.guardrails === undefined ? {} : { guardrails: result.guardrails as string[] }),
    },
    body: bodyOf(result),
  };
}

function bodyOf({ body_sha256, body_gzip, body_blob_key, body_text_bytes }: Item): PackedBody | undefined {
  if (body_sha256 === undefined) return undefined;
  const sha256 = body_sha256 as string;
  return body_gzip === undefined
    ? { sha256, blobKey: body_blob_key as string, textBytes: body_text_bytes as number | undefined }
    : { sha256, bytes: body_gzip as Uint8Array };
}
