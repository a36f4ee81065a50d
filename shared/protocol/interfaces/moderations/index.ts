export { moderations } from './moderations.ts';
export { playground } from './playground.ts';
