// Stored functions. A function is found only under its workspace, and every write is conditional on the version that
// was read before.
import { type Store, WriteRefused } from '../../storage/store/index.ts';
import { checkRevisions } from './check-content.ts';
import type { FunctionDocument, RevisionContent } from './function-document.ts';
import { createFunctionReads, type FunctionReads } from './function-reader.ts';
import { type FunctionRecord, fromItem, isFunctionItem } from './function-record.ts';
import { type FunctionApplyOptions, planApply } from './plan-apply.ts';
import { contentPut } from './revision-content.ts';
import { activate, qualify, withStatus } from './transitions.ts';
import { changeOf, type FunctionWriteOutcome, writeFunction } from './write-function.ts';

interface QualifiedRevision {
  readonly revisionId: string;
  /** `textSha256` of the record whose content was judged. */
  readonly textSha256: string;
}

export interface FunctionWithContents {
  readonly record: FunctionRecord;
  /** By revision id. */
  readonly contents: ReadonlyMap<string, RevisionContent>;
}

export interface PlannedFunction {
  readonly change: FunctionWriteOutcome;
  readonly former: FunctionRecord | undefined;
  readonly next: FunctionRecord;
}

/** All calls throw StoreUnavailable; the operator's calls throw an Error that says why a change cannot be made. */
export interface FunctionStore extends FunctionReads {
  /** Change that `apply` would make now. Throws its errors. */
  plan(workspace: string, declared: FunctionDocument, nowMs: number): Promise<PlannedFunction>;
  /** Writes a checked function of the gateway file; writes nothing where it is unchanged. */
  apply(
    workspace: string,
    declared: FunctionDocument,
    nowMs: number,
    options?: FunctionApplyOptions,
  ): Promise<FunctionWriteOutcome>;
  /** Makes a revision the active one and enables the function. */
  activate(workspace: string, id: string, revisionId: string, nowMs: number): Promise<FunctionRecord>;
  /** After every test case of the revision passed. */
  qualify(workspace: string, id: string, revision: QualifiedRevision, nowMs: number): Promise<FunctionRecord>;
  disable(workspace: string, id: string): Promise<FunctionRecord>;
  enable(workspace: string, id: string): Promise<FunctionRecord>;
  /** Functions of one workspace, or of all. For the operator: reads the whole table. */
  list(workspace?: string): AsyncIterable<FunctionRecord>;
  show(workspace: string, id: string): Promise<FunctionWithContents | undefined>;
}

export function createFunctionStore(store: Store): FunctionStore {
  const change = async (workspace: string, id: string, step: (former: FunctionRecord) => FunctionRecord) => {
    const { record } = await writeFunction(store, workspace, id, (former) => {
      if (former === undefined) throw new WriteRefused(`workspace ${workspace} has no function ${id}`);
      return { record: step(former), newTexts: [] };
    });
    return record;
  };

  const functions: FunctionStore = {
    ...createFunctionReads(store),
    async plan(workspace, declared, nowMs) {
      await checkRevisions(workspace, declared);
      const former = await functions.read(workspace, declared.id);
      const { record, newTexts } = planApply(former, workspace, declared, nowMs);
      for (const text of newTexts) await contentPut(record, text);
      return { change: changeOf(former, record), former, next: record };
    },
    async apply(workspace, declared, nowMs, options) {
      await checkRevisions(workspace, declared);
      const plan = (former: FunctionRecord | undefined) => planApply(former, workspace, declared, nowMs, options);
      return (await writeFunction(store, workspace, declared.id, plan)).change;
    },
    activate: (workspace, id, revisionId, nowMs) =>
      change(workspace, id, (former) => activate(former, revisionId, nowMs)),
    qualify: (workspace, id, { revisionId, textSha256 }, nowMs) =>
      change(workspace, id, (former) => qualify(former, revisionId, textSha256, nowMs)),
    disable: (workspace, id) => change(workspace, id, (former) => withStatus(former, 'disabled')),
    enable: (workspace, id) => change(workspace, id, (former) => withStatus(former, 'enabled')),
    async *list(workspace) {
      for await (const item of store.scan('functions')) {
        if (!isFunctionItem(item)) continue;
        if (workspace === undefined || item.workspace === workspace) yield fromItem(item);
      }
    },
    async show(workspace, id) {
      const record = await functions.read(workspace, id);
      if (record === undefined) return undefined;
      const contents = new Map<string, RevisionContent>();
      for (const revision of record.revisions.values()) {
        contents.set(revision.id, (await functions.readContent(record, revision)).content);
      }
      return { record, contents };
    },
  };
  return functions;
}
