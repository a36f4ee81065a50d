// Optimistic locking: read, plan, write on condition that nothing was written in between, and again where something was.

/** Gateways that start together apply the same file together; the second read shows each that the work is done. */
const triesMax = 3;

/**
 * `tryOnce` reads anew and gives undefined where its write was refused. `what` begins the sentence for the operator where
 * other writes keep coming in between: `the catalogue is`.
 */
export async function writeOptimistically<Value extends object | string>(
  what: string,
  tryOnce: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    const written = await tryOnce();
    if (written !== undefined) return written;
  }
  throw new Error(`${what} being changed by another writer: do it again`);
}
