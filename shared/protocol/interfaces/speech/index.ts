export { speech } from './speech.ts';
