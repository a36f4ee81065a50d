// Limits the number of open connections, and the memory of unfinished request heads. At a limit a connection that waits
// for a request is closed. A connection without a valid key is closed before others, a connection with an unfinished
// head before an idle connection, and among equal connections the longest-waiting connection.

/** Maximum number of connections, which is far above the number of calls that one process serves at once. */
const connectionsDefaultMax = 10_000;
/**
 * Maximum number of connections that have not sent a valid key. The memory of these connections is less than 96 MiB.
 */
const unauthenticatedDefaultMax = 4_000;
const headsDefaultMaxBytes = 32 * 1024 * 1024;
/** Memory that a connection uses before it sends a head, for its socket, its parser and its stream. */
const connectionBytes = 24 * 1024;
/** Memory that the parser uses for an unfinished head, besides its text and lines. */
const headBaseBytes = 4 * 1024;

interface Closable {
  destroy(): unknown;
}

export interface OpenConnections {
  /**
   * Adds a connection, or a stream of a connection, that waits for a request. `hasKey` is true if an earlier request of
   * its client had a valid key.
   */
  add(connection: Closable, hasKey?: boolean): void;
  /** Counts further bytes of an unfinished head. */
  addHeadBytes(connection: Closable, bytes: number): void;
  /** Called when the head is complete and the request is served. `remove` does the same for a closed connection. */
  endHead(connection: Closable): void;
  /** Called when the key of the request that is being served is valid. */
  markAuthenticated(connection: Closable): void;
  /** Called when the whole answer is sent, so that the connection waits for its next request. */
  markIdle(connection: Closable): void;
  remove(connection: Closable): void;
}

export interface ConnectionBounds {
  readonly connectionsMax?: number;
  readonly unauthenticatedMax?: number;
  readonly headsMaxBytes?: number;
  /** Called when a connection was closed at a limit, with the memory that it frees. */
  readonly onClose?: ((bytes: number) => void) | undefined;
}

/** Connections that wait for a request. */
class WaitingConnections {
  /** Bytes of unfinished heads, the oldest head first. */
  readonly heads = new Map<Closable, number>();
  /** Connections without any byte of a head, the longest waiting first. */
  readonly idle = new Set<Closable>();

  oldest(): Closable | undefined {
    const [oldest] = this.heads.size > 0 ? this.heads.keys() : this.idle;
    return oldest;
  }
}

export function createOpenConnections({
  connectionsMax = connectionsDefaultMax,
  unauthenticatedMax = unauthenticatedDefaultMax,
  headsMaxBytes = headsDefaultMaxBytes,
  onClose = () => {},
}: ConnectionBounds = {}): OpenConnections {
  const all = new Set<Closable>();
  /** Connections that have not sent a valid key. */
  const unauthenticated = new Set<Closable>();
  const [waitingUnauthenticated, waitingAuthenticated] = [new WaitingConnections(), new WaitingConnections()];
  let headBytes = 0;

  const groupOf = (connection: Closable): WaitingConnections =>
    unauthenticated.has(connection) ? waitingUnauthenticated : waitingAuthenticated;
  function endHead(connection: Closable): void {
    const { heads, idle } = groupOf(connection);
    headBytes -= heads.get(connection) ?? 0;
    heads.delete(connection);
    idle.delete(connection);
  }
  function remove(connection: Closable): void {
    endHead(connection);
    all.delete(connection);
    unauthenticated.delete(connection);
  }
  /** Closes a connection. Its `close` event follows and calls `remove` again, which then changes nothing. */
  function evict(connection: Closable): void {
    onClose(connectionBytes + (groupOf(connection).heads.get(connection) ?? 0));
    remove(connection);
    connection.destroy();
  }

  return {
    add(connection, hasKey = false) {
      const areUnauthenticatedFull = !hasKey && unauthenticated.size >= unauthenticatedMax;
      if (areUnauthenticatedFull || all.size >= connectionsMax) {
        const oldest =
          waitingUnauthenticated.oldest() ?? (areUnauthenticatedFull ? undefined : waitingAuthenticated.oldest());
        evict(oldest ?? connection);
        if (oldest === undefined) return;
      }
      all.add(connection);
      if (!hasKey) unauthenticated.add(connection);
      groupOf(connection).idle.add(connection);
    },
    addHeadBytes(connection, bytes) {
      if (!all.has(connection)) return;
      const { heads, idle } = groupOf(connection);
      idle.delete(connection);
      const countedBytes = heads.get(connection) ?? 0;
      const addedBytes = countedBytes === 0 ? headBaseBytes + bytes : bytes;
      heads.set(connection, countedBytes + addedBytes);
      headBytes += addedBytes;
      while (headBytes > headsMaxBytes) {
        const [oldest] =
          waitingUnauthenticated.heads.size > 0
            ? waitingUnauthenticated.heads.keys()
            : waitingAuthenticated.heads.keys();
        if (oldest === undefined) break;
        evict(oldest);
      }
    },
    endHead,
    markAuthenticated(connection) {
      // The connection changes its group. A head of its next request may already be counted in the former group.
      const bytes = waitingUnauthenticated.heads.get(connection);
      waitingUnauthenticated.heads.delete(connection);
      waitingUnauthenticated.idle.delete(connection);
      if (unauthenticated.delete(connection) && bytes !== undefined) waitingAuthenticated.heads.set(connection, bytes);
    },
    markIdle(connection) {
      if (all.has(connection)) groupOf(connection).idle.add(connection);
    },
    remove,
  };
}
