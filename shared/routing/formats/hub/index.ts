export { callThroughHub } from './call-through-hub.ts';
