// Bounds connections before they have a request: their number, and the memory of unfinished heads. Beyond a bound the
// connection that has waited longest for its head is closed.

/** Maximum number of connections: far above the number of calls that one process serves at once. */
const connectionsDefaultMax = 10_000;
/** Maximum number of connections that have not sent a valid key: together with the heads less than 96 MiB. */
const strangersDefaultMax = 4_000;
const headsDefaultMaxBytes = 32 * 1024 * 1024;
/** Memory of a connection without a head: its socket, its parser and its stream. */
const connectionBytes = 24 * 1024;
/** Memory that the parser uses for an unfinished head, besides its text and lines. */
const headBaseBytes = 4 * 1024;

interface Closable {
  destroy(): unknown;
}

export interface OpenConnections {
  /**
   * Counts a new request on the connection. `hasKey` means that an earlier request of the connection had a valid key.
   */
  opened(connection: Closable, hasKey?: boolean): void;
  /** Counts the memory of further bytes of an unfinished head. */
  headCame(connection: Closable, bytes: number): void;
  /** Called when a request is served; also when the connection has ended, with `closed`. */
  headEnded(connection: Closable): void;
  /** Called when a request's key was found while the request is served. */
  keyFound(connection: Closable): void;
  /** Called when the answer has left. */
  answered(connection: Closable): void;
  closed(connection: Closable): void;
}

export interface ConnectionBounds {
  readonly connectionsMax?: number;
  readonly strangersMax?: number;
  readonly headsMaxBytes?: number;
  /** Called when a connection was closed at a bound, with the memory that it frees. */
  readonly released?: ((bytes: number) => void) | undefined;
}

/** Connections without a request. */
class Waiting {
  /** Bytes of unfinished heads, the oldest head first. */
  readonly heads = new Map<Closable, number>();
  /** Connections without any byte of a head, the longest waiting first. */
  readonly silent = new Set<Closable>();

  oldest(): Closable | undefined {
    const [oldest] = this.heads.size > 0 ? this.heads.keys() : this.silent;
    return oldest;
  }
}

export function createOpenConnections({
  connectionsMax = connectionsDefaultMax,
  strangersMax = strangersDefaultMax,
  headsMaxBytes = headsDefaultMaxBytes,
  released = () => {},
}: ConnectionBounds = {}): OpenConnections {
  const all = new Set<Closable>();
  /** Connections that have not sent a valid key. */
  const strangers = new Set<Closable>();
  const [ofStrangers, ofOthers] = [new Waiting(), new Waiting()];
  let headBytes = 0;

  const groupOf = (connection: Closable): Waiting => (strangers.has(connection) ? ofStrangers : ofOthers);
  function headEnded(connection: Closable): void {
    const { heads, silent } = groupOf(connection);
    headBytes -= heads.get(connection) ?? 0;
    heads.delete(connection);
    silent.delete(connection);
  }
  function closed(connection: Closable): void {
    headEnded(connection);
    all.delete(connection);
    strangers.delete(connection);
  }
  /** Closes a connection; its own event comes later. */
  function close(connection: Closable): void {
    released(connectionBytes + (groupOf(connection).heads.get(connection) ?? 0));
    closed(connection);
    connection.destroy();
  }

  return {
    opened(connection, hasKey = false) {
      const areStrangersFull = !hasKey && strangers.size >= strangersMax;
      if (areStrangersFull || all.size >= connectionsMax) {
        const oldest = ofStrangers.oldest() ?? (areStrangersFull ? undefined : ofOthers.oldest());
        close(oldest ?? connection);
        if (oldest === undefined) return;
      }
      all.add(connection);
      if (!hasKey) strangers.add(connection);
      groupOf(connection).silent.add(connection);
    },
    headCame(connection, bytes) {
      if (!all.has(connection)) return;
      const { heads, silent } = groupOf(connection);
      silent.delete(connection);
      const countedBytes = heads.get(connection) ?? 0;
      const addedBytes = countedBytes === 0 ? headBaseBytes + bytes : bytes;
      heads.set(connection, countedBytes + addedBytes);
      headBytes += addedBytes;
      while (headBytes > headsMaxBytes) {
        const [oldest] = ofStrangers.heads.size > 0 ? ofStrangers.heads.keys() : ofOthers.heads.keys();
        if (oldest === undefined) break;
        close(oldest);
      }
    },
    headEnded,
    keyFound(connection) {
      // The head of its next request may have begun.
      const bytes = ofStrangers.heads.get(connection);
      ofStrangers.heads.delete(connection);
      ofStrangers.silent.delete(connection);
      if (strangers.delete(connection) && bytes !== undefined) ofOthers.heads.set(connection, bytes);
    },
    answered(connection) {
      if (all.has(connection)) groupOf(connection).silent.add(connection);
    },
    closed,
  };
}
