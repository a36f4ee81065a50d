// The whole life of a stage in an emulated AWS (MiniStack), with the commands that an operator types. What the emulator
// does not do is said beside the result.
import { join } from 'node:path';
import { startSimulator } from '../../local/simulator/index.ts';
import { startEmulator } from '../emulator.ts';
import { ministackRequirement } from '../second-engine.ts';
import { pythonProgram, type Step } from '../verify-step.ts';
import { account, region } from './emulated-account.ts';
import { liveDisposably, liveProtected } from './lives.ts';
import { createOperator } from './operator-commands.ts';
import { copyProject } from './project-copy.ts';

const weaker =
  'weaker than AWS: streams are buffered, IAM and templates hardly checked; no import, TTL, encryption, throughput limits, bucket lifecycle, frozen processes';

const preload = join(import.meta.dirname, 'lambda-globals.cjs');

export const emulatedStage: Step = {
  name: 'stage',
  async run() {
    const program = await pythonProgram(ministackRequirement, 'ministack');
    const variablesOf = (port: number) => ({
      GATEWAY_PORT: String(port),
      LOG_LEVEL: 'WARNING',
      NODE_OPTIONS: `--require=${preload}`,
    });
    const emulator = await startEmulator({ program, variablesOf });
    const simulator = await startSimulator({ paceMs: 0 });
    const project = copyProject();
    try {
      const operator = createOperator({ emulatorUrl: emulator.url, project, simulator });
      await operator.bootstrap(`aws://${account}/${region}`);
      await liveDisposably(operator, project);
      await liveProtected(operator, project);
      return `deployed, called, changed, destroyed and deployed again, with and without CloudFront; protected and retained (${weaker})`;
    } finally {
      project.remove();
      await simulator.stop();
      await emulator.stop();
    }
  },
};
