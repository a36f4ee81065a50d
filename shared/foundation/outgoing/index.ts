export { connectionFaultOf, isConnectTimeout } from './connection-fault.ts';
export { fetchText } from './fetch-text.ts';
export { type OutgoingAnswer, readText } from './outgoing-answer.ts';
export {
  type Base64Of,
  ConnectionBroken,
  createOutgoingCalls,
  encodedPieces,
  type OutgoingBody,
  type OutgoingRequest,
} from './outgoing-calls.ts';
export { createSocketPool, type SocketPool, sendText } from './socket-pool.ts';
export { ProxyFailed } from './tunnel.ts';
