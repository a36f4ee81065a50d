import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { type Candidate, loadCatalogue } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan, type PlanFacts } from '../../../shared/routing/planner/index.ts';
import { requestOf } from '../../support/planning.ts';
import { anyBody, anyConfiguration, type Body, type Configuration } from './arbitrary-configurations.ts';
import { hurdlesOf, mayPrecede, naiveVerdict, namesNoOrder, type Runner } from './naive-plan.ts';

const runs = { numRuns: 500 };

const factsOf = (configuration: Configuration): PlanFacts => ({
  catalogue: loadCatalogue(configuration.document, 'v1'),
  workspace: configuration.workspace,
  isConfigured: ({ provider }) => configuration.configured.includes(provider.id),
  isCooling: ({ provider }) => configuration.cooling.includes(provider.id),
  statsOf: ({ model, provider }) => configuration.stats[`${model.id}@${provider.id}`],
  byok: {
    sourceOf: ({ provider }) => (configuration.keys.connected.includes(provider.id) ? 'connection' : undefined),
    isRequired: configuration.keys.isRequired,
  },
});

const runnerOf = ({ model, entry }: Candidate): Runner => ({ name: `${model.id}@${entry.provider}`, model, entry });

const plan = (body: Body, configuration: Configuration): GatewayError | readonly Runner[] => {
  const outcome = makePlan(requestOf({ ...body }), factsOf(configuration));
  return outcome instanceof GatewayError ? outcome : outcome.map(runnerOf);
};

const namesOf = (runners: readonly Runner[]): string[] => runners.map(({ name }) => name);

/** Holds of every plan, whatever the configuration and the request. Errors are not looked at. */
const ofEveryPlan = (check: (planned: readonly Runner[], body: Body, configuration: Configuration) => void) =>
  fc.assert(
    fc.property(anyBody, anyConfiguration, (body, configuration) => {
      const planned = plan(body, configuration);
      if (!(planned instanceof GatewayError)) check(planned, body, configuration);
    }),
    runs,
  );

const restsOnTheFirst = ({ provider = {} }: Body): boolean =>
  provider.allow_fallbacks === false && (provider.order ?? []).length === 0;

describe('whatever the catalogue and the request', () => {
  it('the error is the first condition that leaves no candidate, and without one every eligible provider is planned', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(anyBody, anyConfiguration, (body, configuration) => {
        const expected = naiveVerdict(body, configuration);
        const found = plan(body, configuration);
        const kind = found instanceof GatewayError ? found.code : 'a plan';
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        if (typeof expected === 'string') return expect(kind).toBe(expected);
        if (found instanceof GatewayError) return expect(kind).toBe('a plan');
        if (restsOnTheFirst(body)) return expect(namesOf(expected)).toEqual(expect.arrayContaining(namesOf(found)));
        return expect(namesOf(found).toSorted()).toEqual(namesOf(expected).toSorted());
      }),
      { numRuns: 1_000 },
    );
    // A property that never meets a case proves nothing of it: nine errors, unknown_model and plans.
    expect(seen.size).toBe(11);
  });

  it('no provider is planned that breaks a policy, a cap, a pin, an ignore, lacks a feature, a price or a credential', () => {
    ofEveryPlan((planned, body, configuration) => {
      for (const runner of planned) expect(hurdlesOf(runner, body, configuration)).not.toContain(false);
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
    ofEveryPlan((planned, body, configuration) => {
      for (const [at, runner] of planned.slice(1).entries()) {
        expect(mayPrecede(planned[at] as Runner, runner, body, configuration)).toBe(true);
      }
    });
  });

  it('those who cool come last, unless the request names an order', () => {
    ofEveryPlan((planned, body, { cooling }) => {
      if (!namesNoOrder(body)) return;
      const cools = planned.map(({ entry }) => cooling.includes(entry.provider));
      expect(cools).toEqual(cools.toSorted((a, b) => Number(a) - Number(b)));
    });
  });

  it('cooling changes the order of candidates and never who they are', () => {
    fc.assert(
      fc.property(anyBody, anyConfiguration, (body, configuration) => {
        const [warm, cold] = [plan(body, { ...configuration, cooling: [] }), plan(body, configuration)];
        if (warm instanceof GatewayError || cold instanceof GatewayError) return expect(cold).toEqual(warm);
        if (restsOnTheFirst(body)) return expect(cold).toHaveLength(1);
        return expect(namesOf(cold).toSorted()).toEqual(namesOf(warm).toSorted());
      }),
      runs,
    );
  });

  it('without fallbacks only the first is planned, or beside order only the named, in their order', () => {
    fc.assert(
      fc.property(anyBody, anyConfiguration, (body, configuration) => {
        const forbidding = { ...body, provider: { ...body.provider, allow_fallbacks: false } };
        const order = body.provider?.order ?? [];
        const found = plan(forbidding, { ...configuration, cooling: [] });
        if (found instanceof GatewayError) return;
        if (order.length > 0)
          return expect(found.map(({ entry }) => order.includes(entry.provider))).not.toContain(false);
        const free = plan(
          { ...body, provider: { ...body.provider, allow_fallbacks: true } },
          { ...configuration, cooling: [] },
        );
        expect(namesOf(found)).toEqual(namesOf(free as readonly Runner[]).slice(0, 1));
      }),
      runs,
    );
  });

  it('the same question has the same answer, and asking changes nothing', () => {
    fc.assert(
      fc.property(anyBody, anyConfiguration, (body, configuration) => {
        const before = JSON.stringify([body, configuration]);
        const facts = factsOf(configuration);
        const [first, second] = [makePlan(requestOf({ ...body }), facts), makePlan(requestOf({ ...body }), facts)];
        expect(second).toEqual(first);
        expect(JSON.stringify([body, configuration])).toBe(before);
      }),
      runs,
    );
  });
});
