// The only file that reads process.env in shared and functions. The bundles read names and hashes here, never a secret of their own; a provider's
// credential is read by the name that the gateway file gives it.
import { environmentNames, isStreamBudget, streamBudget } from '../constants/index.ts';
import { type AwsEnvironment, readAwsEnvironment, type Variables } from './aws-environment.ts';
import { type ReadTelemetry, readTelemetryEnvironment, type TelemetryEnvironment } from './telemetry-environment.ts';

export interface Environment {
  readonly stage: string;
  /** Suffix of restored tables that replace those of the stage, if any. */
  readonly tableSuffix?: string | undefined;
  /** Name or ARN of the secret with the accepted origin secrets. Absent: none is asked for. */
  readonly originSecret?: string | undefined;
  readonly logLevel: 'info' | 'error' | 'silent';
  /** Version of the running code, where a deployment shifts calls from one to the next; if absent, none is logged. */
  readonly version?: string | undefined;
  /** Absent: the default. */
  readonly streamBudgetSeconds?: number | undefined;
  /** Budget of images, speech and transcriptions. Absent: that of a stream. */
  readonly slowAnswerSeconds?: number | undefined;
  /** Calls that the stage can run at once. Absent: nothing bounds them. */
  readonly stageConcurrency?: number | undefined;
  /** Limit of keys without one of their own; if absent, none. */
  readonly keyRequestsPerMinute?: number | undefined;
  /** Bound of the requests and answers that the process keeps; if absent, the default. */
  readonly bytesInUseMax?: number | undefined;
  /** Absent: no traces are sent. */
  readonly telemetry?: TelemetryEnvironment | undefined;
  /** Telemetry variables without effect. */
  readonly telemetryNotes?: ReadTelemetry['notes'] | undefined;
  /** A function of Lambda: it has one call at a time. */
  readonly isFunction?: boolean | undefined;
  /** Beginning of the public ids of keys that are made here, if any. */
  readonly cell?: string | undefined;
  /** Where clients call. Absent: where the console is. */
  readonly gatewayUrl?: string | undefined;
  /** Absent: nothing is used of AWS but the tables. */
  readonly aws?: AwsEnvironment | undefined;
}

const logLevels = ['info', 'error', 'silent'] as const;
/** Two digits of base 62. */
const cellShape = /^[0-9A-Za-z]{2}$/;
/** A name, or the ARN of a secret. */
const secretIdShape = /^[\w/+=.@:-]{1,512}$/;

/** Throws with the name of the variable that is missing or malformed; its value is not repeated. */
export function readEnvironment(variables: Variables = process.env): Environment {
  const stage = variables[environmentNames.stage] ?? '';
  if (!/^[A-Za-z0-9-]{1,32}$/.test(stage)) throw new Error(`${environmentNames.stage} must name a stage`);
  const originSecret = readSecretId(variables, environmentNames.originSecret);
  const level = variables[environmentNames.logLevel] ?? 'info';
  const logLevel = logLevels.find((known) => known === level);
  if (logLevel === undefined) throw new Error(`${environmentNames.logLevel} must be one of ${logLevels.join(', ')}`);
  const streamBudgetSeconds =
    readBudget(variables, environmentNames.streamBudgetSeconds) ?? streamBudget.defaultSeconds;
  const slowAnswerSeconds = readBudget(variables, environmentNames.slowAnswerSeconds);
  const bytesInUseMax = readBytesInUseMax(variables);
  const { telemetry, notes: telemetryNotes } = readTelemetryEnvironment(variables);
  const tableSuffix = variables[environmentNames.tableSuffix];
  const cell = readCell(variables[environmentNames.cell]);
  const gatewayUrl = readGatewayUrl(variables[environmentNames.gatewayUrl]);
  const aws = readAwsEnvironment(variables);
  const limits = { streamBudgetSeconds, slowAnswerSeconds, ...readStageLimits(variables), bytesInUseMax };
  const version = variables.AWS_LAMBDA_FUNCTION_VERSION ?? variables[environmentNames.version];
  return {
    stage,
    originSecret,
    logLevel,
    version,
    ...limits,
    telemetry,
    telemetryNotes,
    tableSuffix,
    cell,
    gatewayUrl,
    aws,
  };
}

/** Bounds of the calls of a deployed stage, and where they run. */
export const readStageLimits = (variables: Variables = process.env) => ({
  stageConcurrency: readCount(variables, environmentNames.stageConcurrency),
  keyRequestsPerMinute: readCount(variables, environmentNames.keyRequestsPerMinute),
  isFunction: variables.AWS_LAMBDA_FUNCTION_NAME !== undefined,
});

function readCount(variables: Variables, name: string, least = 1): number | undefined {
  const text = variables[name];
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= least) return count;
  throw new Error(`${name} must be a whole number of at least ${least}, or not be set`);
}

/** Least bound: a body of the largest size and its parsed form must fit. */
const bytesInUseLeast = 32 * 1024 * 1024;

/**
 * Bound of the requests and answers that a process keeps in memory. Returns undefined for the default; throws on a
 * malformed value.
 */
export const readBytesInUseMax = (variables: Variables = process.env): number | undefined =>
  readCount(variables, environmentNames.bytesInUseMax, bytesInUseLeast);

function readCell(text: string | undefined): string | undefined {
  if (text === undefined || cellShape.test(text)) return text;
  throw new Error(`${environmentNames.cell} must be two letters or digits, or not be set`);
}

/** Validated, because it becomes part of a header. */
function readGatewayUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url?.protocol === 'https:') return url.href;
  throw new Error(`${environmentNames.gatewayUrl} must be a URL that begins with https://, or not be set`);
}

function readBudget(variables: Variables, name: string): number | undefined {
  const text = variables[name];
  if (text === undefined || isStreamBudget(Number(text))) return text === undefined ? undefined : Number(text);
  const { minSeconds, maxSeconds } = streamBudget;
  throw new Error(`${name} must be a whole number from ${minSeconds} to ${maxSeconds}, or not be set`);
}

/** A variable that is set without a name stops the start: otherwise no origin secret would be required. */
function readSecretId(variables: Variables, name: string): string | undefined {
  const text = variables[name];
  if (text === undefined || secretIdShape.test(text)) return text;
  throw new Error(`${name} must be the name or the ARN of a secret, or not be set`);
}

/** A variable that the gateway file names. Read at each use, so that a local run sees a change. */
export const readVariable = (name: string): string | undefined => process.env[name];
