// Makes the changes of a stored function that both views of functions offer.
import type { StoredFunction } from './documents.ts';
import { manage } from './management.ts';

export type FunctionAction = 'enable' | 'disable' | { readonly activate: string };

export function changeFunction({ workspace, id }: Pick<StoredFunction, 'workspace' | 'id'>, change: FunctionAction) {
  const names = { workspace, id };
  return typeof change === 'string'
    ? manage(`POST /functions/{workspace}/{id}/${change}`, { names })
    : manage('POST /functions/{workspace}/{id}/activate', { names, body: { revision: change.activate } });
}
