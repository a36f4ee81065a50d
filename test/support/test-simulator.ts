// The provider simulator of a test: a fault that a test scripts and that no call was sent fails the test, which would
// else assert of a gateway what no provider has done.
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';

type SimulatorOptions = NonNullable<Parameters<typeof startSimulator>[0]>;

/**
 * Streams without pauses by default; its stop rejects where a scripted fault was never sent. `drawsFaults`: calls,
 * formats and faults meet by chance, so that some leave the answer of their format as it is.
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
