// Stores functions. A function is found only in its workspace, and every write is conditional on the version that was
// read before.

import { canonicalJson } from '../../foundation/ids/index.ts';
import { readDuration } from '../../foundation/time/index.ts';
import { absent, equals, type Store, WriteRefused, writeOptimistically } from '../../storage/store/index.ts';
import { checkRevisions } from './check-content.ts';
import type { FunctionDocument, RevisionContent } from './function-document.ts';
import { listFunction } from './function-list.ts';
import { createFunctionReads, type FunctionReads } from './function-reader.ts';
import {
  type FunctionRecord,
  fromItem,
  functionKey,
  isFunctionItem,
  type RevisionRecord,
  revisionsMax,
  toItem,
  versionOf,
} from './function-record.ts';
import { contentOf, contentPut, type DeclaredRevision, type RevisionText, toText } from './revision-content.ts';
import { activate, activateRevision, qualify, requireQualified, withStatus } from './transitions.ts';

interface QualifiedRevision {
  readonly revisionId: string;
  /** `textSha256` of the record whose content was judged. */
  readonly textSha256: string;
}

export interface FunctionWithContents {
  readonly record: FunctionRecord;
  /** Contents by revision id. */
  readonly contents: ReadonlyMap<string, RevisionContent>;
}

export interface PlannedFunction {
  readonly change: FunctionWriteOutcome;
  readonly former: FunctionRecord | undefined;
  readonly next: FunctionRecord;
}

/**
 * The store. All calls throw StoreUnavailable; the operator's calls throw an Error that says why a change cannot be
 * made.
 */
export interface FunctionStore extends FunctionReads {
  /** Returns the change that `apply` would make now. Throws its errors. */
  plan(workspace: string, declared: FunctionDocument, nowMs: number): Promise<PlannedFunction>;
  /** Writes a checked function of the gateway file; writes nothing if it is unchanged. */
  apply(
    workspace: string,
    declared: FunctionDocument,
    nowMs: number,
    options?: FunctionApplyOptions,
  ): Promise<FunctionWriteOutcome>;
  /** Makes a revision the active one and enables the function. */
  activate(workspace: string, id: string, revisionId: string, nowMs: number): Promise<FunctionRecord>;
  /** Notes that every test case of the revision passed. */
  qualify(workspace: string, id: string, revision: QualifiedRevision, nowMs: number): Promise<FunctionRecord>;
  disable(workspace: string, id: string): Promise<FunctionRecord>;
  enable(workspace: string, id: string): Promise<FunctionRecord>;
  /** Yields functions of one workspace, or of all. For the operator, because it reads the whole table. */
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

// Reads, plans and writes, and starts again if another write came in between. Contents are written first, so that a
// record never names a missing content. The former content of a draft stays, as some kilobytes that no record names.
// Deleting it could remove content that another write has just named again.

type FunctionWriteOutcome = 'created' | 'changed' | 'unchanged';

interface WrittenFunction {
  readonly record: FunctionRecord;
  readonly change: FunctionWriteOutcome;
}

/** Writes a function. `plan` throws to refuse. Throws WriteRefused when other writes continue to arrive between. */
function writeFunction(
  store: Pick<Store, 'get' | 'put' | 'update'>,
  workspace: string,
  id: string,
  plan: (former: FunctionRecord | undefined) => ApplyPlan,
): Promise<WrittenFunction> {
  return writeOptimistically(`function ${id} of ${workspace} is`, async () => {
    const item = await store.get('functions', functionKey(workspace, id));
    const former = item === undefined ? undefined : fromItem(item);
    const { record, newTexts } = plan(former);
    const change = changeOf(former, record);
    if (change === 'unchanged') {
      // The record's last write may not have reached the list.
      await listFunction(store, record, versionOf(item));
      return { record, change };
    }
    for (const text of newTexts) await store.put(await contentPut(record, text));
    const version = versionOf(item);
    const result = await store.put({
      table: 'functions',
      item: toItem(record, version + 1),
      condition: item === undefined ? absent('pk') : equals('version', version),
    });
    if (result.kind !== 'written') return undefined;
    await listFunction(store, record, version + 1);
    return { record, change };
  });
}

function changeOf(former: FunctionRecord | undefined, next: FunctionRecord): FunctionWriteOutcome {
  if (former === undefined) return 'created';
  return canonicalJson(toItem(former, 0)) === canonicalJson(toItem(next, 0)) ? 'unchanged' : 'changed';
}

// Plans the change of a stored function by the gateway file. Pure. Parts that the file omits stay: status, active
// revision, and revisions that it does not name. An activated revision never changes and never becomes a draft again.

interface FunctionApplyOptions {
  /**
   * True if a draft with test cases is activated only after they have passed. A gateway file activates a draft without
   * this condition.
   */
  readonly needsQualified?: boolean;
}

interface ApplyPlan {
  readonly record: FunctionRecord;
  /** Contents that the former record does not name. */
  readonly newTexts: readonly RevisionText[];
}

/** Plans the change. Throws WriteRefused. */
function planApply(
  former: FunctionRecord | undefined,
  workspace: string,
  declared: FunctionDocument,
  nowMs: number,
  options: FunctionApplyOptions = {},
): ApplyPlan {
  const name = `function ${declared.id} of ${workspace}`;
  if (former !== undefined && former.revisions.size > 0 && former.kind !== declared.kind) {
    throw new WriteRefused(
      `${name} is a ${former.kind} and cannot become a ${declared.kind}: give the new one another id`,
      { path: ['kind'] },
    );
  }
  const revisions = new Map(former?.revisions);
  const texts = new Map<string, RevisionText>();
  for (const [index, revision] of declared.revisions.entries()) {
    const text = toText(contentOf(declared.kind, revision));
    const planned = within(name, ['revisions', index], () =>
      planRevision(revisions.get(revision.id), revision, text, nowMs, options),
    );
    revisions.set(revision.id, planned);
    if (planned.textSha256 === text.textSha256) texts.set(text.textSha256, text);
  }
  if (revisions.size > revisionsMax) throw new WriteRefused(`${name} would have more than ${revisionsMax} revisions`);
  const { id, kind, status = former?.status ?? 'enabled', active = former?.active ?? null } = declared;
  if (active !== null && revisions.get(active)?.state !== 'activated') throw notActivated(name, active, revisions);
  for (const { textSha256 } of former?.revisions.values() ?? []) texts.delete(textSha256);
  return { record: { workspace, id, kind, status, active, revisions }, newTexts: [...texts.values()] };
}

function notActivated(name: string, active: string, revisions: ReadonlyMap<string, RevisionRecord>): WriteRefused {
  const path = ['active'];
  if (revisions.has(active)) {
    return new WriteRefused(`${name}: the active revision ${active} is not activated`, { path });
  }
  const known = revisions.size === 0 ? 'none' : [...revisions.keys()].join(', ');
  return new WriteRefused(
    `${name}: there is no revision ${active} to be active, in the file or stored; there are ${known}`,
    { path },
  );
}

function planRevision(
  former: RevisionRecord | undefined,
  declared: DeclaredRevision,
  text: RevisionText,
  nowMs: number,
  { needsQualified = false }: FunctionApplyOptions,
): RevisionRecord {
  if (former?.state === 'activated') {
    if (former.contentSha256 === text.contentSha256) return former;
    throw new WriteRefused(`revision ${declared.id} is activated and cannot be changed any more: make a new revision`);
  }
  // The qualification of a draft belongs to exactly this text.
  const draft = former?.textSha256 === text.textSha256 ? former : newDraft(declared, text);
  if (declared.state !== 'activated') return draft;
  if (needsQualified) requireQualified(draft, nowMs);
  return activateRevision(draft, nowMs);
}

const newDraft = (declared: DeclaredRevision, { textSha256, contentSha256 }: RevisionText): RevisionRecord => ({
  id: declared.id,
  state: 'draft',
  expiresAtMs: declared.expires_at === null ? null : Date.parse(declared.expires_at),
  validForMs: declared.valid_for === null ? null : readValidity(declared.valid_for),
  hasCases: declared.cases.length > 0,
  qualifiedAtMs: null,
  activatedAtMs: null,
  textSha256,
  contentSha256,
});

function readValidity(written: string): number {
  const validForMs = readDuration(written, ['m', 'h', 'd', 'w']);
  if (validForMs === undefined) throw new WriteRefused(`valid_for ${written} is no length of time`);
  return validForMs;
}

function within<Value>(name: string, path: WriteRefused['path'], plan: () => Value): Value {
  try {
    return plan();
  } catch (cause) {
    throw cause instanceof WriteRefused ? new WriteRefused(`${name}: ${cause.message}`, { cause, path }) : cause;
  }
}
