import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  type FunctionRequest,
  planSteps,
  runWorkflow,
  type StepAnswer,
  type WorkflowRevision,
  type WorkflowStep,
} from '../../../shared/configuration/stored-functions/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { message, refusalOf, stepOf, workflowOf } from '../../support/function-revisions.ts';

interface OpenStep {
  readonly request: FunctionRequest;
  readonly signal: AbortSignal;
  readonly answer: (output: string) => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
}

/** Whatever can go on without a step being answered has gone on. */
const settled = nextTurn;

/** A workflow whose steps are answered by hand. */
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

const contentOf = ({ request }: OpenStep | { request: undefined } = { request: undefined }) =>
  (request?.body.messages as { content: unknown }[] | undefined)?.[0]?.content;

const diamond = workflowOf(
  [
    stepOf('end', '{{steps.left.output}}+{{steps.right.output}}'),
    stepOf('left', 'L{{steps.top.output}}'),
    stepOf('right', 'R{{steps.top.output.n}}'),
    stepOf('top', '{{input.q}}'),
  ],
  'Result: {{steps.end.output}} of {{input.q}}',
);

describe('a workflow', () => {
  it('starts each step once what it needs is done, and independent ones together', async () => {
    const run = start(diamond, { q: 'why' });
    expect(run.running()).toEqual(['top']);
    expect(contentOf(run.open.get('top'))).toBe('why');
    await run.open.get('top')?.answer('{"n":7}');
    expect(run.running()).toEqual(['left', 'right']);
    expect(contentOf(run.open.get('left'))).toBe('L{"n":7}');
    expect(contentOf(run.open.get('right'))).toBe('R7');
    await run.open.get('right')?.answer('r');
    expect(run.running()).toEqual(['left']);
    await run.open.get('left')?.answer('l');
    expect(contentOf(run.open.get('end'))).toBe('l+r');
    await run.open.get('end')?.answer('42');
    const { output, answers } = await run.result;
    expect(output).toBe('Result: 42 of why');
    expect([...answers.keys()]).toEqual(['top', 'right', 'left', 'end']);
  });

  it('does not hold back a step for one that it does not need', async () => {
    const content = workflowOf([stepOf('a', 'x'), stepOf('b', 'x'), stepOf('c', '{{steps.a.output}}')], { step: 'c' });
    const run = start(content);
    await run.open.get('a')?.answer('1');
    expect(run.running()).toEqual(['b', 'c']);
  });

  it('answers with the output of a step as it came', async () => {
    const run = start(workflowOf([stepOf('a', 'x')], { step: 'a' }));
    await run.open.get('a')?.answer(' {{input}} {"a": 1} ');
    expect((await run.result).output).toBe(' {{input}} {"a": 1} ');
  });

  it('reads a part of an answer out of a code fence', async () => {
    const run = start(workflowOf([stepOf('a', 'x')], '{{steps.a.output.n}}'));
    await run.open.get('a')?.answer('```json\n{"n":12345678901234567890}\n```');
    expect((await run.result).output).toBe('12345678901234567890');
  });

  it('gives every provider call the fixed options of its step and what the client may add', async () => {
    const step = stepOf('a', 'x', { options: { temperature: 1 }, fallback_models: ['auto'] });
    const run = start(workflowOf([step], { step: 'a' }), {}, { user: 'u' });
    expect(run.open.get('a')?.request).toEqual({
      body: { model: 'acme/large-1', messages: [message('user', 'x')], temperature: 1, user: 'u' },
      fallbackModels: ['auto'],
    });
  });

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
    await b?.answer('late');
    await expect(run.result).rejects.toThrow('first');
    expect(run.started).toEqual(['a', 'b']);
  });

  it('fails with the first failure also where a second one follows', async () => {
    const run = start(workflowOf([stepOf('a', 'x'), stepOf('b', 'x')], { step: 'a' }));
    await run.open.get('b')?.fail(new Error('first'));
    await run.open.get('a')?.fail(new Error('second'));
    await expect(run.result).rejects.toThrow('first');
  });

  it.each([
    ['is no JSON', 'sorry'],
    ['lacks the path', '{}'],
  ])('whose step answers what %s, where a part is needed, is execution_failed', async (_title, answer) => {
    const steps = [stepOf('a', 'x'), stepOf('b', '{{steps.a.output.n}}')];
    const run = start(workflowOf(steps, { step: 'b' }));
    await run.open.get('a')?.answer(answer);
    await refusalOf('execution_failed', () => run.result);
    expect(run.started).toEqual(['a']);
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
    const steps = needs.map((wanted, index) => {
      const earlier = wanted.filter((need) => need < index);
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
