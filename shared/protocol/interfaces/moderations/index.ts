export { moderations } from './moderations.ts';
