// Which store a command works on: a stage in an AWS account, a DynamoDB server, or the folder of a local run.
import type { Input, OptionDefinition } from './input.ts';
import { UsageError } from './usage-error.ts';

export type Target =
  /** The tables of a stage, with the AWS credentials and the region of the shell. */
  | { readonly kind: 'stage'; readonly stage: string }
  /** A DynamoDB-compatible server that is running. */
  | { readonly kind: 'server'; readonly url: string; readonly stage: string }
  /** The data of `npm start -- --data DIR`, which may be running on it at the same time. */
  | { readonly kind: 'folder'; readonly folder: string; readonly stage: string };

/** The stage of every local run. */
const localStage = 'local';
/** What the bundles accept as a stage. */
const stagePattern = /^[A-Za-z0-9-]{1,32}$/;

export const targetOptions: Readonly<Record<string, OptionDefinition>> = {
  stage: { value: 'NAME', summary: 'the tables of this stage, with the AWS credentials and region of the shell' },
  dynamodb: { value: 'URL', summary: 'the server of `npm start -- --dynamodb URL`' },
  data: { value: 'DIR', summary: 'the folder of `npm start -- --data DIR`, which may be running meanwhile' },
};

/** Throws UsageError unless exactly one store is named. `--stage` beside `--dynamodb` is the stage on that server. */
export function readTarget(input: Pick<Input, 'text'>): Target {
  const [stage, url, folder] = [input.text('stage'), input.text('dynamodb'), input.text('data')];
  if (stage !== undefined && !stagePattern.test(stage)) throw new UsageError('--stage takes letters, digits and -');
  if (folder !== undefined && (url !== undefined || stage !== undefined)) {
    throw new UsageError('--data is a store of its own: leave out --stage and --dynamodb');
  }
  if (folder !== undefined) {
    if (folder === '') throw new UsageError('--data takes a folder');
    return { kind: 'folder', folder, stage: localStage };
  }
  if (url !== undefined) {
    if (!/^https?:\/\/[^/@]+\/?$/.test(url)) throw new UsageError('--dynamodb takes a URL as in http://127.0.0.1:8000');
    return { kind: 'server', url, stage: stage ?? localStage };
  }
  if (stage === undefined) throw new UsageError('say which store: --stage NAME, --dynamodb URL or --data DIR');
  return { kind: 'stage', stage };
}

export function describeTarget(target: Target): string {
  if (target.kind === 'stage') return `stage ${target.stage}`;
  return target.kind === 'server' ? target.url : target.folder;
}
