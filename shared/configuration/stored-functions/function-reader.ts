// Reads functions for one instance. A record is read at most once per `configFreshMs`; a content never changes under
// its name, so it is read once and cached while there is space. So a first call costs two reads, a later call none or
// one. As with workspaces, an old record is never served while the store is down: the function may be disabled by now.
import { createReadCache } from '../../foundation/cache/index.ts';
import { configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { CallOptions, Store } from '../../storage/store/index.ts';
import { contentKey, type FunctionRecord, fromItem, functionKey, type RevisionRecord } from './function-record.ts';
import { type FoundFunction, type FunctionAlias, wantedRevision } from './open-revision.ts';
import { readContentItem, type StoredContent } from './revision-content.ts';

// Reads stored functions for calls. A function is found only in its workspace.

/** The reads; all calls throw StoreUnavailable. */
export interface FunctionReads {
  /** Reads a function with strong consistency, in one read; undefined when this workspace has none with the id. */
  read(workspace: string, id: string, options?: CallOptions): Promise<FunctionRecord | undefined>;
  /** Reads the content of a revision that the record names. */
  readContent(record: FunctionRecord, revision: RevisionRecord, options?: CallOptions): Promise<StoredContent>;
}

export const createFunctionReads = (store: Pick<Store, 'get'>): FunctionReads => ({
  async read(workspace, id, options = {}) {
    const item = await store.get('functions', functionKey(workspace, id), options);
    return item === undefined ? undefined : fromItem(item);
  },
  async readContent(record, { textSha256 }, options = {}) {
    return readContentItem(await store.get('functions', contentKey(record, textSha256), options));
  },
});

/** Maximum number of cached records, which have some kilobytes each. */
const cachedFunctionsMax = 1_000;
/**
 * Maximum bytes of cached content text; parsed content is a few times as large, which fits into a function of 512 MB.
 */
const cachedContentBytesMax = 16 * 1024 * 1024;

export interface FunctionReader {
  /**
   * Returns the function and the content of the revision that the alias names, if it was ever activated. At most
   * `configFreshMs` old. Undefined if this workspace has no function with this id. Throws StoreUnavailable.
   */
  read(workspace: string, alias: FunctionAlias): Promise<FoundFunction | undefined>;
}

interface FunctionReaderOptions {
  readonly functions: FunctionReads;
  readonly clock: Clock;
}

export function createFunctionReader({ functions, clock }: FunctionReaderOptions): FunctionReader {
  // A function that does not exist, is disabled or has no active revision is read at each call, because it may be
  // applied, enabled or activated at any moment, and is called right after.
  const records = createReadCache<FunctionRecord | undefined>({
    sizeMax: cachedFunctionsMax,
    freshMs: configFreshMs,
    keeps: ({ status, active }) => status === 'enabled' && active !== null,
    clock,
  });
  const contents = createReadCache<StoredContent>({
    sizeMax: cachedContentBytesMax,
    sizeOf: ({ bytes }) => bytes,
    clock,
  });

  return {
    async read(workspace, { functionId, revisionId }) {
      const record = await records.get(`${workspace}#${functionId}`, () => functions.read(workspace, functionId));
      if (record === undefined) return undefined;
      const revision = wantedRevision(record, revisionId);
      if (revision?.state !== 'activated') return { record, content: undefined };
      const key = contentKey(record, revision.textSha256);
      const { content } = await contents.get(key, () => functions.readContent(record, revision));
      return { record, content };
    },
  };
}
