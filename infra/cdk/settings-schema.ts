// Declares and documents the settings of a stage. check-settings.ts checks combinations.
import { z } from 'zod';
import { streamBudget } from '../../shared/foundation/constants/index.ts';
import { isTaskSize } from './constructs/task-size.ts';
import {
  must,
  oneOf,
  retentionDays,
  shapes,
  signIn,
  switchedOn,
  telemetry,
  text,
  wholeNumber,
  zonesMax,
} from './settings-values.ts';

export const settingsShape = z.strictObject({
  /** The account and the region to which this stage is limited: deploy, gw and --adopt refuse others. Default: any. */
  account: text(shapes.account, 'the twelve digits of an account').nullish(),
  region: text(shapes.ownRegion, 'the name of a region, such as eu-west-1').nullish(),
  /** Qualifier of `cdk bootstrap --qualifier`, if the account does not use CDK's own. */
  bootstrapQualifier: text(shapes.qualifier, 'one to ten letters or digits').optional(),
  /** Name of the IAM policy that every role of the stage gets as its permissions boundary. Default: none. */
  permissionsBoundary: text(
    shapes.policyName,
    'the name of an IAM policy, with its path but without its ARN',
  ).optional(),
  /**
   * Compute of the gateway: two Lambda functions, one call per environment, which cost nothing without calls; or tasks
   * on Fargate, each with many concurrent calls, which cost the same whether or not they are called.
   */
  compute: oneOf('functions', 'container'),
  /** Number and size of tasks, for `compute: 'container'` only. Default: two to ten of one processor and 2 GiB. */
  tasks: z
    .strictObject({
      min: wholeNumber(1, 1_000),
      max: wholeNumber(1, 1_000),
      /** 1,024 are one processor. */
      cpu: wholeNumber(512, 4_096),
      memoryMiB: wholeNumber(1_024, 30_720),
    })
    .refine(({ min, max }) => min <= max, must('no larger in its min than in its max'))
    .refine(isTaskSize, must('a size that Fargate has: with cpu 1024, memoryMiB 2048 to 8192 in steps of 1024'))
    .optional(),
  /**
   * Existing network for tasks and load balancer, in place of a network of their own, for `compute: 'container'` only.
   * Its subnets must reach the internet, for example through a NAT gateway. One availability zone for each subnet, in
   * the order of the subnets.
   */
  vpc: z
    .strictObject({
      id: text(shapes.vpcId, 'the id of a VPC'),
      subnetIds: z.array(text(shapes.subnetId, 'the id of a subnet')).min(2, must('a list of at least two')).readonly(),
      availabilityZones: z
        .array(text(shapes.zone, 'the name of an availability zone'))
        .min(2, must('a list of at least two'))
        .readonly(),
    })
    .refine(
      ({ subnetIds, availabilityZones: zones }) => subnetIds.length === zones.length,
      must('one zone for each subnet'),
    )
    .refine(({ availabilityZones: zones }) => new Set(zones).size > 1, must('in two availability zones at least'))
    .optional(),
  /**
   * Ids of the availability zones of tasks in a network of their own. Default: two in which CloudFront allows VPC
   * origins, or the first two by name if CloudFront allows all zones.
   */
  zones: z
    .array(text(shapes.zoneId, 'the id of an availability zone, such as use1-az2'))
    .min(2, must('a list of at least two'))
    .max(zonesMax, must(`a list of at most ${zonesMax}`))
    .refine((ids) => new Set(ids).size === ids.length, must('a list of different zones'))
    .readonly()
    .optional(),
  /**
   * TCP ports at which tasks call providers, in addition to 443. The ports of the trace collector and the identity
   * provider are added. Default: none, so that no other port is reached.
   */
  providerPorts: z.array(wholeNumber(1, 65_535)).readonly().optional(),
  /**
   * Readers of the metrics of each task, at port 9464 without a key: ranges of addresses, and security groups of the
   * tasks' network or of a peered network. Default: none.
   */
  metricsFrom: z
    .array(text(shapes.metricsReader, 'a range of addresses, such as 10.0.0.0/16, or the id of a security group'))
    .min(1, must('a list of at least one'))
    .readonly()
    .optional(),
  /** Memory of each function in MB. Processor time grows with it, and so does the price of waiting for a provider. */
  memoryMb: wholeNumber(128, 10_240),
  /**
   * Seconds from the arrival of a call to the end of its stream, if the first output came within 55 s. The time limits
   * of the function and of the distribution follow from it, and so does the lifetime of an abandoned call's
   * reservation. JSON answers still have 55 s.
   */
  streamBudgetSeconds: wholeNumber(streamBudget.minSeconds, streamBudget.maxSeconds),
  /**
   * Chat calls that may run at once, a limit on cost. Null: the account's shared executions. New accounts have ten in
   * all and cannot reserve any.
   */
  gatewayReservedConcurrency: wholeNumber(1).nullable(),
  /** The same limit for the model listing. */
  modelsReservedConcurrency: wholeNumber(1).nullable(),
  /**
   * Percent of the calls that a new version gets for some minutes before it gets all calls. When the new version fails,
   * the calls return to the former version. Null: all at once. Default: a tenth for ten minutes if the stage retains.
   * Tasks are replaced one by one, also when they return to the former version.
   */
  canary: z.strictObject({ percent: wholeNumber(1, 50), minutes: wholeNumber(1, 120) }).nullish(),
  /**
   * Lambda's quota "Concurrent executions" of the account and region. An alarm is raised at 80 % of the quota, which
   * limits a stage without a reservation. Default: the quota that `npm run deploy` reads; with plain cdk 1,000.
   */
  accountConcurrency: wholeNumber(10).optional(),
  /** Days after which log lines are deleted. Log lines of operators stay longer if the stage retains. */
  logRetentionDays: z.literal(retentionDays, must(`one of ${retentionDays.join(', ')}`)),
  /** INFO adds Lambda's own lines: start, end, duration, memory and initialization time of each invocation. */
  systemLogLevel: oneOf('INFO', 'WARN'),
  /** Whether tables, bucket, key and credentials survive when the data stack, or one of these resources, is removed. */
  removal: oneOf('retain', 'destroy'),
  /** Restore to any second of the last 35 days, for tables whose contents live longer than a day. Billed by size. */
  pointInTimeRecovery: switchedOn(),
  /** DynamoDB refuses to delete the tables. Takes effect after the first successful deployment. */
  deletionProtection: switchedOn(),
  /** CloudFormation refuses to delete the data stack. Takes effect after the first successful deployment. */
  terminationProtection: switchedOn(),
  /**
   * The customer's own key that encrypts tables, bucket, secrets and log groups. Its policy must let this account's
   * roles and CloudWatch Logs use it: guides/encryption.md. Default: keys of AWS.
   */
  encryptionKeyArn: text(shapes.keyArn, 'the ARN of a KMS key').optional(),
  /**
   * Provisioned write units per second of each table, between which it is scaled, in place of billing by the request;
   * read units are scaled from 1 to max. The limits of billing by the request do not apply then. Default: by the
   * request.
   */
  tableCapacity: z
    .strictObject({ min: wholeNumber(1, 40_000), max: wholeNumber(1, 40_000) })
    .refine(({ min, max }) => min <= max, must('no larger in its min than in its max'))
    .optional(),
  /**
   * Suffix of restored tables on which the stage works in place of its own: `gw-<stage>-<table><suffix>`, for tables
   * with recovery. The next deployment adopts the restored tables; the former tables stay. See guides/restoring.md.
   * Default: its own tables.
   */
  tableSuffix: text(shapes.tableSuffix, 'letters, digits, - and _, at most 40').optional(),
  /**
   * Resources of a former deployment of this stage that the next deployment adopts: the key that wraps stored BYOK keys
   * and the secret with provider credentials. Null for a new stage. See "Adopting a stage" in infra/cdk/README.md.
   */
  adopt: z
    .strictObject({
      keyArn: text(shapes.keyArn, 'the ARN of a KMS key').nullable(),
      secretArn: text(shapes.secretArn, 'the complete ARN of a secret, its six random characters included').nullable(),
    })
    .nullable(),
  /**
   * Maximum read units per second of each table. Beyond this maximum calls get a 503. Null: 40,000, which is DynamoDB's
   * quota of a table. The maximum may be larger if AWS has raised the quota.
   */
  tableReadsPerSecondMax: wholeNumber(1).nullable(),
  /** The same limit for write units. */
  tableWritesPerSecondMax: wholeNumber(1).nullable(),
  /**
   * Write units per second that the tables of every call accept from their first second on. A table has one partition
   * per 1,000 units, so that a key that is called very often slows fewer other keys. DynamoDB bills the step from 4,000
   * up once and allows no step down. Null: 4,000, as for any new table.
   */
  tableWarmWritesPerSecond: wholeNumber(4_000, 40_000).nullable(),
  /**
   * Requests a minute of keys without an `rpm` of their own. The limit matters because a key that is called a thousand
   * times a second slows other keys of its partition. Null or absent: any number.
   */
  keyRequestsPerMinute: wholeNumber(1).nullish(),
  /**
   * A CloudFront distribution in front, or none. Without a distribution clients call the chat function's own URL. Tasks
   * without a distribution are reached on a private path, only from inside their network, by the names of
   * `customDomain`.
   */
  edge: oneOf('cloudfront', 'none'),
  /**
   * Domain names for the distribution, or for the load balancer on the private path. Null: the distribution's under
   * cloudfront.net.
   */
  customDomain: z
    .strictObject({
      /**
       * The DNS records of the names must point at the output DistributionDomainName, or LoadBalancerName; no hosted
       * zone is changed.
       */
      domainNames: z
        .array(text(shapes.domainName, 'a domain name'))
        .min(1, must('a list of at least one name'))
        .readonly(),
      /**
       * ARN of a certificate that exists already: in us-east-1, where CloudFront reads certificates; for a load
       * balancer in its own region.
       */
      certificateArn: text(shapes.certificateArn, 'the ARN of an ACM certificate'),
    })
    .nullable(),
  /** ARN of a web ACL (AWS WAF). Null: none. Needs a distribution. */
  webAclArn: text(shapes.webAclArn, 'the ARN of a web ACL of scope CLOUDFRONT in us-east-1').nullable(),
  /**
   * Origin secrets by number. The distribution sends the first secret, and the functions accept all. To rotate without
   * refused requests, deploy [2, 1], then [2].
   */
  originSecrets: z
    .array(wholeNumber(1))
    .min(1, must('a list of at least one number'))
    .refine((numbers) => new Set(numbers).size === numbers.length, must('a list of different numbers'))
    .readonly(),
  /**
   * Regions whose Amazon Bedrock models the gateway may call with its own role (`auth: { sigv4: … }`), inference
   * profiles that reach other regions included. Empty: none.
   */
  bedrockRegions: z.array(text(shapes.region, 'the name of a region, such as eu-west-1')).readonly(),
  /**
   * E-mail address for alarms, once a message from AWS is confirmed. Stages that retain have alarms without it, and any
   * other subscription may be added to the topic in the output AlarmTopicArn.
   */
  alarmEmail: text(shapes.email, 'an e-mail address').nullable(),
  /**
   * Destination of traces (OpenTelemetry). `sampleRatio` is for traces whose client does not decide; default 1. Null or
   * absent: no traces.
   */
  telemetry: telemetry.nullish(),
  /**
   * One CloudWatch dashboard. Three dashboards of an account are free, and each further dashboard is billed by the
   * month.
   */
  dashboard: switchedOn(),
  /**
   * Two characters with which the public ids of this stage's keys begin. An edge in front of several stages can route
   * by these characters. A change applies to new keys. Default: 00.
   */
  cell: text(shapes.cell, 'two letters or digits').optional(),
  /** The console at `/console`, and `/v1/manage` for operator keys: one more function. Default: false. */
  console: switchedOn().optional(),
  /**
   * True accepts that the role of the tasks, which serve clients' calls, has the rights of operators too, because tasks
   * also serve the console. Needed with `compute: 'container'` and `console: true`.
   */
  consoleSharesTaskRole: switchedOn().optional(),
  /**
   * The identity provider with which people sign in to the console, as a public client without a secret. Their rights
   * are in `access` of the gateway file. Null or absent: only operator keys open the console.
   */
  sign_in: signIn.nullish(),
});

export type StageSettings = Readonly<z.infer<typeof settingsShape>>;

/** Lambda's own default, which AWS raises by itself or on request; new accounts have less. */
export const defaultAccountConcurrency = 1_000;

const canaryDefault = { percent: 10, minutes: 10 } as const;
export const canaryOf = ({ canary, removal }: Pick<StageSettings, 'canary' | 'removal'>) =>
  canary === undefined ? (removal === 'retain' ? canaryDefault : null) : canary;

/**
 * Simultaneous executions of the operator function, if a stage limits the executions of calls. The number is small
 * because few people use the function.
 */
const operatorExecutionsMax = 5;
export const operatorConcurrency = ({
  console,
  gatewayReservedConcurrency,
}: Pick<StageSettings, 'console' | 'gatewayReservedConcurrency'>): number | null =>
  console === true && gatewayReservedConcurrency !== null ? operatorExecutionsMax : null;
