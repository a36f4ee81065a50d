export { transcriptions } from './transcriptions.ts';
