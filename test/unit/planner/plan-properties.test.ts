import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Candidate, loadCatalogue } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan, type PlanFacts } from '../../../shared/routing/planner/index.ts';
import { anyBody, anyWorld, type Body, type World } from './arbitrary-worlds.ts';
import { asksForNoOrder, hurdlesOf, mayPrecede, naiveVerdict, type Runner } from './naive-plan.ts';
import { requestOf } from './planning.ts';

const runs = { numRuns: 2_000 };

const factsOf = (world: World): PlanFacts => ({
  catalogue: loadCatalogue(world.document, 'v1'),
  workspace: world.workspace,
  isConfigured: ({ provider }) => world.configured.includes(provider.id),
  isCooling: ({ provider }) => world.cooling.includes(provider.id),
  statsOf: ({ model, provider }) => world.stats[`${model.id}@${provider.id}`],
  byok: {
    sourceOf: ({ provider }) => (world.keys.connected.includes(provider.id) ? 'connection' : undefined),
    isRequired: world.keys.isRequired,
  },
});

const runnerOf = ({ model, entry }: Candidate): Runner => ({ name: `${model.id}@${entry.provider}`, model, entry });

const plan = (body: Body, world: World): GatewayError | readonly Runner[] => {
  const outcome = makePlan(requestOf({ ...body }), factsOf(world));
  return outcome instanceof GatewayError ? outcome : outcome.map(runnerOf);
};

const namesOf = (runners: readonly Runner[]): string[] => runners.map(({ name }) => name);

/** Holds of every plan, whatever the world and the request. Errors are not looked at. */
const ofEveryPlan = (check: (planned: readonly Runner[], body: Body, world: World) => void) =>
  fc.assert(
    fc.property(anyBody, anyWorld, (body, world) => {
      const planned = plan(body, world);
      if (!(planned instanceof GatewayError)) check(planned, body, world);
    }),
    runs,
  );

const restsOnTheFirst = ({ provider = {} }: Body): boolean =>
  provider.allow_fallbacks === false && (provider.order ?? []).length === 0;

describe('whatever the catalogue and the request', () => {
  it('the error is the first condition that leaves no candidate, and without one every eligible provider is planned', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(anyBody, anyWorld, (body, world) => {
        const expected = naiveVerdict(body, world);
        const found = plan(body, world);
        const kind = found instanceof GatewayError ? found.code : 'a plan';
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        if (typeof expected === 'string') return expect(kind).toBe(expected);
        if (found instanceof GatewayError) return expect(kind).toBe('a plan');
        if (restsOnTheFirst(body)) return expect(namesOf(expected)).toEqual(expect.arrayContaining(namesOf(found)));
        return expect(namesOf(found).toSorted()).toEqual(namesOf(expected).toSorted());
      }),
      { numRuns: 5_000 },
    );
    // A property that never meets a case proves nothing of it: nine errors, unknown_model and plans.
    expect(seen.size).toBe(11);
  });

  it('no provider is planned that breaks a policy, a cap, a pin, an ignore, lacks a feature, a price or a credential', () => {
    ofEveryPlan((planned, body, world) => {
      for (const runner of planned) expect(hurdlesOf(runner, body, world)).not.toContain(false);
    });
  });

  it('no provider is planned of a model that the workspace may not use or the client did not ask for', () => {
    ofEveryPlan((planned, body, { workspace, document }) => {
      const hasMarks = document.models.some(({ auto }) => auto);
      for (const { model } of planned) {
        expect(body.model === 'auto' ? model.auto || !hasMarks : model.id === body.model).toBe(true);
        expect(workspace.models === 'all' || workspace.models.includes(model.id)).toBe(true);
      }
    });
  });

  it('a plan is never empty and names no provider twice', () => {
    ofEveryPlan((planned) => {
      expect(planned.length).toBeGreaterThan(0);
      expect(new Set(namesOf(planned)).size).toBe(planned.length);
    });
  });

  it('each candidate has a reason to stand before the next', () => {
    ofEveryPlan((planned, body, world) => {
      for (const [at, runner] of planned.slice(1).entries()) {
        expect(mayPrecede(planned[at] as Runner, runner, body, world)).toBe(true);
      }
    });
  });

  it('those who cool come last, unless the request asks for an order', () => {
    ofEveryPlan((planned, body, { cooling }) => {
      if (!asksForNoOrder(body)) return;
      const cools = planned.map(({ entry }) => cooling.includes(entry.provider));
      expect(cools).toEqual(cools.toSorted((a, b) => Number(a) - Number(b)));
    });
  });

  it('cooling changes the order of candidates and never who they are', () => {
    fc.assert(
      fc.property(anyBody, anyWorld, (body, world) => {
        const [warm, cold] = [plan(body, { ...world, cooling: [] }), plan(body, world)];
        if (warm instanceof GatewayError || cold instanceof GatewayError) return expect(cold).toEqual(warm);
        if (restsOnTheFirst(body)) return expect(cold).toHaveLength(1);
        return expect(namesOf(cold).toSorted()).toEqual(namesOf(warm).toSorted());
      }),
      runs,
    );
  });

  it('without fallbacks only the first is planned, or beside order only the named, in their order', () => {
    fc.assert(
      fc.property(anyBody, anyWorld, (body, world) => {
        const forbidding = { ...body, provider: { ...body.provider, allow_fallbacks: false } };
        const order = body.provider?.order ?? [];
        const found = plan(forbidding, { ...world, cooling: [] });
        if (found instanceof GatewayError) return;
        if (order.length > 0)
          return expect(found.map(({ entry }) => order.includes(entry.provider))).not.toContain(false);
        const free = plan(
          { ...body, provider: { ...body.provider, allow_fallbacks: true } },
          { ...world, cooling: [] },
        );
        expect(namesOf(found)).toEqual(namesOf(free as readonly Runner[]).slice(0, 1));
      }),
      runs,
    );
  });

  it('the same question has the same answer, and asking changes nothing', () => {
    fc.assert(
      fc.property(anyBody, anyWorld, (body, world) => {
        const before = JSON.stringify([body, world]);
        const facts = factsOf(world);
        const [first, second] = [makePlan(requestOf({ ...body }), facts), makePlan(requestOf({ ...body }), facts)];
        expect(second).toEqual(first);
        expect(JSON.stringify([body, world])).toBe(before);
      }),
      runs,
    );
  });
});
