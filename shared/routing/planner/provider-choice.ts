// Which providers a client lets serve: `only`, `ignore`, and `order` where fallbacks are forbidden (contract 3).
import type { Catalogue } from '../../configuration/catalogue/index.ts';
import type { ProviderPreferences } from '../../protocol/wire/index.ts';

/** The first id in `only` that no provider of the catalogue has: a slip of the pen, so the client should hear of it. */
export const findUnknownPin = ({ only }: ProviderPreferences, { providers }: Catalogue): string | undefined =>
  only?.find((id) => !providers.has(id));

/** A test by provider id. `order` with `allow_fallbacks: false` means these providers only, as on OpenRouter. */
export function readProviderChoice({
  only,
  ignore,
  order,
  allowFallbacks,
}: ProviderPreferences): (providerId: string) => boolean {
  const pins = [only, allowFallbacks || order.length === 0 ? undefined : order]
    .filter((pin) => pin !== undefined)
    .map((pin) => new Set(pin));
  const ignored = new Set(ignore);
  return (providerId) => pins.every((pin) => pin.has(providerId)) && !ignored.has(providerId);
}
