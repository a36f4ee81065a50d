// What calls read of functions at rest. A function is found only under its workspace.
import type { CallOptions, Store } from '../../storage/store/index.ts';
import { contentKey, type FunctionRecord, fromItem, functionKey, type RevisionRecord } from './function-record.ts';
import { readContentItem, type StoredContent } from './revision-content.ts';

/** All calls throw StoreUnavailable. */
export interface FunctionReads {
  /** Strongly consistent, one read. Undefined: this workspace has no such function. */
  read(workspace: string, id: string, options?: CallOptions): Promise<FunctionRecord | undefined>;
  /** The content of a revision that the record names. */
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
