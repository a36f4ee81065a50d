import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  createFunctionReader,
  type FunctionRecord,
  type FunctionRequest,
  type FunctionStore,
  findCycle,
  outputTextOf,
  parseFunctionAlias,
  planSteps,
  type RevisionRecord,
  runWorkflow,
  type StepAnswer,
  type StepNeeds,
  type WorkflowRevision,
  type WorkflowStep,
} from '../../../shared/configuration/stored-functions/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { sumUsage } from '../../../shared/protocol/wire/index.ts';
import { promptOf, stepOf, workflowOf } from '../../support/function-revisions.ts';
import { manualClock } from '../../support/manual-clock.ts';

describe('findCycle', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

  it('answers with steps of which each needs the next, the last one the first', () => {
    fc.assert(
      fc.property(fc.array(fc.subarray(ids), { minLength: ids.length, maxLength: ids.length }), (needs) => {
        const steps = ids.map((id, index): StepNeeds => ({ id, needs: needs[index] ?? [] }));
        const cycle = findCycle(steps);
        for (const [index, id] of (cycle ?? []).entries()) {
          const next = cycle?.[(index + 1) % cycle.length] ?? '';
          expect(steps.find((candidate) => candidate.id === id)?.needs).toContain(next);
        }
      }),
    );
  });
});

interface OpenStep {
  readonly request: FunctionRequest;
  readonly signal: AbortSignal;
  readonly answer: (output: string) => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
}

/** Resolves when nothing can continue before a step is answered. */
const settled = nextTurn;

/** Starts a workflow whose steps the test answers by hand. */
function start(content: WorkflowRevision, input: Record<string, unknown> = {}, passed = {}) {
  const open = new Map<string, OpenStep>();
  const started: string[] = [];
  const result = runWorkflow<StepAnswer>(content, { input, passed }, (step, request, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<StepAnswer>();
    started.push(step.id);
    const close = (end: () => void) => {
      open.delete(step.id);
      end();
      return settled().then(() => {});
    };
    open.set(step.id, {
      request,
      signal,
      answer: (output) => close(() => resolve({ output })),
      fail: (error) => close(() => reject(error)),
    });
    return promise;
  });
  result.catch(() => {});
  return { open, started, result, running: () => [...open.keys()].toSorted() };
}

describe('a workflow', () => {
  it('starts nothing after the first failure, stops what runs, waits for it, and fails with the first', async () => {
    const steps = [stepOf('a', 'x'), stepOf('b', 'x'), stepOf('c', '{{steps.b.output}}')];
    const run = start(workflowOf(steps, { step: 'c' }));
    const b = run.open.get('b');
    let isOver = false;
    run.result.catch(() => {
      isOver = true;
    });
    expect(b?.signal.aborted).toBe(false);
    await run.open.get('a')?.fail(new Error('first'));
    expect(b?.signal.aborted).toBe(true);
    expect(isOver).toBe(false);
    await b?.fail(new Error('second'));
    await expect(run.result).rejects.toThrow('first');
    expect(run.started).toEqual(['a', 'b']);
  });

  it('never runs more than eight steps at the same time, and still runs all of them', async () => {
    const steps = Array.from({ length: 20 }, (_, index) => stepOf(`s${index}`, 'x'));
    const run = start(workflowOf(steps, { step: 's0' }));
    const sizes: number[] = [];
    while (run.open.size > 0) {
      sizes.push(run.open.size);
      await [...run.open.values()][0]?.answer('x');
    }
    expect(Math.max(...sizes)).toBe(8);
    expect((await run.result).answers.size).toBe(20);
  });
});

/** Steps in any order, without a cycle. */
const anyWorkflow = fc
  .array(fc.array(fc.nat({ max: 9 }), { maxLength: 3 }), { minLength: 1, maxLength: 10 })
  .chain((needs) => {
    const steps = needs.map((wantedSteps, index) => {
      const earlier = wantedSteps.filter((need) => need < index);
      return stepOf(`s${index}`, earlier.map((need) => `{{steps.s${need}.output}}`).join(' ') || 'x');
    });
    return fc.shuffledSubarray(steps, { minLength: steps.length });
  });

const needsOf = (steps: readonly WorkflowStep[], id: string): string[] =>
  planSteps(steps).flatMap(({ step, needs }) => (step.id === id ? needs : []));

describe('any workflow without a cycle', () => {
  it('runs every step once, after its needs, with everything running that can', async () => {
    await fc.assert(
      fc.asyncProperty(anyWorkflow, fc.infiniteStream(fc.nat()), async (steps, choices) => {
        const run = start(workflowOf(steps, { step: 's0' }));
        const done = new Set<string>();
        while (run.open.size > 0) {
          const canRun = steps.filter(({ id }) => !done.has(id) && needsOf(steps, id).every((need) => done.has(need)));
          const bound = Math.min(canRun.length, 8);
          expect(run.open.size).toBe(bound);
          for (const id of run.open.keys()) expect(canRun.map((step) => step.id)).toContain(id);
          const ids = [...run.open.keys()];
          const chosen = ids[(choices.next().value ?? 0) % ids.length] ?? '';
          await run.open.get(chosen)?.answer(`answer of ${chosen}`);
          done.add(chosen);
        }
        await run.result;
        expect(run.started.toSorted()).toEqual(steps.map(({ id }) => id).toSorted());
      }),
      { numRuns: 50 },
    );
  });

  it('whose steps were never checked is refused, not waited for', async () => {
    const cycle = [stepOf('a', '{{steps.b.output}}'), stepOf('b', '{{steps.a.output}}')];
    expect(() => planSteps(cycle)).toThrow('wait for each other');
    expect(() => planSteps([stepOf('a', '{{steps.z.output}}')])).toThrow('no step');
    await expect(start(workflowOf(cycle, { step: 'a' })).result).rejects.toThrow();
  });
});

describe('the text of an answer', () => {
  const answer = (message: unknown) => ({ choices: [{ message }] });

  it('is the content of the first choice, or the texts of its parts', () => {
    expect(outputTextOf(answer({ content: 'x' }))).toBe('x');
    const parts = [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(outputTextOf(answer({ content: parts }))).toBe('ab');
  });
});

describe('the usage of several provider calls', () => {
  it('is the sum of their counts, details included', () => {
    expect(
      sumUsage([
        { prompt_tokens: 1, total_tokens: 3, prompt_tokens_details: { cached_tokens: 1 }, service: 'x' },
        undefined,
        { prompt_tokens: 10, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 2, audio_tokens: 4 } },
      ]),
    ).toEqual({
      prompt_tokens: 11,
      completion_tokens: 20,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 3, audio_tokens: 4 },
      service: 'x',
    });
  });

  it('is absent if no provider reported any', () => {
    expect(sumUsage([undefined, undefined])).toBeUndefined();
  });

  it('gives no credit for numbers that are none, and changes no prototype', () => {
    const hostile = JSON.parse('{"__proto__":{"prompt_tokens":5},"prompt_tokens":-9,"total_tokens":"7"}') as object;
    const sum = sumUsage([{ prompt_tokens: 2 }, { ...hostile }, { prompt_tokens: Number.NaN }]);
    expect(sum?.prompt_tokens).toBe(2);
    expect(({} as Record<string, unknown>).prompt_tokens).toBeUndefined();
  });
});

describe('revisions', () => {
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
});
