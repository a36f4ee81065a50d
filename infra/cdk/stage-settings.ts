// Every environment of this gateway, once. To add one, add an entry: a name in lower case and its settings.
// Time limits are not settings: they stand in one fixed order in shared/foundation/constants (55 s < 60 s < 65 s < 70 s).
import { Aws } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** Both are made beforehand, and in us-east-1, where CloudFront looks for them. */
export interface CustomDomain {
  /** As clients write them. Their DNS records point at the output DistributionDomainName; no zone is touched. */
  readonly domainNames: readonly [string, ...string[]];
  readonly certificateArn: string;
}

export interface StageSettings {
  /**
   * What runs the gateway: two Lambda functions, one request per environment; or one Lambda Web Function, many requests
   * per environment, billed for active processor time. The second was never verified on a live account.
   */
  readonly compute: 'functions' | 'web';
  /**
   * Memory of each function in MB. Processor time grows with it, and so does the price of waiting for a provider. A Web
   * Function has 2 GB, whatever stands here.
   */
  readonly memoryMb: number;
  /**
   * Chat calls that may run at once, as a fuse against runaway cost. Null: whatever the account's pool gives; new
   * accounts have ten in all and cannot reserve any, so ask for more first.
   */
  readonly chatReservedConcurrency: number | null;
  /** The same for the model listing. */
  readonly modelsReservedConcurrency: number | null;
  /** The same fuse for a Web Function: environments of 64 requests each, at least two. Null: the account's quota. */
  readonly webEnvironmentsMax: number | null;
  /** Days after which log lines are deleted. */
  readonly logRetention: RetentionDays;
  /** What happens to tables and provider credentials when the data stack or one of them is removed from it. */
  readonly removal: 'retain' | 'destroy';
  /** Restore of any second of the last 35 days, for every table; costs by stored size. */
  readonly pointInTimeRecovery: boolean;
  /** DynamoDB refuses to delete the tables, whoever asks, until this is off. */
  readonly deletionProtection: boolean;
  /** CloudFormation refuses to delete the data stack until this is off. */
  readonly terminationProtection: boolean;
  /** Reads per second each table may be billed for. Null: no ceiling. Beyond it requests are refused with a 503. */
  readonly tableReadsPerSecondMax: number | null;
  /** Writes per second each table may be billed for. Null: no ceiling. Beyond it requests are refused with a 503. */
  readonly tableWritesPerSecondMax: number | null;
  /** What stands in front: a CloudFront distribution, or none, and clients call the chat function's own URL. */
  readonly edge: 'cloudfront' | 'none';
  /** Names of your own for the distribution. Null: its name under cloudfront.net. Needs a distribution. */
  readonly customDomain: CustomDomain | null;
  /** ARN of a web ACL (AWS WAF, scope CLOUDFRONT) in us-east-1. Null: none. Needs a distribution. */
  readonly webAclArn: string | null;
  /**
   * Origin secrets by number: the distribution sends the first, the functions accept all. To rotate without a refused
   * request, deploy [2, 1], then [2]. Ignored without a distribution.
   */
  readonly originSecrets: readonly [number, ...number[]];
  /**
   * Regions whose models of Amazon Bedrock the gateway may call with its own role (`auth: { sigv4: … }`), inference
   * profiles that reach beyond a region included. Default: the region it is deployed to. Empty: none anywhere.
   */
  readonly bedrockRegions: readonly string[];
  /** Who gets the alarms by e-mail, after confirming a message from AWS. Null: there are no alarms. */
  readonly alarmEmail: string | null;
  /** One CloudWatch dashboard. Three of an account are free, each further one is billed by the month. */
  readonly dashboard: boolean;
}

const development: StageSettings = {
  compute: 'functions',
  memoryMb: 512,
  chatReservedConcurrency: null,
  modelsReservedConcurrency: null,
  webEnvironmentsMax: null,
  logRetention: RetentionDays.ONE_WEEK,
  removal: 'destroy',
  pointInTimeRecovery: false,
  deletionProtection: false,
  terminationProtection: false,
  tableReadsPerSecondMax: 500,
  tableWritesPerSecondMax: 500,
  edge: 'cloudfront',
  customDomain: null,
  webAclArn: null,
  originSecrets: [1],
  bedrockRegions: [Aws.REGION],
  alarmEmail: null,
  dashboard: true,
};

export const stageSettings: Readonly<Record<string, StageSettings>> = {
  dev: development,
  staging: {
    ...development,
    logRetention: RetentionDays.ONE_MONTH,
    removal: 'retain',
    pointInTimeRecovery: true,
  },
  prod: {
    ...development,
    logRetention: RetentionDays.THREE_MONTHS,
    removal: 'retain',
    pointInTimeRecovery: true,
    deletionProtection: true,
    terminationProtection: true,
    tableReadsPerSecondMax: null,
    tableWritesPerSecondMax: null,
  },
};
