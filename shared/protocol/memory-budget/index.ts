export {
  AnswerNotKept,
  type AnswerReservation,
  loadAnswer,
  openAnswerReservation,
  takeAnswer,
} from './answer-reservation.ts';
export { type BodyAllocation, noRequest, openBodyAllocation, sizeOfRequest } from './body-allocation.ts';
export type { Collect } from './collections.ts';
export {
  type AnswerAllocation,
  type CallMemory,
  type Copies,
  createMemoryBudget,
  type MemoryBudget,
  type RequestAllocation,
} from './memory-budget.ts';
export { type RequestTake, smallBodyMaxBytes } from './request-budget.ts';
export * from './weights.ts';
