// Decides which revision a function call runs, if it may run. Errors win in this order: execution off, not found,
// disabled, revision, expired. The input contract is checked after this. Pure.
import { fail, type GatewayError, nearestOf, suggest } from '../../errors/index.ts';
import { functionAliasPrefix, idPattern } from '../../foundation/constants/index.ts';
import type { RevisionContent } from './function-document.ts';
import type { FunctionRecord, RevisionRecord } from './function-record.ts';
import { isExpired } from './transitions.ts';

/** The model of a function call, as a client writes it. */
export interface FunctionAlias {
  readonly functionId: string;
  /** The pinned revision; undefined for the active one. */
  readonly revisionId: string | undefined;
}

/**
 * Parses an alias. Returns undefined for a text in neither form, which is `invalid_function_alias` if a function is
 * called.
 */
export function parseFunctionAlias(model: string): FunctionAlias | undefined {
  if (!model.startsWith(functionAliasPrefix)) return undefined;
  const [functionId = '', ...rest] = model.slice(functionAliasPrefix.length).split('@');
  const [revisionId, ...more] = rest;
  if (more.length > 0 || ![functionId, ...rest].every((id) => idPattern.test(id))) return undefined;
  return { functionId, revisionId };
}

/** A function with the content of the revision that a call asks for. */
export interface FoundFunction {
  readonly record: FunctionRecord;
  /** Undefined if the revision does not exist, or was never activated. */
  readonly content: RevisionContent | undefined;
}

interface RevisionInput {
  /** Setting `service.function_execution` of the gateway file. */
  readonly executionEnabled: boolean;
  /** The function in the workspace of the key; undefined if the workspace has no such function. */
  readonly found: FoundFunction | undefined;
  readonly alias: FunctionAlias;
  /** Ids of the workspace's functions, for the message if this id is not among them. */
  readonly knownIds: readonly string[];
  readonly nowMs: number;
}

export interface OpenRevision {
  readonly functionId: string;
  readonly revisionId: string;
  readonly content: RevisionContent;
}

/**
 * Returns the revision. Throws execution_disabled, function_not_found, function_disabled, revision_not_available or
 * qualification_expired. To a client a pinned revision that does not exist and a revision that was never activated are
 * the same.
 */
export function openRevision({ executionEnabled, found, alias, knownIds, nowMs }: RevisionInput): OpenRevision {
  if (!executionEnabled) throw fail('execution_disabled');
  if (found === undefined) throw failUnknownFunction(alias, knownIds);
  const { record, content } = found;
  if (record.status === 'disabled') throw fail('function_disabled');
  const revision = wantedRevision(record, alias.revisionId);
  if (revision?.state !== 'activated') {
    throw fail('revision_not_available', { message: unavailableMessage(record, alias.revisionId) });
  }
  if (isExpired(revision, nowMs)) throw fail('qualification_expired');
  if (content === undefined) throw new Error(`revision ${revision.id} was opened without its content`);
  return { functionId: record.id, revisionId: revision.id, content };
}

function failUnknownFunction({ functionId }: FunctionAlias, knownIds: readonly string[]): GatewayError {
  const nearest = nearestOf(functionId, knownIds);
  const hint =
    nearest === undefined
      ? 'GET /v1/models?functions=true lists the functions there are.'
      : `Did you mean "${functionAliasPrefix}${nearest}"?`;
  return fail('function_not_found', { message: `The workspace has no such function. ${hint}` });
}

/** Returns the message, which does not show whether a revision exists that was never activated. */
function unavailableMessage({ revisions }: FunctionRecord, pinned: string | undefined): string {
  if (pinned === undefined) return 'The function has no active revision.';
  const callable = [...revisions.values()].filter(({ state }) => state === 'activated').map(({ id }) => id);
  const hint = suggest(pinned, callable, 'Without a revision the active one runs.');
  return `The function has no such activated revision. ${hint}`;
}

/** Returns the pinned revision, else the active revision. */
export const wantedRevision = (record: FunctionRecord, pinned: string | undefined): RevisionRecord | undefined =>
  record.revisions.get(pinned ?? record.active ?? '');
