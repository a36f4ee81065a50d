import type { Rung } from './rung.ts';
export const ministack: Rung = { name: 'stage', run: async () => 'todo' };
