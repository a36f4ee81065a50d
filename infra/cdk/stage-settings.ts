// Every environment of this gateway. To add one, add an entry: a name in lower case and its settings, which
// settings-schema.ts describes. Time limits follow from streamBudgetSeconds: shared/foundation/constants/call-times.ts.
import { type StageSettings, stageRegion } from './settings-schema.ts';

const development: StageSettings = {
  experimental: false,
  compute: 'functions',
  memoryMb: 512,
  streamBudgetSeconds: 55,
  chatReservedConcurrency: null,
  modelsReservedConcurrency: null,
  webEnvironmentsMax: null,
  logRetentionDays: 7,
  systemLogLevel: 'INFO',
  removal: 'destroy',
  pointInTimeRecovery: false,
  deletionProtection: false,
  terminationProtection: false,
  adopt: null,
  tableReadsPerSecondMax: 500,
  tableWritesPerSecondMax: 500,
  edge: 'cloudfront',
  customDomain: null,
  webAclArn: null,
  originSecrets: [1],
  bedrockRegions: [stageRegion],
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
    // Half of Lambda's default quota: what else runs in the account keeps the rest, and costs have a limit.
    chatReservedConcurrency: 500,
    modelsReservedConcurrency: 20,
    // A stage names regions here once its own role is to call models.
    bedrockRegions: [],
  },
};
