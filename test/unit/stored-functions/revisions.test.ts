import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  createFunctionReader,
  type FunctionRecord,
  type FunctionStore,
  parseFunctionAlias,
  type RevisionRecord,
} from '../../../shared/configuration/stored-functions/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { promptOf } from '../../support/function-revisions.ts';
import { manualClock } from '../../support/manual-clock.ts';

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

describe('a function alias', () => {
  it('names a function, or a function and one revision of it', () => {
    fc.assert(
      fc.property(id, id, (functionId, revisionId) => {
        expect(parseFunctionAlias(`gw/function/${functionId}`)).toEqual({ functionId, revisionId: undefined });
        expect(parseFunctionAlias(`gw/function/${functionId}@${revisionId}`)).toEqual({ functionId, revisionId });
      }),
    );
  });
});

const revision = (id: string, state: RevisionRecord['state'] = 'activated'): [string, RevisionRecord] => [
  id,
  {
    id,
    state,
    expiresAtMs: null,
    validForMs: null,
    hasCases: false,
    qualifiedAtMs: null,
    activatedAtMs: null,
    textSha256: `text of ${id}`,
    contentSha256: '',
  },
];

function instance(bytesOf = (_id: string) => 100) {
  const clock = manualClock();
  const stored: { record: FunctionRecord | undefined; down: boolean } = {
    record: {
      workspace: 'team-a',
      id: 'f',
      kind: 'prompt',
      status: 'enabled',
      active: 'r2',
      revisions: new Map([revision('r1'), revision('r2'), revision('draft', 'draft')]),
    },
    down: false,
  };
  const reads: string[] = [];
  const functions: Pick<FunctionStore, 'read' | 'readContent'> = {
    async read(workspace, id) {
      reads.push(`${workspace}/${id}`);
      if (stored.down) throw new Error('down');
      return workspace === 'team-a' && id === 'f' ? stored.record : undefined;
    },
    async readContent(_record, { id }) {
      reads.push(id);
      return { content: promptOf({ model: id }), bytes: bytesOf(id) };
    },
  };
  const reader = createFunctionReader({ functions, clock });
  const read = (revisionId?: string, functionId = 'f', workspace = 'team-a') =>
    reader.read(workspace, { functionId, revisionId });
  return { clock, stored, reads, read };
}

describe('an instance', () => {
  it('reads no content for a revision that cannot be called', async () => {
    const { reads, read } = instance();
    for (const pinned of ['draft', 'unknown']) expect(await read(pinned)).toMatchObject({ content: undefined });
    expect(reads).toEqual(['team-a/f']);
  });

  it('serves no old record while the store is down, and none of its failures later', async () => {
    const { clock, stored, read } = instance();
    await read();
    clock.advance(configFreshMs);
    stored.down = true;
    await expect(read()).rejects.toThrow('down');
    stored.down = false;
    expect((await read())?.content).toMatchObject({ model: 'r2' });
  });

  it('forgets contents that together weigh too much, and reads them again', async () => {
    const { reads, read } = instance(() => 9 * 1024 * 1024);
    await read('r1');
    await read('r2');
    await read('r2');
    expect(reads).toEqual(['team-a/f', 'r1', 'r2']);
    await read('r1');
    expect(reads).toEqual(['team-a/f', 'r1', 'r2', 'r1']);
  });
});
