// Cells that fail today: each is expected to fail, and leaves this list when it passes. No other cell may be here.
import type { MatrixRow } from './rows.ts';

export interface PendingCells {
  readonly row: MatrixRow;
  /** Names of columns; undefined means all of the row. */
  readonly columns?: readonly string[];
  readonly because: string;
}

export const pendingCells: readonly PendingCells[] = [];
