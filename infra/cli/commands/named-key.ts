// A key as every command names it: by its name in a workspace, or by its public id.
import {
  type AdministrationDependencies,
  readActiveKey,
  readKey,
} from '../../../shared/configuration/administration/index.ts';
import type { KeyRecord } from '../../../shared/configuration/keys/index.ts';
import { publicIdIn, readKeyName, UsageError } from '../args/option-values.ts';

type KeyReference = { readonly publicId: string } | { readonly workspace: string; readonly name: string };

export const keyNote =
  'KEY is a name with --workspace, or the public id: the 16 characters behind sk-gw-, as keys list shows.';
export const workspaceOfName = 'where KEY is a name: the workspace that has it';

/** Throws UsageError. */
export function toNamedKey(key: string, workspace: string | undefined): KeyReference {
  if (workspace !== undefined) return { workspace, name: readKeyName('KEY', key) };
  const publicId = publicIdIn(key);
  if (publicId !== undefined) return { publicId };
  throw new UsageError(
    'KEY is the 16 letters and digits behind sk-gw-, as the list shows them, or a name with --workspace',
  );
}

/** Finds the active key of a name. Throws ChangeFailed. */
export const readNamedKey = (deps: AdministrationDependencies, named: KeyReference): Promise<KeyRecord> =>
  'publicId' in named ? readKey(deps, named.publicId) : readActiveKey(deps, named);
