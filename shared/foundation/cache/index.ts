export { createMemory, type Memory, type MemoryOptions } from './memory.ts';
export { createRecentNames, type RecentNames } from './recent-names.ts';
