import { describe, expect, it } from '#jest';
import {
  type FoundFunction,
  type FunctionRecord,
  openRevision,
  type RevisionFacts,
  type RevisionRecord,
} from '../../../shared/configuration/stored-functions/index.ts';
import { promptOf, refusalOf } from '../../support/function-revisions.ts';

const nowMs = 1_800_000_000_000;

const revision = (id: string, more: Partial<RevisionRecord> = {}): RevisionRecord => ({
  id,
  state: 'activated',
  expiresAtMs: null,
  validForMs: null,
  hasCases: false,
  qualifiedAtMs: null,
  activatedAtMs: nowMs,
  textSha256: 't',
  contentSha256: 'c',
  ...more,
});

const revisions = [
  revision('old'),
  revision('now'),
  revision('draft', { state: 'draft' }),
  revision('expired', { expiresAtMs: nowMs }),
  revision('ending', { expiresAtMs: nowMs + 1 }),
];

function facts(pinned?: string, more: Partial<FunctionRecord> = {}): RevisionFacts {
  const record: FunctionRecord = {
    workspace: 'team-a',
    id: 'f',
    kind: 'prompt',
    status: 'enabled',
    active: 'now',
    revisions: new Map(revisions.map((one) => [one.id, one])),
    ...more,
  };
  const wanted = revisions.find(({ id }) => id === (pinned ?? record.active));
  const content = wanted?.state === 'activated' ? promptOf({ model: wanted.id }) : undefined;
  const found: FoundFunction = { record, content };
  const alias = { functionId: 'f', revisionId: pinned };
  return { executionEnabled: true, found, alias, knownIds: ['f'], nowMs };
}

const refused = (code: Parameters<typeof refusalOf>[0], from: RevisionFacts) =>
  refusalOf(code, () => openRevision(from));

describe('a call opens', () => {
  it('the active revision', () => {
    expect(openRevision(facts())).toMatchObject({ functionId: 'f', revisionId: 'now', content: { model: 'now' } });
  });

  it('the pinned revision, although another one is active, or none', () => {
    expect(openRevision(facts('old'))).toMatchObject({ revisionId: 'old', content: { model: 'old' } });
    expect(openRevision(facts('old', { active: null }))).toMatchObject({ revisionId: 'old' });
  });

  it('a revision up to the millisecond before its end', async () => {
    expect(openRevision(facts('ending'))).toMatchObject({ revisionId: 'ending' });
    await refused('qualification_expired', { ...facts('ending'), nowMs: nowMs + 1 });
  });
});

describe('a call is refused with', () => {
  it('function_not_found where the workspace has no such function', async () => {
    await refused('function_not_found', { ...facts(), found: undefined });
  });

  it('function_disabled where the function is disabled, pinned or not', async () => {
    await refused('function_disabled', facts(undefined, { status: 'disabled' }));
    await refused('function_disabled', facts('old', { status: 'disabled' }));
  });

  it('revision_not_available where no revision is active', async () => {
    await refused('revision_not_available', facts(undefined, { active: null }));
  });

  it('revision_not_available where the pinned one was never activated or does not exist, with the same words', async () => {
    const never = await refused('revision_not_available', facts('draft'));
    expect(await refused('revision_not_available', facts('unknown'))).toBe(never);
  });

  it('qualification_expired where the active or the pinned revision has expired', async () => {
    await refused('qualification_expired', facts('expired'));
    await refused('qualification_expired', facts(undefined, { active: 'expired' }));
  });

  it('execution_disabled while execution is off, whatever else is wrong', async () => {
    await refused('execution_disabled', { ...facts(), executionEnabled: false });
    await refused('execution_disabled', { ...facts(), executionEnabled: false, found: undefined });
  });

  it('function_disabled before anything about its revisions', async () => {
    for (const pinned of ['draft', 'unknown', 'expired']) {
      await refused('function_disabled', facts(pinned, { status: 'disabled' }));
    }
    await refused('function_disabled', facts(undefined, { status: 'disabled', active: null }));
  });
});
