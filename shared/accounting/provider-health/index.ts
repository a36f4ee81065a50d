export { type Cooldowns, createCooldowns } from './cooldowns.ts';
export { awaitStatistics, createStatisticsReader, type StatisticsReader } from './reader.ts';
export { createStatisticsRecorder, type ProviderCall, type StatisticsRecorder } from './recorder.ts';
export { type Figures, noStatistics, type Statistics } from './statistics.ts';
