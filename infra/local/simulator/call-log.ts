// Logs the calls to the simulated providers, in order of arrival, with their ends.

export interface LoggedRequest {
  /** The path segment before `/v1`, or `simulator` if there is none. */
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** All headers as received, credentials included, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The format of the call, such as `messages`; null if the path belongs to no format. */
  readonly format: string | null;
  /** The model as received. */
  readonly model: string | null;
  /** The behaviour that answered, or `not-found`, `wrong-credential`, `invalid-request`. */
  readonly behaviour: string;
  /** Body of the request; undefined if it is not JSON. */
  readonly body: unknown;
  readonly bodyText: string;
  readonly receivedAtMs: number;
  /** Beginning of the sent body. */
  answerText: string;
  /** Status of the answer; null while the call runs, and if nothing was sent. */
  status: number | null;
  /** Whether the answer was sent completely, broken off by the simulator, or abandoned by the client. */
  ended: boolean;
  /** Whether the client disconnected before its answer was complete. */
  closedEarly: boolean;
}

export interface CallLog {
  readonly calls: LoggedRequest[];
  /** Adds a call; returns how many earlier calls had the same provider and model. */
  readonly add: (call: LoggedRequest) => number;
  /** Must be called after every change of a call. */
  readonly changed: () => void;
  /** Forgets all calls and the counts of `flaky` and similar behaviours. */
  readonly clear: () => void;
  /** Resolves as soon as the condition is true; rejects when the log closes first. */
  readonly until: (condition: (calls: readonly LoggedRequest[]) => boolean) => Promise<void>;
  readonly close: () => void;
}

export function createCallLog(): CallLog {
  const calls: LoggedRequest[] = [];
  const counts = new Map<string, number>();
  const waiting = new Set<{ holds: () => boolean; resolve: () => void; reject: (reason: Error) => void }>();

  const notifyWaiters = () => {
    for (const waiter of waiting) {
      if (!waiter.holds()) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
  };
  return {
    calls,
    changed: notifyWaiters,
    add: (call) => {
      const key = JSON.stringify([call.provider, call.model]);
      const earlier = counts.get(key) ?? 0;
      counts.set(key, earlier + 1);
      calls.push(call);
      notifyWaiters();
      return earlier;
    },
    clear: () => {
      calls.length = 0;
      counts.clear();
    },
    until: (condition) =>
      new Promise((resolve, reject) => {
        waiting.add({ holds: () => condition(calls), resolve, reject });
        notifyWaiters();
      }),
    close: () => {
      for (const waiter of waiting) waiter.reject(new Error('The simulator stopped before this came true.'));
      waiting.clear();
    },
  };
}
