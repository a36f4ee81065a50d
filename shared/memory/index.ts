export { createMemory, type Memory, type MemoryOptions } from './memory.ts';
