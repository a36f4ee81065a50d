// Writes the body for a provider from the client's body, field by field, without the gateway's own fields.
import { isJsonObject, rewriteMembers, type UpstreamTarget } from '../../wire/index.ts';
import type { UpstreamBody } from '../index.ts';
import type { ChatMembers, ReasoningOptions } from './chat-request.ts';
import { withoutForeignDetails } from './foreign-details.ts';
import { gatewayMembers } from './gateway-members.ts';

const withoutOwnMembers = [...gatewayMembers].map((name) => [name, undefined] as const);

export function toUpstreamBody(request: ChatMembers, target: UpstreamTarget): UpstreamBody {
  const { model, reportsStreamUsage, defaultBound } = target;
  const changes = new Map<string, unknown>(withoutOwnMembers);
  const foreign = withoutForeignDetails(request.text(), target);
  for (const [name, value] of foreign.changes) changes.set(name, value);
  changes.set('model', model);
  for (const [name, value] of boundMembers(request, target)) changes.set(name, value);
  if (request.namesNoBound && defaultBound !== undefined) changes.set(defaultBound.chatMember, defaultBound.tokens);
  const effort = effortMembers(request, target);
  for (const [name, value] of Object.entries(effort ?? {})) changes.set(name, value);
  const hasEffort = changes.has(effortName) || (request.raw[effortName] ?? null) !== null;
  if (target.wantsNoEffortWithTools && hasTools(request) && !hasEffort) changes.set(effortName, 'none');
  if (request.stream) changes.set('stream_options', streamOptions(request.raw.stream_options, reportsStreamUsage));
  return {
    text: rewriteMembers(request.text(), changes),
    leftOut: [...foreign.leftOut, ...(effort === undefined ? ['reasoning'] : [])],
  };
}

const effortName = 'reasoning_effort';

const hasTools = ({ raw: { tools } }: ChatMembers): boolean => Array.isArray(tools) && tools.length > 0;

/** Renames the bound. OpenAI's models with thinking know only the newer name, which means the same. */
function boundMembers({ raw }: ChatMembers, { takesNewerBound }: UpstreamTarget): (readonly [string, unknown])[] {
  const { max_tokens: older, max_completion_tokens: newer } = raw;
  if (takesNewerBound !== true || (older ?? null) === null) return [];
  return [
    ['max_tokens', undefined],
    ['max_completion_tokens', newer ?? older],
  ];
}

/** Requests usage on every stream for which a provider can report it, because the gateway must bill. */
function streamOptions(streamSettings: unknown, reportsUsage: boolean): object | undefined {
  const { include_usage: _includeUsage, ...options } = isJsonObject(streamSettings) ? streamSettings : {};
  if (reportsUsage) return { ...options, include_usage: true };
  return Object.keys(options).length === 0 ? undefined : options;
}

/** Returns undefined if its model or its provider cannot express the requested effort. */
function effortMembers({ raw, reasoning }: ChatMembers, target: UpstreamTarget): Record<string, unknown> | undefined {
  if (reasoning === undefined) return {};
  if (target.reasoningStyle === 'object') return { reasoning: raw.reasoning };
  const preference = inputOf(reasoning);
  if (preference === undefined) return {};
  const effort = target.reasoningStyle === 'none' ? undefined : target.effortOf(preference);
  return effort === undefined ? undefined : { [effortName]: effort };
}

function inputOf({ effort, enabled, max_tokens: budget }: ReasoningOptions) {
  if (enabled === false || budget === 0) return 'none';
  if (typeof effort === 'string') return effort;
  if (typeof budget === 'number') return { budgetTokens: budget };
  return enabled === true ? 'medium' : undefined;
}
