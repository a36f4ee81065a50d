export {
  ConnectionBroken,
  createOutgoingCalls,
  type OutgoingCalls,
  type OutgoingRequest,
} from './outgoing-calls.ts';
