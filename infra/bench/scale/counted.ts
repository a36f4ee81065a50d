// The numbers the scale model is made of, each with its source. What the bench counts is held to these by
// test/bench/scale.test.ts, so they cannot grow old unseen.

export interface Counted {
  readonly value: number;
  readonly source: string;
}

const rounds = (row: string) => `npm run bench, the store per request: "${row}"`;
const aws = (page: string) => `AWS documentation: ${page}`;
const price = (what: string) => `AWS price list us-east-1, November 2026: ${what}`;

export const counted = {
  // What one plain call with every limit set writes.
  keyWrites: { value: 2, source: rounds('plain JSON, every limit set') },
  /** A write more where another environment has served the key since. On Lambda that is nearly every call. */
  keyWritesElsewhere: { value: 3, source: rounds('plain JSON, key served elsewhere meanwhile') },
  creditWrites: { value: 2, source: rounds('plain JSON, every limit set') },
  limiterWrites: { value: 2, source: rounds('plain JSON, every limit set') },
  recordWrites: { value: 1, source: rounds('plain JSON, every limit set') },
  statisticsWrites: { value: 1, source: rounds('plain JSON, every limit set') },
  /** Catalogue pointer, workspace, connections, cooldowns: when the copies are older than 5 s. */
  configReads: { value: 4, source: rounds('plain JSON, configuration older than 5 s') },

  // Sizes of items, in bytes.
  keyItemBytes: { value: 690, source: 'measured: a key with a minute of requests counted by the second' },
  creditItemBytes: { value: 110, source: 'measured: the credit of a workspace that nobody holds' },
  holdBytes: { value: 71, source: 'shared/accounting/holds/counter.ts: hold#<uuid> with amount and expiry' },
  recordItemBytes: { value: 600, source: 'measured: a call record; a referer, title and session id add up to 400' },
  statisticsItemBytes: {
    value: 2_048,
    source: 'shared/accounting/provider-health/layout.ts: what a group of counters grows to',
  },

  // Layout.
  creditShardsMax: { value: 32, source: 'shared/accounting/credit/credit-account.ts' },
  recordShards: { value: 8, source: 'shared/accounting/call-records/record-item.ts' },
  statisticsShards: { value: 2, source: 'shared/accounting/provider-health/layout.ts' },
  configFreshSeconds: { value: 5, source: 'shared/foundation/constants/bounds.ts' },
  overheadSeconds: { value: 0.05, source: 'rounds before and after, 5 ms each inside a region, and processor time' },
  callsPerWebEnvironment: { value: 64, source: aws('Lambda Web Functions, requests per environment') },

  // Limits of AWS.
  partitionWritesPerSecond: { value: 1_000, source: aws('DynamoDB, partition throughput') },
  partitionReadsPerSecond: { value: 3_000, source: aws('DynamoDB, partition throughput') },
  newTableWritesPerSecond: { value: 4_000, source: aws('DynamoDB, warm throughput of a new on-demand table') },
  accountConcurrency: { value: 1_000, source: aws('Lambda quotas, default; new accounts have less') },

  // Prices in USD.
  perGbSecond: { value: 0.0000133334, source: price('Lambda arm64, GB-second') },
  perMillionInvocations: { value: 0.2, source: price('Lambda, requests') },
  perMillionWrites: { value: 0.625, source: price('DynamoDB on demand, write request units') },
  perMillionReads: { value: 0.125, source: price('DynamoDB on demand, read request units') },
  perMillionEdgeRequests: { value: 1, source: price('CloudFront, HTTPS requests') },
  perMillionLogsAndEgress: { value: 1.09, source: price('1.5 KB of log at 0.50 per GB, 4 KB of egress at 0.085') },
} as const satisfies Record<string, Counted>;

export type CountedName = keyof typeof counted;
export const amountOf = (name: CountedName): number => counted[name].value;
