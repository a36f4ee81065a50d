export { type CallsUnderWay, createCallsUnderWay } from './calls-under-way.ts';
export { createSlotPools, type SlotHold, type SlotPool, type SlotPools } from './slot-pools.ts';
