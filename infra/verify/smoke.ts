// Makes one call of each kind through the base URL that clients use, prints one line per check, and returns an exit
// code: `npm run smoke -- --stage NAME` (or `--url BASE_URL`). The smoke test writes only the calls themselves, and
// raises an alarm only if the operator agrees. The API key is read from GW_API_KEY.
import { parseArgs } from 'node:util';
import { startStopwatch, systemClock } from '../../shared/foundation/time/index.ts';
import { openAwsAccount } from '../cdk/aws-account.ts';
import { apiStackName } from '../cdk/resource-names.ts';
import { stageSettings } from '../cdk/stage-settings.ts';
import { processTerminal } from '../cli/output/terminal.ts';
import { printLine, runScript } from '../run-script.ts';
import { type SmokeOptions, smokeChecks } from './smoke/checks.ts';
import { openDeployedStage } from './smoke/deployed-stage.ts';

const usage =
  'GW_API_KEY=sk-gw-… npm run smoke -- (--stage NAME [--profile NAME] [--region NAME] [--yes] | --url BASE_URL) [--model ID] [--function ID --input TEXT]';

/** Runs the checks, and stops at the first failure. Resolves with whether all checks passed. */
export async function runSmoke(options: SmokeOptions, print: (line: string) => void): Promise<boolean> {
  for (const [name, check] of Object.entries(smokeChecks(options))) {
    const passedMs = startStopwatch();
    const line = (verdict: string, text: string) =>
      print(`${verdict.padEnd(6)}${name.padEnd(10)}${`${passedMs().toFixed(0)} ms`.padEnd(10)}${text}`);
    try {
      line('ok', await check());
    } catch (error) {
      line('FAILS', error instanceof Error ? error.message : String(error));
      return false;
    }
  }
  return true;
}

/** Reads the arguments. Throws an Error with one line for the terminal. */
export function readSmokeArgs(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const names = { stage: text, url: text, profile: text, region: text, model: text, function: text, input: text };
  const { values } = parseArgs({ args: [...args], options: { ...names, yes: { type: 'boolean', default: false } } });
  const { stage, url, model = 'auto', function: id, input = 'Hello', profile, region, yes } = values;
  if ((stage === undefined) === (url === undefined)) throw new Error(`usage: ${usage}`);
  return { stage, url, model, storedFunction: id === undefined ? undefined : { id, input }, profile, region, yes };
}

async function readOptions(args: readonly string[]): Promise<SmokeOptions> {
  const { stage, url, model, storedFunction, profile, region, yes } = readSmokeArgs(args);
  const apiKey = process.env.GW_API_KEY;
  if (!apiKey) throw new Error('GW_API_KEY is not set; make a key with: npm run gw -- keys create');
  const at = (baseUrl: string) => ({ baseUrl: baseUrl.replace(/\/$/, ''), apiKey, model, storedFunction });
  if (stage === undefined) return at(String(url));
  const account = await openAwsAccount({ profile, region, defaultRegion: stageSettings[stage]?.region });
  const shell = { profile, region: account.region };
  const outputs: Readonly<Record<string, string>> = (await account.readStack(apiStackName(stage)))?.outputs ?? {};
  const baseUrl = outputs.BaseUrl;
  if (baseUrl === undefined) {
    throw new Error(`account ${account.account}, region ${account.region} has no deployed stage ${stage}`);
  }
  const confirm = yes ? async () => true : askOnTerminal();
  return { ...at(baseUrl), deployed: openDeployedStage({ stage, outputs, shell, clock: systemClock, confirm }) };
}

function askOnTerminal(): ((question: string) => Promise<boolean>) | undefined {
  const terminal = processTerminal(process);
  if (!terminal.canAsk) return undefined;
  return async (question) => /^y(es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim());
}

async function smoke(): Promise<void> {
  const options = await readOptions(process.argv.slice(2));
  printLine(`smoke test of ${options.baseUrl}`);
  process.exitCode = (await runSmoke(options, printLine)) ? 0 : 1;
}

if (import.meta.main) await runScript('smoke', smoke);
