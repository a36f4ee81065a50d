export { compareLines } from './compare-lines.ts';
export { contentLines } from './content-lines.ts';
