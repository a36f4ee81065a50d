// Checks a stage without an AWS account (`npm run verify:aws [-- NAME…]`), from the cheapest check to the most
// expensive, one line per step. A step whose tool is missing is skipped and reports this. No step repeats `npm test`.
import { startStopwatch } from '../../shared/foundation/time/index.ts';
import { runScript } from '../run-script.ts';
import { cfnLint } from './cfn-lint.ts';
import { emulatedStage } from './emulated-stage/emulated-stage.ts';
import { secondEngine } from './emulator.ts';
import { runtime } from './runtime/runtime.ts';
import { Skipped, type VerifyStep } from './verify-step.ts';

const steps: readonly VerifyStep[] = [cfnLint, runtime, secondEngine, emulatedStage];

async function runStep(step: VerifyStep): Promise<boolean> {
  const passedMs = startStopwatch();
  const print = (verdict: string, text: string) => {
    const seconds = `${(passedMs() / 1_000).toFixed(0)} s`;
    process.stdout.write(`${verdict.padEnd(8)}${step.name.padEnd(13)}${seconds.padEnd(7)}${text}\n`);
  };
  try {
    print('ok', await step.run());
    return true;
  } catch (error) {
    if (error instanceof Skipped) {
      print('skipped', error.message);
      return true;
    }
    print('FAILS', error instanceof Error ? error.message : String(error));
    return false;
  }
}

async function verify(names: readonly string[]): Promise<void> {
  const unknown = names.find((name) => !steps.some((step) => step.name === name));
  if (unknown !== undefined) {
    throw new Error(`there is no ${unknown}; known: ${steps.map(({ name }) => name).join(', ')}`);
  }
  for (const step of steps.filter(({ name }) => names.length === 0 || names.includes(name))) {
    if (!(await runStep(step))) process.exitCode = 1;
  }
}

await runScript('verify', () => verify(process.argv.slice(2)));
