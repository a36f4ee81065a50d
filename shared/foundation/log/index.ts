export type { Metrics } from './embedded-metrics.ts';
export {
  createLog,
  type Log,
  type LogFieldName,
  type LogFields,
  type LogLevel,
  type LogOptions,
  logFieldNames,
  logLevels,
} from './log.ts';
