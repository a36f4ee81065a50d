// Costs of a deployed gateway: list prices of AWS of November 2026 (us-east-1, arm64), and the arithmetic on them.
// Providers' bills, taxes and free tiers are not included. A test compares the tables of the READMEs with them.

import { callsPerTask, scaledAtShare, tasksDefault } from '../../infra/cdk/constructs/task-size.ts';

export const usdPrices = {
  perGbSecond: 0.0000133334,
  perMillionInvocations: 0.2,
  perMillionWriteUnits: 0.625,
  perLogGb: 0.5,
  perMillionDistributionRequests: 1,
  /** Traffic from CloudFront to clients. Without a distribution the price of traffic to providers applies. */
  perDistributionGb: 0.085,
  /** Clients' requests, from CloudFront to the functions. */
  perOriginGb: 0.02,
  /** Traffic from the functions to the Internet. */
  perEgressGb: 0.09,
  perAlarmMetricMonth: 0.1,
  perCustomMetricMonth: 0.3,
  /** CloudWatch metrics that a function reads. */
  perThousandMetricsRead: 0.01,
  perSecretMonth: 0.4,
  /** The same amount again applies to each of the first two rotations, a year apart. */
  perKeyMonth: 1,
  perMillionReadUnits: 0.125,
  /** Spans in CloudWatch. */
  perSpanGb: 0.35,
  /** Price of each dashboard beyond the three free ones of an account. */
  perDashboardMonth: 3,
  perTableGbMonth: 0.25,
  perRecoveryGbMonth: 0.2,
  perTaskProcessorHour: 0.03238,
  perTaskGbHour: 0.00356,
  perPublicAddressHour: 0.005,
  perBalancerHour: 0.0225,
  perBalancerUnitHour: 0.008,
  perWriteUnitHour: 0.00065,
  perReadUnitHour: 0.00013,
  /** Storage of PostgreSQL, one copy. */
  perDatabaseGbMonth: 0.115,
} as const;

const million = 1_000_000;
const bytesPerGb = 1_000_000_000;
const mbPerGb = 1_024;

/** Seconds that Lambda bills in addition to those of the provider. */
const ownSeconds = 0.05;
/** The log line of a call, its metrics included. */
export const logLineBytes = 1_800;
/** One chunk of a stream in OpenAI's format: one token, which is only a few of its characters. */
export const streamBytesPerToken = 266;
/** An answer of some 700 tokens, as JSON. */
export const jsonAnswerBytes = 4_000;
/** A prompt of some 1,000 tokens. */
export const promptBytes = 4_000;
/** Write units with every limit set, as measured by the bench's section `scale`. */
export const writeUnitsPerCall = 9.1;
/** Write units for a key with only the default limits, whose spending is shown, and a provider without limits. */
export const writeUnitsWithoutLimits = 6.2;

interface PricedCallKind {
  readonly seconds: number;
  readonly answerBytes: number;
  readonly promptBytes: number;
  readonly memoryMb: number;
  readonly writeUnits: number;
  readonly edge: 'cloudfront' | 'none';
}

export const usualCall: Omit<PricedCallKind, 'seconds'> = {
  answerBytes: jsonAnswerBytes,
  promptBytes,
  memoryMb: 512,
  writeUnits: writeUnitsPerCall,
  edge: 'cloudfront',
};

/** Returns USD per million calls, by item. A GB of a million calls is a KB of one call. */
export function callCosts({ seconds, memoryMb, writeUnits, edge, ...bytes }: PricedCallKind) {
  const hasEdge = edge === 'cloudfront';
  const gbOfMillion = (bytesOfOne: number) => (bytesOfOne * million) / bytesPerGb;
  const answerPrice = hasEdge ? usdPrices.perDistributionGb : usdPrices.perEgressGb;
  const promptPrice = usdPrices.perEgressGb + (hasEdge ? usdPrices.perOriginGb : 0);
  return {
    'Lambda time': million * (seconds + ownSeconds) * (memoryMb / mbPerGb) * usdPrices.perGbSecond,
    'Lambda requests': usdPrices.perMillionInvocations,
    DynamoDB: writeUnits * usdPrices.perMillionWriteUnits,
    logs: gbOfMillion(logLineBytes) * usdPrices.perLogGb,
    'answers to clients': gbOfMillion(bytes.answerBytes) * answerPrice,
    'prompts to providers': gbOfMillion(bytes.promptBytes) * promptPrice,
    CloudFront: hasEdge ? usdPrices.perMillionDistributionRequests : 0,
  };
}

export const sumOf = (costs: Readonly<Record<string, number>>): number =>
  Object.values(costs).reduce((total, usd) => total + usd, 0);

/** Parts of a stage that are billed by the month. */
interface StageParts {
  readonly keys: number;
  readonly secrets: number;
  /** Metrics that alarms read. */
  readonly alarmMetrics: number;
  /**
   * Number of functions that read the metrics of a distribution every five minutes, two each time, and write one of
   * their own.
   */
  readonly distributionWatches: number;
}

const daysPerMonth = 30;
const watchesPerDay = 288;

/** Returns USD a month for custom metrics that get a value in every hour. */
export const metricCosts = (metrics: number): number => metrics * usdPrices.perCustomMetricMonth;

/** Returns USD a month without a call. */
export const idleCosts = ({ keys, secrets, alarmMetrics, distributionWatches }: StageParts) => ({
  key: keys * usdPrices.perKeyMonth,
  secrets: secrets * usdPrices.perSecretMonth,
  alarms: alarmMetrics * usdPrices.perAlarmMetricMonth,
  watch:
    distributionWatches *
    (usdPrices.perCustomMetricMonth + (2 * watchesPerDay * daysPerMonth * usdPrices.perThousandMetricsRead) / 1_000),
});

/** A record of a call with one attempt, as it is stored. */
export const recordBytes = 1_500;
export const recordLifeMonths = 3;
/** Number of items (pointer, key and workspace) that a process reads again every five seconds while calls arrive. */
const freshReads = 3;
const readsPerHour = (3_600 / 5) * freshReads;
/**
 * Seconds from the start of the code to its first call, at the memory of a stage; measured on a machine of two cores,
 * times four.
 */
const startSeconds = 0.5;
/** A call with one attempt is two spans. */
const spanBytesPerCall = 3_000;

/** Small costs that are easily overlooked, each in USD for the amount in its name. */
export const smallCosts = {
  /** A month's million calls, every month, once records of 90 days are stored. */
  recordsOfAMillionCallsAMonth:
    ((million * recordBytes * recordLifeMonths) / bytesPerGb) *
    (usdPrices.perTableGbMonth + usdPrices.perRecoveryGbMonth),
  /** Ten processes that are called in every second of a month. */
  configurationReadsOfTenProcesses: (10 * 24 * daysPerMonth * readsPerHour * usdPrices.perMillionReadUnits) / million,
  aMillionStarts: million * startSeconds * (512 / mbPerGb) * usdPrices.perGbSecond,
  tracesOfAMillionCalls: ((million * spanBytesPerCall) / bytesPerGb) * usdPrices.perSpanGb,
} as const;

const hoursPerMonth = 730;
const secondsPerHour = 3_600;

/** Calls at a constant rate, all month. */
export interface SteadyLoad {
  readonly callsPerSecond: number;
  readonly seconds: number;
  readonly answerBytes: number;
  readonly promptBytes: number;
  /** Processor time of a task for each call. */
  readonly cpuMs: number;
}

/**
 * Processor time of a task for each call, as measured once on a quiet machine. With 1,000 calls of 10 s in flight each
 * took 6.8 ms (5.1 ms later), and each chunk of a stream 0.054 ms. A stream has a chunk for each token.
 */
export const taskCpuMs = { json: 6.8, perStreamedToken: 0.054 } as const;
/** Share of the processor at which the service starts another task. */
const processorShare = 0.5;
/** Capacity of one unit of a load balancer in an hour: bytes, and simultaneous connections. */
const [unitBytesPerHour, unitConnections] = [bytesPerGb, 3_000];

/** Returns USD a month for the time of functions. */
export function functionsMonth({ callsPerSecond, seconds }: SteadyLoad): number {
  const costs = callCosts({ ...usualCall, seconds });
  const millions = (callsPerSecond * secondsPerHour * hoursPerMonth) / million;
  return millions * (costs['Lambda time'] + costs['Lambda requests']);
}

/** Returns the number of tasks, at least two, whose load is below the load that starts another task. */
export const tasksFor = ({ callsPerSecond, seconds, cpuMs }: SteadyLoad): number =>
  Math.max(
    tasksDefault.min,
    Math.ceil((callsPerSecond * seconds) / (callsPerTask(tasksDefault) * scaledAtShare)),
    Math.ceil((callsPerSecond * cpuMs) / 1_000 / processorShare),
  );

/** USD a month for one task, with its address. */
const taskMonth =
  hoursPerMonth *
  ((tasksDefault.cpu / 1_024) * usdPrices.perTaskProcessorHour +
    (tasksDefault.memoryMiB / mbPerGb) * usdPrices.perTaskGbHour +
    usdPrices.perPublicAddressHour);
export const balancerMonth = hoursPerMonth * usdPrices.perBalancerHour;

/** Returns USD a month for the load balancer's use. */
export function balancerUseMonth({ callsPerSecond, seconds, answerBytes, promptBytes }: SteadyLoad): number {
  const byBytes = (callsPerSecond * secondsPerHour * (answerBytes + promptBytes)) / unitBytesPerHour;
  const byConnections = (callsPerSecond * seconds) / unitConnections;
  return hoursPerMonth * Math.max(byBytes, byConnections) * usdPrices.perBalancerUnitHour;
}

/** Returns USD a month for tasks and their load balancer. */
export const tasksMonth = (load: SteadyLoad): number =>
  tasksFor(load) * taskMonth + balancerMonth + balancerUseMonth(load);

/** Returns the calls a second of this kind above which tasks cost less. */
export function breakEven(kind: Omit<SteadyLoad, 'callsPerSecond'>): number {
  const of = (callsPerSecond: number) => ({ ...kind, callsPerSecond });
  // Two tasks are enough for the comparison; both sides grow in proportion.
  const fixed = tasksDefault.min * taskMonth + balancerMonth;
  return fixed / (functionsMonth(of(1)) - balancerUseMonth(of(1)));
}
