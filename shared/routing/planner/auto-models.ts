// Decides which entries `auto` uses for an interface. An entry that names no interface has all interfaces of its
// provider, even interfaces that its model does not support. The entry's prices show which kinds of output the model
// makes.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { type InterfaceId, type ProviderApi, servingApis, taskInterfaceIds } from '../../foundation/constants/index.ts';

/** Returns the entries made for the interface; all if none is known to be. */
export function madeFor(interfaceId: InterfaceId, candidates: readonly Candidate[]): readonly Candidate[] {
  const { native } = servingApis[interfaceId];
  const specialists = candidates.filter((candidate) => isMadeFor(native, candidate));
  return specialists.length === 0 ? candidates : specialists;
}

const isText = (api: ProviderApi): boolean => !taskApis.includes(api);
const taskApis: readonly ProviderApi[] = taskInterfaceIds;

function isMadeFor(api: ProviderApi, { entry, provider, prices }: Candidate): boolean {
  if (entry.apis !== undefined) return true;
  const makes = madeByPrice(prices);
  if (makes.length > 0) return makes.includes(api) || (isText(api) && hasTokenPrice(prices));
  return isText(api) || !provider.apis.some(isText);
}

/** Returns interfaces by prices of units other than tokens. */
function madeByPrice({ units }: Candidate['prices']): readonly ProviderApi[] {
  if (units === undefined) return [];
  const priced: readonly (readonly [ProviderApi, boolean])[] = [
    ['images', units.otherImage !== undefined || units.images.length > 0],
    ['speech', units.character !== undefined],
    ['transcriptions', units.second !== undefined],
    ['rerank', units.request !== undefined],
  ];
  return priced.flatMap(([api, isPriced]) => (isPriced ? [api] : []));
}

const hasTokenPrice = ({ input, output }: Candidate['prices']): boolean => (input ?? 0n) > 0n || (output ?? 0n) > 0n;
