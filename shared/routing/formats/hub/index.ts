export { callThroughHub } from './call-through-hub.ts';
export { embedInParts } from './embed-in-parts.ts';
