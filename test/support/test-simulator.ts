// The provider simulator of a test. A fault that a test scripts and that was sent to no call fails the test, which
// would otherwise assert what no provider has done.
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';

type SimulatorOptions = NonNullable<Parameters<typeof startSimulator>[0]>;

/**
 * Streams have no pauses by default; the simulator's stop rejects if a scripted fault was never sent. `drawsFaults`:
 * calls, formats and faults meet at random, so some faults do not change their format's answer.
 */
export async function startTestSimulator({
  drawsFaults = false,
  ...options
}: SimulatorOptions & { readonly drawsFaults?: boolean } = {}): Promise<Simulator> {
  const simulator = await startSimulator({ paceMs: 0, ...options });
  return {
    ...simulator,
    async stop() {
      await simulator.stop();
      const unsent = drawsFaults ? [] : simulator.unsentFaults();
      if (unsent.length > 0) throw new Error(`the simulator never sent these faults: ${unsent.join(', ')}`);
    },
  };
}
