export { type CallMemory, createMemoryBudget, type MemoryBudget } from './memory-budget.ts';
