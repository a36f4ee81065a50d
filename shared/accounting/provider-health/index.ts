export { alertQuietMs, cooldownItem } from './cooldown-item.ts';
export { type Cooldowns, createCooldowns } from './cooldowns.ts';
export { awaitStatistics, createStatisticsReader, type StatisticsReader } from './reader.ts';
export { createStatisticsRecorder, type StatisticsRecorder } from './recorder.ts';
export { type HealthFigures, noStatistics, type Statistics } from './statistics.ts';
