// The provider simulator of a test. A fault that a test scripts and that no call was sent fails the test, which would
// else assert of a gateway what no provider has done; and so does a fault in a gateway file that no test of the suite
// calls.
import { afterAll, expect } from '#jest';
import { chooseBehaviour } from '../../infra/local/simulator/behaviours/registry.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { createFaultScript, type FaultScript } from './fault-script.ts';

type SimulatorOptions = NonNullable<Parameters<typeof startSimulator>[0]>;

export interface TestSimulator extends Simulator {
  /** Notes a model of a gateway file: if its name is a fault, a test of the suite has to call it. */
  expectFault(provider: string, model: string): void;
}

interface FileFaults {
  readonly script: FaultScript;
  readonly called: Set<string>;
}

/** The faults in the gateway files of each suite: tests of a suite may share a file of which each calls a part. */
const suites = new Map<string, FileFaults>();

export function fileFaultsOfSuite(): FileFaults {
  const { testPath = '' } = expect.getState();
  const known = suites.get(testPath);
  if (known !== undefined) return known;
  const script = createFaultScript('the simulator (in a run of all tests of the suite)');
  const faults = { script, called: new Set<string>() };
  suites.set(testPath, faults);
  afterAll(() => script.check());
  return faults;
}

const faultOf = (provider: string, model: string): string => `${model} of ${provider}`;

/**
 * Streams have no pauses by default; the simulator's stop rejects if a scripted fault was never sent. `drawsFaults`:
 * calls, formats and faults meet at random, so some faults do not change their format's answer.
 */
export async function startTestSimulator({
  drawsFaults = false,
  ...options
}: SimulatorOptions & { readonly drawsFaults?: boolean } = {}): Promise<TestSimulator> {
  const simulator = await startSimulator({ paceMs: 0, ...options });
  let expected: FileFaults | undefined;
  const noteCalls = () => {
    if (expected === undefined) return;
    for (const { provider, model } of simulator.calls) {
      const fault = faultOf(provider, String(model));
      expected.called.add(fault);
      expected.script.markSent(fault);
    }
  };
  return {
    ...simulator,
    expectFault(provider, model) {
      // A program that is no test, as the one that takes screenshots, has no suite.
      const isTest = expect !== undefined;
      if (!isTest || drawsFaults || !chooseBehaviour(model).isFault) return;
      expected ??= fileFaultsOfSuite();
      const fault = faultOf(provider, model);
      if (!expected.called.has(fault)) expected.script.script(fault);
    },
    clear() {
      noteCalls();
      simulator.clear();
    },
    async stop() {
      noteCalls();
      await simulator.stop();
      const unsent = drawsFaults ? [] : simulator.unsentFaults();
      if (unsent.length > 0) throw new Error(`the simulator never sent these faults: ${unsent.join(', ')}`);
    },
  };
}
