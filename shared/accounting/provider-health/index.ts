export { type Cooldowns, type CooledEntry, createCooldowns } from './cooldowns.ts';
export {
  createStatisticsReader,
  type StatisticsReader,
  type StatisticsReaderOptions,
} from './reader.ts';
export {
  createStatisticsRecorder,
  type ProviderCall,
  type StatisticsRecorder,
  type StatisticsRecorderOptions,
} from './recorder.ts';
export { type Figures, type MeasuredFigures, noStatistics, type Statistics } from './statistics.ts';
