// Bare names in the lists of models that a workspace or a key may call, as the ids that are stored and compared.
import { idsWritten } from '../catalogue/index.ts';
import type { GatewayFile } from './gateway-file.ts';

/** A name that means several stays as it is: it was refused. */
export function withModelIds<File extends Pick<GatewayFile, 'workspaces'>>(
  file: File,
  models: readonly { readonly id: string }[],
): File {
  const ids = new Set(models.map(({ id }) => id));
  const idOf = (name: string, among: readonly string[] | undefined): string => {
    const [id, ...others] = idsWritten(name, ids, among);
    return id === undefined || others.length > 0 ? name : id;
  };
  const resolved = <Owner extends { models?: unknown }>(owner: Owner, among?: readonly string[]): Owner =>
    Array.isArray(owner.models) ? { ...owner, models: owner.models.map((name) => idOf(name, among)) } : owner;
  const workspaces = file.workspaces.map((each) => {
    const workspace = resolved(each);
    const among = Array.isArray(workspace.models) ? workspace.models : undefined;
    return { ...workspace, keys: each.keys.map((key) => resolved(key, among)) };
  });
  return { ...file, workspaces };
}
