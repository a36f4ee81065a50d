// Bounds connections before they have a request: their number, and the bytes of unfinished heads. Beyond either bound
// the connection that has waited longest for its head is closed.

/** Far above the calls that one process serves at once. */
const connectionsDefaultMax = 10_000;
/** 2,000 of the longest heads. */
const headsDefaultMaxBytes = 32 * 1024 * 1024;

interface Closable {
  destroy(): unknown;
}

export interface OpenConnections {
  opened(connection: Closable): void;
  /** Counts further bytes of an unfinished head. */
  headCame(connection: Closable, bytes: number): void;
  /** A request is served now; or the connection has ended, with `closed`. */
  headEnded(connection: Closable): void;
  /** Called when the answer has left. */
  answered(connection: Closable): void;
  closed(connection: Closable): void;
}

export interface ConnectionBounds {
  readonly connectionsMax?: number;
  readonly headsMaxBytes?: number;
}

export function createOpenConnections({
  connectionsMax = connectionsDefaultMax,
  headsMaxBytes = headsDefaultMaxBytes,
}: ConnectionBounds = {}): OpenConnections {
  /** Connections with an unfinished head and its bytes, the oldest head first. */
  const inHead = new Map<Closable, number>();
  /** Connections without any byte of a head, the longest waiting first. */
  const silent = new Set<Closable>();
  const all = new Set<Closable>();
  let headBytes = 0;

  function headEnded(connection: Closable): void {
    headBytes -= inHead.get(connection) ?? 0;
    inHead.delete(connection);
    silent.delete(connection);
  }
  function closed(connection: Closable): void {
    headEnded(connection);
    all.delete(connection);
  }
  /** Closed connections say so themselves, but later. */
  function close(connection: Closable): void {
    closed(connection);
    connection.destroy();
  }

  return {
    opened(connection) {
      if (all.size >= connectionsMax) {
        const [oldest] = inHead.size > 0 ? inHead.keys() : silent;
        close(oldest ?? connection);
        if (oldest === undefined) return;
      }
      all.add(connection);
      silent.add(connection);
    },
    headCame(connection, bytes) {
      if (!all.has(connection)) return;
      silent.delete(connection);
      inHead.set(connection, (inHead.get(connection) ?? 0) + bytes);
      headBytes += bytes;
      for (const [oldest] of inHead) {
        if (headBytes <= headsMaxBytes) break;
        close(oldest);
      }
    },
    headEnded,
    answered(connection) {
      if (all.has(connection)) silent.add(connection);
    },
    closed,
  };
}
