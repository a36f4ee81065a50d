export type { Metrics } from './embedded-metrics.ts';
export {
  createLog,
  type Log,
  type LogFields,
  type LogLevel,
} from './log.ts';
