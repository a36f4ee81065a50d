// `npm run deploy -- --stage NAME [-- flags of cdk]`: deploys both stacks of one stage, data first, with the CDK of
// this project. Before anything is built it prints account and region, and checks for faults that would later stop the
// deployment or lose data.
import { systemClock } from '../../shared/foundation/time/index.ts';
import { printLine, runScript } from '../run-script.ts';
import { deployStage } from './deployment/deploy-stage.ts';
import { findImageBuilder, runCdk } from './deployment/run-cdk.ts';
import { stageSettings } from './stage-settings.ts';

/** Time limit of an answer; a function starts far faster. */
const answerMaxMs = 30_000;

const surroundings = {
  stages: stageSettings,
  print: printLine,
  findImageBuilder: () => findImageBuilder(process.env.CDK_DOCKER),
  runCdk,
  clock: systemClock,
  async ask(url: string, headers: Readonly<Record<string, string>>) {
    const signal = AbortSignal.timeout(answerMaxMs);
    const answer = await fetch(url, { headers, signal, redirect: 'manual' });
    return { status: answer.status, text: await answer.text() };
  },
};

if (import.meta.main) await runScript('deploy', () => deployStage(process.argv.slice(2), surroundings));
