export { collectGarbage } from './collect-garbage.ts';
export { textOfBytes } from './text-of-bytes.ts';
