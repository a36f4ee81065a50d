// Providers that may keep what calls of a model refer to later: the ones that speak the interface of the client themselves.
import { speaksOwn } from '../../configuration/catalogue/index.ts';
import type { RoutedRequest } from '../../protocol/wire/index.ts';
import { type VisibilityInput, visibleCandidates } from './visible-candidates.ts';

/** Of one alone nothing need be remembered. */
export function hasSeveralKeepers(
  { model, fallbackModels, interfaceId }: RoutedRequest,
  input: VisibilityInput,
): boolean {
  const candidates = [model, ...fallbackModels].flatMap((id) => visibleCandidates(id, input) ?? []);
  const keepers = candidates.filter((candidate) => speaksOwn(candidate, interfaceId));
  return new Set(keepers.map(({ provider }) => provider.id)).size > 1;
}
