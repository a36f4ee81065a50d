export {
  ConnectionBroken,
  createOutgoingCalls,
  type OutgoingCalls,
  type OutgoingRequest,
} from './outgoing-calls.ts';
export { createSocketPool, type SocketPool, type SocketPoolOptions } from './socket-pool.ts';
