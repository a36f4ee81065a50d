import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject } from '../../../../protocol/wire/index.ts';

/** `cache_control` of a part, of a tool, or of a message, in the words of the packages that have some. */
export function cacheMark(control: unknown): { providerOptions?: SharedV4ProviderOptions } {
  if (!isJsonObject(control) || control.type !== 'ephemeral') return {};
  const ttl = typeof control.ttl === 'string' ? { ttl: control.ttl } : {};
  return {
    providerOptions: {
      anthropic: { cacheControl: { type: 'ephemeral', ...ttl } },
      amazonBedrock: { cachePoint: { type: 'default', ...ttl } },
    },
  };
}
