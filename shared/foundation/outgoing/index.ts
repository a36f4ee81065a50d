export { fetchText } from './fetch-text.ts';
export { ConnectionBroken, createOutgoingCalls } from './outgoing-calls.ts';
export { createSocketPool, type SocketPool } from './socket-pool.ts';
