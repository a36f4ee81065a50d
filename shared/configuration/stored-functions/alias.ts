import { functionAliasPrefix, idPattern } from '../../foundation/constants/index.ts';

/** What a client writes as the model of a function call (spec 2.4). */
export interface FunctionAlias {
  readonly functionId: string;
  /** Pinned. Undefined: whichever revision is the active one. */
  readonly revisionId: string | undefined;
}

/** Undefined: the text is none of the two forms, which is `invalid_function_alias` where a function is called. */
export function parseFunctionAlias(model: string): FunctionAlias | undefined {
  if (!model.startsWith(functionAliasPrefix)) return undefined;
  const [functionId = '', ...rest] = model.slice(functionAliasPrefix.length).split('@');
  const [revisionId, ...more] = rest;
  if (more.length > 0 || ![functionId, ...rest].every((id) => idPattern.test(id))) return undefined;
  return { functionId, revisionId };
}
