// Bare names in the lists of models that a workspace or a key may call, as the ids that are stored and compared.
import { idsMeantBy } from '../catalogue/index.ts';
import type { GatewayFile } from './gateway-file.ts';

/** A name that means several stays as it is: it was refused. */
export function withModelIds<File extends Pick<GatewayFile, 'workspaces'>>(
  file: File,
  models: readonly { readonly id: string }[],
): File {
  const ids = new Set(models.map(({ id }) => id));
  const idOf = (name: string): string => {
    const [id, ...others] = idsMeantBy(
      name,
      (known) => ids.has(known),
      () => ids,
    );
    return id === undefined || others.length > 0 ? name : id;
  };
  const resolved = <Owner extends { models?: unknown }>(owner: Owner): Owner =>
    Array.isArray(owner.models) ? { ...owner, models: owner.models.map(idOf) } : owner;
  const workspaces = file.workspaces.map((each) => ({ ...resolved(each), keys: each.keys.map(resolved) }));
  return { ...file, workspaces };
}
