// Reads which store a command works on: a stage in an AWS account, a DynamoDB server, or the folder of a local run.
import { programs, storeCallTimeoutMs } from '../../../shared/foundation/constants/index.ts';
import { type ParseOption, UsageError } from '../args/option-values.ts';

/** The tables of a stage, with the AWS credentials and the region of the shell or of the command line. */
export interface StageTarget {
  readonly kind: 'stage';
  readonly stage: string;
  readonly profile: string | undefined;
  readonly region: string | undefined;
}

export type Target =
  | StageTarget
  /** A DynamoDB-compatible server that is running. */
  | { readonly kind: 'server'; readonly url: string; readonly stage: string }
  /** The data of `npm start -- --data DIR`, which may be running on the data at the same time. */
  | { readonly kind: 'folder'; readonly folder: string };

export interface TargetOptions {
  readonly stage?: string;
  readonly profile?: string;
  readonly region?: string;
  readonly dynamodb?: string;
  readonly data?: string;
}

/** The stage of every local run. */
export const localStage = 'local';

/** Returns a parser of text that matches a pattern. `form` describes the valid form for the message. */
const matching =
  (pattern: RegExp, description: string): ParseOption =>
  (name, text) => {
    if (pattern.test(text)) return text;
    throw new UsageError(`${name} takes ${description}`);
  };

export const targetUsage = '(--stage NAME [--profile NAME] [--region NAME] | --dynamodb URL | --data DIR)';
export const targetOptionGroup = 'store:';
export const targetOptions = [
  {
    flags: '--stage <NAME>',
    summary: 'the tables of this stage, with the AWS credentials and region of the shell',
    // The same stage names that the bundles accept.
    read: matching(/^[A-Za-z0-9-]{1,32}$/, 'letters, digits and -'),
  },
  {
    flags: '--profile <NAME>',
    summary: 'for --stage: this profile of the AWS configuration',
    read: matching(/^[\x21-\x7e]{1,128}$/, 'the name of a profile'),
  },
  {
    flags: '--region <NAME>',
    summary: 'for --stage: this AWS region',
    read: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'an AWS region such as eu-west-1'),
  },
  {
    flags: '--dynamodb <URL>',
    summary: `the server of \`${programs.start} --dynamodb URL\``,
    read: matching(/^https?:\/\/[^/@]+\/?$/, 'a URL as in http://127.0.0.1:8000'),
  },
  {
    flags: '--data <DIR>',
    summary: `the folder of \`${programs.start} --data DIR\`, which may be running meanwhile; default: the variable GW_DATA`,
    read: matching(/./, 'a folder'),
  },
] as const;

/**
 * Reads the target. Throws UsageError unless exactly one store is named. `--stage` with `--dynamodb` is the stage on
 * that server. `dataDefault` is the folder of a command line that names no store.
 */
export function readTarget(
  { stage, profile, region, dynamodb, data }: TargetOptions,
  dataDefault: string | undefined,
): Target {
  if (data !== undefined && (dynamodb !== undefined || stage !== undefined)) {
    throw new UsageError('--data is a store of its own: leave out --stage and --dynamodb');
  }
  if ((profile ?? region) !== undefined && (stage === undefined || dynamodb !== undefined)) {
    throw new UsageError('--profile and --region say where in AWS the stage is: they need --stage');
  }
  if (data !== undefined) return { kind: 'folder', folder: data };
  if (dynamodb !== undefined) return { kind: 'server', url: dynamodb, stage: stage ?? localStage };
  if (stage === undefined && (dataDefault ?? '') !== '') return { kind: 'folder', folder: String(dataDefault) };
  if (stage === undefined) {
    throw new UsageError('say which store: --stage NAME, --dynamodb URL or --data DIR (or the variable GW_DATA)');
  }
  return { kind: 'stage', stage, profile, region };
}

/** Throws UsageError for a local store. `reason` describes what the operator does instead on a local store. */
export function requireStage(target: Target, reason: string): StageTarget {
  if (target.kind === 'stage') return target;
  throw new UsageError(`needs --stage: ${reason}`);
}

export function describeTarget(target: Target): string {
  if (target.kind === 'stage') return `stage ${target.stage}`;
  return target.kind === 'server' ? target.url : target.folder;
}

/**
 * Time limit of a command's call to a store that may be far away. From another continent a new connection alone takes
 * as long as a whole call inside the region.
 */
export const commandCallTimeoutMs = 10 * storeCallTimeoutMs;

export const noTablesIn = (target: Target): string =>
  `there are no tables in ${describeTarget(target)} yet: apply a gateway file first`;
