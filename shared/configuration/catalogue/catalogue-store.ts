// The catalogue at rest: every version is one immutable item named after the hash of its content, and one pointer says
// which of them is current. A reader therefore never sees half of a change.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { packText, unpackText } from '../../storage/blobs/index.ts';
import type { Store } from '../../storage/store/index.ts';
import type { CatalogueDocument } from './document.ts';

/** DynamoDB refuses items over 400 KB; the rest is for the other attributes. */
const catalogueBodyMaxBytes = 380 * 1024;
/** A former version can be taken back this long, and instances that still serve it can still read it. */
const supersededLifeSeconds = 7 * 24 * 60 * 60;

const pointerKey = 'CATALOGUE';
const bodyKey = (version: string): string => `${pointerKey}#${version}`;

export interface CatalogueWrite {
  readonly version: string;
  readonly change: 'created' | 'changed' | 'unchanged';
}

export interface CatalogueStore {
  /**
   * Makes a checked document the current one. Writes nothing where it already is. Throws an Error with a text for the
   * operator when the document is too large or another write came between, StoreUnavailable like any call.
   */
  write(document: CatalogueDocument, nowMs: number): Promise<CatalogueWrite>;
  /** The version of the current document; undefined: none was ever written. */
  readVersion(): Promise<string | undefined>;
  readBody(version: string): Promise<CatalogueDocument | undefined>;
}

export function createCatalogueStore(store: Store): CatalogueStore {
  const readVersion = async () => (await store.get('config', pointerKey))?.version as string | undefined;
  return {
    async write(document, nowMs) {
      const json = canonicalJson(document);
      const version = sha256Hex(json);
      const body = await packBody(json);
      const former = await readVersion();
      if (former === version) return { version, change: 'unchanged' };
      // A whole new item, so that a version that is taken back loses its expiry. The body first: a pointer never dangles.
      await store.put({ table: 'config', item: { pk: bodyKey(version), body_gzip: body }, repeatable: true });
      await movePointer(store, former, version);
      if (former !== undefined) await expire(store, former, nowMs);
      return { version, change: former === undefined ? 'created' : 'changed' };
    },
    readVersion,
    async readBody(version) {
      // Its expiry is not looked at: what is still there is exactly what its name says.
      const item = await store.get('config', bodyKey(version));
      if (item === undefined) return undefined;
      const json = await unpackText({ bytes: item.body_gzip as Uint8Array });
      if (json === undefined || sha256Hex(json) !== version)
        throw new Error(`the body of catalogue ${version} is damaged`);
      return JSON.parse(json) as CatalogueDocument;
    },
  };
}

async function packBody(json: string): Promise<Uint8Array> {
  const { bytes } = await packText(json);
  if (bytes.byteLength > catalogueBodyMaxBytes) {
    throw new Error(
      `the catalogue is too large: ${bytes.byteLength} bytes compressed, and at most ${catalogueBodyMaxBytes} can be stored`,
    );
  }
  return bytes;
}

async function movePointer(store: Store, former: string | undefined, version: string): Promise<void> {
  const asRead = former === undefined ? 'attribute_not_exists(pk)' : 'version = :former';
  const result = await store.put({
    table: 'config',
    item: { pk: pointerKey, version },
    condition: asRead,
    ...(former === undefined ? {} : { values: { ':former': former } }),
  });
  if (result.kind === 'refused' && result.item?.version !== version) {
    throw new Error('the catalogue was changed by another writer at the same time: apply the file again');
  }
}

/** A crash before this line leaves a body that stays for ever: some kilobytes that no pointer names. */
async function expire(store: Store, version: string, nowMs: number): Promise<void> {
  await store.update({
    table: 'config',
    key: bodyKey(version),
    expression: 'SET expires_at_epoch_seconds = :expires',
    condition: 'attribute_exists(pk)',
    values: { ':expires': Math.floor(nowMs / 1000) + supersededLifeSeconds },
    repeatable: true,
  });
}
