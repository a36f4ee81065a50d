// `npm run deploy -- --stage NAME [-- flags of cdk]`: deploys both stacks of one stage, data first, with the CDK of this project.
// Before anything is built it prints account and region and checks what would fail, or lose something, later.
import { runScript } from '../run-script.ts';
import { deployStage } from './deployment/deploy-stage.ts';
import { findImageBuilder, runCdk } from './deployment/run-cdk.ts';
import { stageSettings } from './stage-settings.ts';

const surroundings = {
  stages: stageSettings,
  print: (line: string) => void process.stdout.write(`${line}\n`),
  findImageBuilder: () => findImageBuilder(process.env.CDK_DOCKER),
  runCdk,
};

if (import.meta.main) await runScript('deploy', () => deployStage(process.argv.slice(2), surroundings));
