export {
  ConnectionBroken,
  createOutgoingCalls,
  type OutgoingCalls,
  type OutgoingOptions,
  type OutgoingRequest,
} from './outgoing-calls.ts';
