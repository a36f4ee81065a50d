// Optimistic locking: read, plan, write on condition that nothing was written in between, and again where something was.

/**
 * A try is refused only where another write was made, so that of this many writers at the same moment each gets its turn. Gateways
 * that start together apply the same file together; operators change different members of one thing.
 */
const triesMax = 64;

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
