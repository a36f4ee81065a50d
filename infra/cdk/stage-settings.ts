// Lists every environment of this gateway. To add an environment, add an entry: a name in lower case and its settings,
// which settings-schema.ts describes. Time limits follow from streamBudgetSeconds:
// shared/foundation/constants/call-times.ts.
import type { StageSettings } from './settings-schema.ts';

const development: StageSettings = {
  compute: 'functions',
  memoryMb: 512,
  streamBudgetSeconds: 55,
  // Concurrent calls. The number limits the cost, and leaves the rest of the account its share. Null if the account's
  // quota is too small to reserve any calls; a new account has ten.
  gatewayReservedConcurrency: 50,
  modelsReservedConcurrency: 5,
  logRetentionDays: 7,
  systemLogLevel: 'INFO',
  removal: 'destroy',
  pointInTimeRecovery: false,
  deletionProtection: false,
  terminationProtection: false,
  adopt: null,
  tableReadsPerSecondMax: 500,
  tableWritesPerSecondMax: 500,
  tableWarmWritesPerSecond: null,
  keyRequestsPerMinute: null,
  edge: 'cloudfront',
  customDomain: null,
  webAclArn: null,
  originSecrets: [1],
  // The regions whose models the stage may call with its own role: `stage-region` is the stage's own region.
  bedrockRegions: [],
  alarmEmail: null,
  dashboard: true,
  console: false,
};

export const stageSettings: Readonly<Record<string, StageSettings>> = {
  dev: development,
  staging: {
    ...development,
    logRetentionDays: 30,
    systemLogLevel: 'WARN',
    removal: 'retain',
    pointInTimeRecovery: true,
  },
  prod: {
    ...development,
    logRetentionDays: 90,
    systemLogLevel: 'WARN',
    removal: 'retain',
    pointInTimeRecovery: true,
    deletionProtection: true,
    terminationProtection: true,
    tableReadsPerSecondMax: null,
    tableWritesPerSecondMax: null,
    tableWarmWritesPerSecond: 16_000,
    // A hundred requests a second; a key that needs more is given its own rpm.
    keyRequestsPerMinute: 6_000,
    // Half of Lambda's default quota.
    gatewayReservedConcurrency: 500,
    modelsReservedConcurrency: 20,
  },
};
