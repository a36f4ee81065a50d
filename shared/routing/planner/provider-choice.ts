// Reads the providers that a client allows: `only`, `ignore`, and `order` if fallbacks are forbidden.
import type { Catalogue } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError, quote } from '../../errors/index.ts';
import type { ProviderPreferences, RoutedRequest } from '../../protocol/wire/index.ts';

/** Reports the first id in `only` that no provider of the catalogue has, because it is most likely a typing error. */
export function refuseUnknownPin({ provider }: RoutedRequest, { providers }: Catalogue): GatewayError | undefined {
  const index = provider.only?.findIndex((id) => !providers.has(id)) ?? -1;
  const id = provider.only?.[index];
  if (id === undefined) return undefined;
  return fail('invalid_request', {
    message: `provider.only: no provider ${quote(id)} is in the catalogue`,
    param: provider.isOnlyList ? `provider.only[${index}]` : 'provider.only',
  });
}

export interface ProviderChoice {
  readonly admits: (providerId: string) => boolean;
  /** Returns the field that excludes all of these providers, if any. */
  readonly excludingMember: (providerIds: readonly string[]) => string | undefined;
}

/** Reads the choice. `order` with `allow_fallbacks: false` means these providers only, as on OpenRouter. */
export function readProviderChoice({ only, ignore, order, allowFallbacks }: ProviderPreferences): ProviderChoice {
  const rules: [member: string, admits: (providerId: string) => boolean][] = [];
  if (only !== undefined) rules.push(['provider.only', (providerId) => only.includes(providerId)]);
  if (!allowFallbacks && order.length > 0) rules.push(['provider.order', (providerId) => order.includes(providerId)]);
  if (ignore.length > 0) rules.push(['provider.ignore', (providerId) => !ignore.includes(providerId)]);
  return {
    admits: (providerId) => rules.every(([, admits]) => admits(providerId)),
    excludingMember(providerIds) {
      let remaining = providerIds;
      for (const [member, admits] of rules) {
        if (remaining.length === 0) return undefined;
        remaining = remaining.filter(admits);
        if (remaining.length === 0) return member;
      }
      return undefined;
    },
  };
}
