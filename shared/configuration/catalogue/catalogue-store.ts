// Stores the catalogue. Every version is one immutable item named after the hash of its content, and one pointer names
// the current version. So a reader never sees half of a change. The pointer also has the disabled providers, so that
// one read returns both.
import { cataloguePointerItem } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { packText, unpackText } from '../../storage/blobs/index.ts';
import {
  absent,
  and,
  type Condition,
  equals,
  exists,
  type Item,
  type Store,
  WriteRefused,
  writeOptimistically,
} from '../../storage/store/index.ts';
import type { CatalogueDocument, ProviderDocument } from './catalogue-document.ts';

/** Bound of a body. DynamoDB refuses items over 400 KB, and the rest is for the other attributes. */
const catalogueBodyMaxBytes = 380 * 1024;
/** Time for which a former version can be restored, and for which instances that still serve it can read it. */
const supersededLifeSeconds = 7 * 24 * 60 * 60;

const pointerKey = cataloguePointerItem.key;
const bodyKey = (version: string): string => `${pointerKey}#${version}`;

interface CatalogueWrite {
  readonly version: string;
  readonly change: 'created' | 'changed' | 'unchanged';
}

/** The current version. */
export interface CataloguePointer {
  readonly version: string;
  /** Ids of the disabled providers, sorted. */
  readonly disabledProviders: readonly string[];
  /** Set while the gateway is paused. Nothing else in its tables then counts. */
  readonly refusesCalls?: true;
}

export interface CatalogueStore {
  /**
   * Writes the document of `plan` as the current document, unless it already is the current document. Throws
   * WriteRefused when the document is too large or other writes continue to arrive between, StoreUnavailable like any
   * call.
   */
  write(plan: (former: CatalogueDocument | undefined) => CatalogueDocument, nowMs: number): Promise<CatalogueWrite>;
  /** Returns the current document; undefined if none was ever written. */
  read(): Promise<CatalogueDocument | undefined>;
  readPointer(): Promise<CataloguePointer | undefined>;
  /**
   * Makes every process refuse calls, or serve them again, within seconds. Returns false if nothing changed. Throws
   * WriteRefused if no file was ever applied.
   */
  setPaused(isPaused: boolean): Promise<boolean>;
  readDocument(pointer: CataloguePointer): Promise<CatalogueDocument | undefined>;
}

const paused = 'this gateway is paused: try again once it is resumed (gw resume)';

export const isSamePointer = (left: CataloguePointer, right: CataloguePointer): boolean =>
  left.version === right.version &&
  left.refusesCalls === right.refusesCalls &&
  canonicalJson(left.disabledProviders) === canonicalJson(right.disabledProviders);

export function createCatalogueStore(store: Store): CatalogueStore {
  const readPointer = async () => pointerOf(await store.get('config', pointerKey));

  async function readDocument({
    version,
    disabledProviders,
  }: CataloguePointer): Promise<CatalogueDocument | undefined> {
    // The expiry does not matter, because a body that still exists matches its name.
    const item = await store.get('config', bodyKey(version));
    if (item === undefined) return undefined;
    const json = await unpackText({ bytes: item.body_gzip as Uint8Array });
    if (json === undefined || sha256Hex(json) !== version) {
      throw new Error(`the body of catalogue ${version} is damaged`);
    }
    return withStatuses(JSON.parse(json) as CatalogueBody, disabledProviders);
  }

  return {
    write: (plan, nowMs) =>
      writeOptimistically('the catalogue is', async (): Promise<CatalogueWrite | undefined> => {
        const former = await readPointer();
        if (former?.refusesCalls) throw new WriteRefused(paused);
        const document = plan(former === undefined ? undefined : await readDocument(former));
        const json = canonicalJson(bodyOf(document));
        const next = { version: sha256Hex(json), disabledProviders: disabledIn(document) };
        const { version } = next;
        if (former !== undefined && isSamePointer(former, next)) return { version, change: 'unchanged' };
        const isNewVersion = former?.version !== version;
        // The whole item is replaced, so that a restored version loses its expiry. The body is written first, so that
        // the pointer always names an existing body.
        if (isNewVersion) {
          const body = await packBody(json);
          await store.put({ table: 'config', item: { pk: bodyKey(version), body_gzip: body }, repeatable: true });
        }
        if (!(await movePointer(store, former, next))) return undefined;
        if (former !== undefined && isNewVersion) await expire(store, former.version, nowMs);
        return { version, change: former === undefined ? 'created' : 'changed' };
      }),
    async read() {
      const pointer = await readPointer();
      return pointer === undefined ? undefined : readDocument(pointer);
    },
    readPointer,
    async setPaused(isPaused) {
      const { refusesCalls } = cataloguePointerItem;
      const result = await store.update({
        table: 'config',
        key: pointerKey,
        changes: isPaused ? { set: { [refusesCalls]: true } } : { remove: [refusesCalls] },
        condition: and(exists('pk'), isPaused ? absent(refusesCalls) : exists(refusesCalls)),
        repeatable: true,
      });
      if (result.kind === 'refused' && result.item === undefined)
        throw new WriteRefused('no gateway file was ever applied');
      return result.kind === 'written';
    },
    readDocument,
  };
}

/** Content of a version, which is hashed without the status of providers. */
type CatalogueBody = Omit<CatalogueDocument, 'providers'> & {
  readonly providers: readonly Omit<ProviderDocument, 'status'>[];
};

const bodyOf = ({ providers, ...rest }: CatalogueDocument): CatalogueBody => ({
  ...rest,
  providers: providers.map(({ status: _status, ...provider }) => provider),
});

const disabledIn = ({ providers }: CatalogueDocument): string[] =>
  providers.flatMap(({ id, status }) => (status === 'disabled' ? [id] : [])).sort();

const withStatuses = ({ providers, ...rest }: CatalogueBody, disabled: readonly string[]): CatalogueDocument => ({
  ...rest,
  providers: providers.map((provider) => ({
    ...provider,
    status: disabled.includes(provider.id) ? 'disabled' : 'enabled',
  })),
});

const pointerOf = (item: Item | undefined): CataloguePointer | undefined =>
  item && {
    version: item.version as string,
    disabledProviders: (item.disabled_providers ?? []) as readonly string[],
    ...(item[cataloguePointerItem.refusesCalls] === true ? { refusesCalls: true as const } : {}),
  };

async function packBody(json: string): Promise<Uint8Array> {
  const { bytes } = await packText(json);
  if (bytes.byteLength > catalogueBodyMaxBytes) {
    throw new WriteRefused(
      `the catalogue is too large: ${bytes.byteLength} bytes compressed, and at most ${catalogueBodyMaxBytes} can be stored`,
    );
  }
  return bytes;
}

/** Returns false if another write came in between. */
async function movePointer(
  store: Store,
  former: CataloguePointer | undefined,
  next: CataloguePointer,
): Promise<boolean> {
  const { version, disabledProviders: disabled } = next;
  const result = await store.put({
    table: 'config',
    item: { pk: pointerKey, version, ...(disabled.length === 0 ? {} : { disabled_providers: disabled }) },
    condition: isStill(former),
  });
  if (result.kind === 'written') return true;
  // An earlier try of this write, or a writer of the same document, has succeeded already.
  const storedPointer = pointerOf(result.item);
  return storedPointer !== undefined && isSamePointer(storedPointer, next);
}

function isStill(former: CataloguePointer | undefined): Condition {
  if (former === undefined) return absent('pk');
  const { version, disabledProviders: disabled } = former;
  return and(
    equals('version', version),
    absent(cataloguePointerItem.refusesCalls),
    disabled.length === 0 ? absent('disabled_providers') : equals('disabled_providers', disabled),
  );
}

/**
 * Expires a former version. A crash before this call leaves a body of some kilobytes forever, without a pointer to it.
 */
async function expire(store: Store, version: string, nowMs: number): Promise<void> {
  await store.update({
    table: 'config',
    key: bodyKey(version),
    changes: { set: { expires_at_epoch_seconds: Math.floor(nowMs / 1000) + supersededLifeSeconds } },
    condition: exists('pk'),
    repeatable: true,
  });
}
