// What operators do to a stored function: both views of functions offer it.
import type { StoredFunction } from './documents.ts';
import { manage } from './management.ts';

export type FunctionChange = 'enable' | 'disable' | { readonly activate: string };

export function changeFunction({ workspace, id }: Pick<StoredFunction, 'workspace' | 'id'>, change: FunctionChange) {
  const names = { workspace, id };
  return typeof change === 'string'
    ? manage(`POST /functions/{workspace}/{id}/${change}`, { names })
    : manage('POST /functions/{workspace}/{id}/activate', { names, body: { revision: change.activate } });
}
