import type { chatRequestSchema } from './chat-request.ts';

const names = [
  'provider',
  'models',
  'cache',
  'preset',
  'usage',
  'reasoning',
] as const satisfies readonly (keyof typeof chatRequestSchema.shape)[];

/** Members that are the gateway's own: never sent to a provider as they came, and null means absent. The only list of them. */
export const gatewayMembers: ReadonlySet<string> = new Set(names);
