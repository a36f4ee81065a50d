// The faults that a test has scripted. Each has to be sent: without that a test asserts of the gateway what no server
// has done.

export interface FaultScript {
  /** Notes a fault that has to be sent. */
  script(fault: string): void;
  markSent(fault: string): void;
  /** Throws if a scripted fault was never sent. */
  check(): void;
}

/** `server` names the server in the error. */
export function createFaultScript(server: string): FaultScript {
  const unsent = new Set<string>();
  return {
    script: (fault) => void unsent.add(fault),
    markSent: (fault) => void unsent.delete(fault),
    check() {
      if (unsent.size > 0) throw new Error(`${server} never sent these faults: ${[...unsent].join(', ')}`);
    },
  };
}
