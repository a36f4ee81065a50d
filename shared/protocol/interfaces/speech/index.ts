export { playground } from './playground.ts';
export { speech } from './speech.ts';
