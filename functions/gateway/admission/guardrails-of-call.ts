// Finds the guardrails of a call. Most calls have none.
import { readKeySetting } from '../../../shared/configuration/keys/index.ts';
import type { ErrorCode, GatewayError } from '../../../shared/errors/index.ts';
import type { IdentifiedCall } from '../stages.ts';

/** Returns the guardrails of the workspace, then the guardrails that the key adds. */
export const guardrailIdsOf = ({ workspace, key }: Pick<IdentifiedCall, 'workspace' | 'key'>): readonly string[] => [
  ...new Set([...(workspace.guardrails ?? []), ...(readKeySetting(key, 'guardrails') ?? [])]),
];

/** Returns the documents of the guardrails that the catalogue knows. */
export const guardrailDefinitions = ({ catalogue }: Pick<IdentifiedCall, 'catalogue'>, ids: readonly string[]) =>
  ids.flatMap((id) => catalogue.guardrails.get(id) ?? []);

/** Errors that are reported only if no guardrail blocks. */
const laterCodes: readonly ErrorCode[] = ['price_cap_exceeded', 'provider_not_configured'];
export const comesAfterGuardrails = ({ code }: GatewayError): boolean => laterCodes.includes(code);
