export { responses } from './responses.ts';
