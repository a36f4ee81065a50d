export { playground } from './playground.ts';
export { transcriptions } from './transcriptions.ts';
