export { collectGarbage } from './collect-garbage.ts';
export { freeBytes } from './free-bytes.ts';
export { gatherBytes } from './gathered-bytes.ts';
export { textOfBytes } from './text-of-bytes.ts';
