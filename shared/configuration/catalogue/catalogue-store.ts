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

/** Gateways that start together apply the same file together; the second read shows each that the work is done. */
const writeAttemptsMax = 3;

const pointerKey = 'CATALOGUE';
const bodyKey = (version: string): string => `${pointerKey}#${version}`;

export interface CatalogueWrite {
  readonly version: string;
  readonly change: 'created' | 'changed' | 'unchanged';
}

export interface CatalogueStore {
  /**
   * Makes what `plan` gives the current document. Writes nothing where it already is. Throws an Error for the operator
   * when the document is too large or other writes keep coming in between, StoreUnavailable like any call.
   */
  write(plan: (former: CatalogueDocument | undefined) => CatalogueDocument, nowMs: number): Promise<CatalogueWrite>;
  /** The current document; undefined: none was ever written. */
  read(): Promise<CatalogueDocument | undefined>;
  readVersion(): Promise<string | undefined>;
  readBody(version: string): Promise<CatalogueDocument | undefined>;
}

export function createCatalogueStore(store: Store): CatalogueStore {
  const readVersion = async () => (await store.get('config', pointerKey))?.version as string | undefined;

  async function readBody(version: string): Promise<CatalogueDocument | undefined> {
    // Its expiry does not matter: a body that is still there is what its name says.
    const item = await store.get('config', bodyKey(version));
    if (item === undefined) return undefined;
    const json = await unpackText({ bytes: item.body_gzip as Uint8Array });
    if (json === undefined || sha256Hex(json) !== version) {
      throw new Error(`the body of catalogue ${version} is damaged`);
    }
    return JSON.parse(json) as CatalogueDocument;
  }

  return {
    async write(plan, nowMs) {
      for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
        const former = await readVersion();
        const json = canonicalJson(plan(former === undefined ? undefined : await readBody(former)));
        const version = sha256Hex(json);
        if (former === version) return { version, change: 'unchanged' };
        // A whole new item, so that a version that is taken back loses its expiry. The body first: a pointer never dangles.
        const body = await packBody(json);
        await store.put({ table: 'config', item: { pk: bodyKey(version), body_gzip: body }, repeatable: true });
        if (!(await movePointer(store, former, version))) continue;
        if (former !== undefined) await expire(store, former, nowMs);
        return { version, change: former === undefined ? 'created' : 'changed' };
      }
      throw new Error('the catalogue is being changed by another writer: apply the file again');
    },
    async read() {
      const version = await readVersion();
      return version === undefined ? undefined : readBody(version);
    },
    readVersion,
    readBody,
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

/** False: another write came in between. */
async function movePointer(store: Store, former: string | undefined, version: string): Promise<boolean> {
  const result = await store.put({
    table: 'config',
    item: { pk: pointerKey, version },
    condition: former === undefined ? 'attribute_not_exists(pk)' : 'version = :former',
    ...(former === undefined ? {} : { values: { ':former': former } }),
  });
  // Refused by its own first try, or by a writer of the same document.
  return result.kind === 'written' || result.item?.version === version;
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
