// Stores the gateway file that a start or `gw apply` applied last, with the data to which it was applied: a later start
// applies the file's changes since then, and leaves the rest as operators changed it. Key texts are stored only as
// hashes.
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { JsonObject } from '../../protocol/wire/index.ts';
import { packText, unpackText } from '../../storage/blobs/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { type GatewayFile, gatewayFileSchema, type ReadFile } from './gateway-file.ts';
import { checkWith } from './problems.ts';
import { isMapping } from './yaml-source.ts';

const itemKey = 'APPLIED_FILE';
/** Bound of the stored body. DynamoDB refuses items over 400 KB. */
const bodyMaxBytes = 380 * 1024;

export interface AppliedFile {
  /** Absolute path of the file. */
  readonly path: string;
  /** The file without the texts of keys. */
  readonly file: GatewayFile;
  /** Hashes of key texts, by `keyNameIn`. */
  readonly keyHashes: ReadonlyMap<string, string>;
  /** Ids of the models that the file made; a later model list may make more. */
  readonly modelIds: ReadonlySet<string>;
}

interface StoredFile {
  readonly path: string;
  readonly source: unknown;
  readonly keys: Readonly<Record<string, string>>;
  readonly models: readonly string[];
}

const keyNameIn = (workspace: string, key: string): string => `${workspace}/${key}`;

/** Returns undefined if no file was stored, or if this release no longer accepts the stored file. */
export async function readAppliedFile(store: Pick<Store, 'get'>): Promise<AppliedFile | undefined> {
  const item = await store.get('config', itemKey);
  if (item === undefined) return undefined;
  const json = await unpackText({ bytes: item.body_gzip as Uint8Array, sha256: String(item.sha256) });
  if (json === undefined) return undefined;
  const { path, source, keys, models } = JSON.parse(json) as StoredFile;
  const result = checkWith(gatewayFileSchema, source);
  if (!result.ok) return undefined;
  return { path, file: result.value, keyHashes: new Map(Object.entries(keys)), modelIds: new Set(models) };
}

/** Stores the file. Returns false if it is too large, so that the next start applies it completely. */
export async function keepAppliedFile(
  store: Pick<Store, 'put' | 'delete'>,
  { file, source }: Pick<ReadFile, 'file' | 'source'>,
  { path, modelIds }: { readonly path: string; readonly modelIds: Iterable<string> },
): Promise<boolean> {
  const hashes = file.workspaces.flatMap(({ id, keys }) =>
    keys.flatMap(({ name, key }) => (key === undefined ? [] : [[keyNameIn(id, name), sha256Hex(key)] as const])),
  );
  const storedFile: StoredFile = {
    path,
    source: withoutKeyTexts(source),
    keys: Object.fromEntries(hashes),
    models: [...modelIds],
  };
  const { bytes, sha256 } = await packText(JSON.stringify(storedFile));
  const isStored = bytes.byteLength <= bodyMaxBytes;
  if (isStored) await store.put({ table: 'config', item: { pk: itemKey, body_gzip: bytes, sha256 }, repeatable: true });
  else await store.delete('config', itemKey);
  return isStored;
}

/** Returns the file without key texts that are unchanged since the former file. */
export function withoutFormerKeyTexts(file: GatewayFile, { keyHashes }: AppliedFile): GatewayFile {
  const workspaces = file.workspaces.map((workspace) => ({
    ...workspace,
    keys: workspace.keys.map(({ key, ...settings }) =>
      key === undefined || keyHashes.get(keyNameIn(workspace.id, settings.name)) === sha256Hex(key)
        ? settings
        : { ...settings, key },
    ),
  }));
  return { ...file, workspaces };
}

function withoutKeyTexts(source: unknown): unknown {
  const { workspaces, ...rest } = source as JsonObject;
  if (!Array.isArray(workspaces)) return source;
  const stripped = workspaces.map((workspace: unknown) => {
    if (!isMapping(workspace) || !Array.isArray(workspace.keys)) return workspace;
    const keys = workspace.keys.map((key: unknown) => {
      if (!isMapping(key)) return key;
      const { key: _text, ...settings } = key;
      return settings;
    });
    return { ...workspace, keys };
  });
  return { ...rest, workspaces: stripped };
}
