// Reads the environment. This is the only file that reads process.env in shared and functions. The gateway reads names
// and hashes from it, never a secret of the gateway; a provider's credential is read from the variable that the gateway
// file names.
import { environmentNames, isStreamBudget, streamBudget } from '../constants/index.ts';
import { type AwsEnvironment, readAwsEnvironment, type Variables } from './aws-environment.ts';
import { type ReadTelemetry, readTelemetryEnvironment, type TelemetryEnvironment } from './telemetry-environment.ts';

export interface Environment {
  readonly stage: string;
  /** Suffix of restored tables that replace the stage's own, if any. */
  readonly tableSuffix?: string | undefined;
  /** Name or ARN of the secret with the accepted origin secrets. Absent: no origin secret is required. */
  readonly originSecret?: string | undefined;
  readonly logLevel: 'info' | 'error' | 'silent';
  /**
   * Version of the running code, if a deployment shifts calls from one version to the next. Absent: no version is
   * logged.
   */
  readonly version?: string | undefined;
  /** Seconds that a stream may take. Absent: the default. */
  readonly streamBudgetSeconds?: number | undefined;
  /** Budget of images, speech and transcriptions. Absent: the budget of a stream. */
  readonly slowAnswerSeconds?: number | undefined;
  /** Number of calls that the stage can run at once. Absent: no bound. */
  readonly stageConcurrency?: number | undefined;
  /** Requests per minute of keys that set no limit. Absent: no limit. */
  readonly keyRequestsPerMinute?: number | undefined;
  /** Bound in bytes of the requests and answers in memory. Absent: the default. */
  readonly bytesInUseMax?: number | undefined;
  /** Destination of traces. Absent: no traces are sent. */
  readonly telemetry?: TelemetryEnvironment | undefined;
  /** Telemetry variables without effect. */
  readonly telemetryNotes?: ReadTelemetry['notes'] | undefined;
  /** True in a Lambda function, which runs one call at a time. */
  readonly isFunction?: boolean | undefined;
  /** Prefix of the public ids of keys that are made here, if any. */
  readonly cell?: string | undefined;
  /** URL that clients call. If absent, clients call the console's own URL. */
  readonly gatewayUrl?: string | undefined;
  /** AWS resources other than tables. Absent: no such resource is used. */
  readonly aws?: AwsEnvironment | undefined;
}

const logLevels = ['info', 'error', 'silent'] as const;
/** Pattern of a cell: two digits of base 62. */
const cellShape = /^[0-9A-Za-z]{2}$/;
/** Pattern of a secret's name or ARN. */
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

/** Reads the bounds of the calls of a deployed stage. */
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

/** Least value of the bound, because a body of the largest size and its parsed form must fit. */
const bytesInUseLeast = 32 * 1024 * 1024;

/**
 * Returns the bound of the requests and answers that a process keeps in memory, undefined for the default. Throws on a
 * malformed value.
 */
export const readBytesInUseMax = (variables: Variables = process.env): number | undefined =>
  readCount(variables, environmentNames.bytesInUseMax, bytesInUseLeast);

function readCell(text: string | undefined): string | undefined {
  if (text === undefined || cellShape.test(text)) return text;
  throw new Error(`${environmentNames.cell} must be two letters or digits, or not be set`);
}

/** Validates the URL, because it becomes part of a header. */
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

/** A variable that is set without a name stops the start, because otherwise no origin secret would be required. */
function readSecretId(variables: Variables, name: string): string | undefined {
  const text = variables[name];
  if (text === undefined || secretIdShape.test(text)) return text;
  throw new Error(`${name} must be the name or the ARN of a secret, or not be set`);
}

/** Reads a variable that the gateway file names. It is read at each use, so that a local run sees a change. */
export const readVariable = (name: string): string | undefined => process.env[name];
