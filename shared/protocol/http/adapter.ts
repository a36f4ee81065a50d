// What every adapter is handed, and the bounds that all of them keep. They stand in this order, so that settlement
// still fits into the Lambda limit: budget 55 s < delivery 60 s < Lambda 65 s.

import { originReadTimeoutSeconds } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';

export interface AdapterDependencies {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
}

/** From the start of an exchange to its last byte. Beyond it the edge has given up, whatever we still write. */
export const deliveryMaxMs = originReadTimeoutSeconds * 1000;
/** What `finish` may take: reading on a stream whose client left (10 s), then every retry of its settlement (9 s). */
export const finishMaxMs = 20_000;
/** How long a body that was given up may take to let go of its provider. */
export const releaseMaxMs = 2_000;
/** Pieces in which a text is written: one chunk of Node's streams, and far below what a response stream chokes on. */
export const pieceMaxCharacters = 16 * 1024;

/** Why a delivery is stopped: the reason of its abort signal. */
export type StopReason = 'client_gone' | 'time_over';
