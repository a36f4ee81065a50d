// Decides the answer of an idempotency record to a claim that may not take it over. Pure.
//
//   claim            complete                                 expires
//     |---- running ----|---------------- done ------------------|      ← the stored answer until here
//   claim                          lease over                 expires
//     |---- running (owner alive) ----|---- running (dead) ------|      ← free for exactly one claim from "lease over" on
//                  ↑ release moves "lease over" to here
//
// A dead owner is a failure that could not be reported, so its record is as free as a released one, even for another
// body. Otherwise a mistake in the body would block its key for a day only because a process died, not because it
// answered.

import type { Fingerprint } from './request-fingerprint.ts';

/** Lifetime of a record, counted from the claim while a call runs, from its completion once it is done. */
const recordLifeSeconds = 24 * 60 * 60;

/** An answer as it left the gateway. */
export interface StoredResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or the whole transcript of a stream. */
  readonly body: string;
  /** Model that answered; undefined if several did. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** Execution id, for function calls only. */
  readonly executionId?: string | undefined;
  /** Ids of the guardrails that have checked the answer, if any. */
  readonly guardrails?: readonly string[] | undefined;
}

/**
 * Place of a body, which is in the item, or under a key of the blob store. The hash is over the compressed bytes. The
 * length of a body in the blob store is known before it is read (undefined if an earlier release stored it).
 */
export type PackedBody = { readonly sha256: string } & (
  | { readonly bytes: Uint8Array }
  | { readonly blobKey: string; readonly textBytes: number | undefined }
);

interface CommonMembers {
  readonly fingerprint: string;
  /** Version of the fingerprint's algorithm. */
  readonly fingerprintVersion: number;
  readonly expiresAtEpochSeconds: number;
}

interface RunningRecord extends CommonMembers {
  readonly state: 'running';
  /** The call that runs. Undefined once the record was released. */
  readonly owner: string | undefined;
  readonly leaseUntilMs: number;
}

export interface DoneRecord extends CommonMembers {
  readonly state: 'done';
  readonly owner: string;
  readonly result: Omit<StoredResult, 'body'>;
  /** Undefined when the body was too long to be stored. */
  readonly body: PackedBody | undefined;
}

export type IdempotencyRecord = RunningRecord | DoneRecord;

export interface Claimant {
  readonly fingerprint: Fingerprint;
  /** Id that is unique to this call, to fence off a late owner. */
  readonly owner: string;
  readonly nowMs: number;
}

/** 'own' means that the claimant's first try was written, but its answer was lost. */
type ClaimVerdict = 'own' | 'conflict' | 'running' | 'done';

export function judge(record: IdempotencyRecord, claimant: Claimant): ClaimVerdict {
  if (record.state === 'running' && record.owner === claimant.owner) return 'own';
  // A conflict takes precedence over a call that runs or is done.
  if (record.fingerprint !== claimant.fingerprint.hashOf(record.fingerprintVersion)) return 'conflict';
  return record.state;
}

export const expiryAfter = (nowMs: number): number => Math.ceil(nowMs / 1000) + recordLifeSeconds;

/** True if the record contains this completion's own write, whose answer was lost. */
export const isOwnCompletion = (
  record: IdempotencyRecord | undefined,
  owner: string,
  bodySha256: string | undefined,
): boolean => record?.state === 'done' && record.owner === owner && record.body?.sha256 === bodySha256;
