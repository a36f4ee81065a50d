import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { type Candidate, loadCatalogue } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import type { ProviderApi } from '../../../shared/foundation/constants/index.ts';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { readUsageReport } from '../../../shared/protocol/interfaces/chat-completions/read-usage.ts';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';
import { openBill, worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { makePlan, type PlanInput } from '../../../shared/routing/planner/index.ts';
import { catalogueOf, entryOf, modelOf, planFactsOf, priced, providerOf, requestOf } from '../../support/planning.ts';
import { png } from '../../support/png.ts';
import { spokenInterfaces } from '../../support/spoken-interfaces.ts';
import { anyBody, anyConfiguration, type Configuration, type PlannedBody } from './arbitrary-configurations.ts';
import { mayPrecede, naiveVerdict, type Runner } from './naive-plan.ts';

/** With fewer runs, no two candidates would differ in speed alone. */
const runs = { numRuns: 600 };

const factsOf = (configuration: Configuration): PlanInput => ({
  catalogue: loadCatalogue(configuration.document, 'v1'),
  workspace: configuration.workspace,
  isConfigured: ({ provider }) => configuration.configured.includes(provider.id),
  isCooling: ({ provider }) => configuration.cooling.includes(provider.id),
  session: () => 'one',
  statsOf: ({ model, provider }) => configuration.stats[`${model.id}@${provider.id}`],
  byok: {
    sourceOf: ({ provider }) => (configuration.keys.connected.includes(provider.id) ? 'connection' : undefined),
    isRequired: configuration.keys.isRequired,
  },
});

const runnerOf = ({ model, entry }: Candidate): Runner => ({ name: `${model.id}@${entry.provider}`, model, entry });

const plan = (body: PlannedBody, configuration: Configuration): GatewayError | readonly Runner[] => {
  const outcome = makePlan(requestOf({ ...body }), factsOf(configuration));
  return outcome instanceof GatewayError ? outcome : outcome.map(runnerOf);
};

const namesOf = (runners: readonly Runner[]): string[] => runners.map(({ name }) => name);

/** Checks a property of every plan, for any configuration and request. Errors are not checked. */
const ofEveryPlan = (check: (planned: readonly Runner[], body: PlannedBody, configuration: Configuration) => void) =>
  fc.assert(
    fc.property(anyBody, anyConfiguration, (body, configuration) => {
      const planned = plan(body, configuration);
      if (!(planned instanceof GatewayError)) check(planned, body, configuration);
    }),
    runs,
  );

const restsOnTheFirst = ({ provider = {} }: PlannedBody): boolean =>
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
      runs,
    );
    // A property proves nothing for cases that never occur: nine errors, unknown_model and plans occur.
    expect(seen.size).toBe(11);
  });

  it('each candidate has a reason to come before the next', () => {
    ofEveryPlan((planned, body, configuration) => {
      for (const [at, runner] of planned.slice(1).entries()) {
        expect(mayPrecede(planned[at] as Runner, runner, body, configuration)).toBe(true);
      }
    });
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
        const input = factsOf(configuration);
        const [first, second] = [makePlan(requestOf({ ...body }), input), makePlan(requestOf({ ...body }), input)];
        expect(second).toEqual(first);
        expect(JSON.stringify([body, configuration])).toBe(before);
      }),
      runs,
    );
  });
});

const contextLength = 1_000_000;
/** With this price a token costs one pico-USD. */
const perToken = '0.000001';

/** Returns the reserved tokens: each token of this kind costs one pico-USD, the other kind nothing. */
function reservedFor(
  members: Record<string, unknown>,
  kind: 'input' | 'output',
  apis: readonly ProviderApi[] = ['chat-completions'],
): number {
  const prices = kind === 'input' ? priced(perToken, '0') : priced('0', perToken);
  const request = requestOf({ max_tokens: 10, ...members });
  const entry = entryOf('acme', { ...prices, context_length: contextLength });
  const plan = makePlan(request, planFactsOf([entry], [providerOf('acme', { apis: [...apis] })]));
  if (plan instanceof GatewayError) throw plan;
  return Number(worstCaseCost(plan, request.size()));
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const image = (url: string, detail?: string) => ({ type: 'image_url', image_url: { url, ...(detail && { detail }) } });
const remote = 'https://images.example/a.png';

describe('what a call reserves for its input', () => {
  it('is bounded for an image by tokens, not by the context nor by its bytes', () => {
    const tokens = reservedFor(user(image(remote)), 'input');
    expect(tokens).toBeGreaterThan(2_833);
    expect(tokens).toBeLessThan(60_000);
    // A model of another maker does not get the `low` detail hint.
    expect(reservedFor(user(image(remote, 'low')), 'input')).toBeGreaterThanOrEqual(5_000);
    const [small, heavy] = [0, 2_000_000].map((bytes) => reservedFor(user(image(png(100, 100, bytes))), 'input'));
    expect(heavy).toBe(small);
  });

  it('is the whole context for the content of a URL if the target takes a film for an image, and only then', () => {
    const film = user(image('https://films.example/film.mp4', 'low'));
    expect(reservedFor(film, 'input', ['generate-content'])).toBe(contextLength);
    expect(reservedFor(film, 'input', ['messages'])).toBeLessThan(60_000);
    expect(reservedFor(user(image(png(100, 100))), 'input', ['generate-content'])).toBeLessThan(60_000);
  });

  it('is the whole context for bytes that say they are no image, in the place of one', () => {
    expect(reservedFor(user(image('data:video/mp4;base64,AAAA', 'low')), 'input')).toBe(contextLength);
  });

  it('is less for a small image and for low detail, if these are known', () => {
    const unknown = reservedFor(user(image(remote)), 'input');
    expect(reservedFor(user(image(png(100, 100))), 'input')).toBeLessThan(unknown);
    expect(reservedFor(user(image(remote, 'low')), 'input')).toBeLessThan(10_000);
  });

  it('is at the highest price that a token of input can have: read from a cache, written into one, kept there', () => {
    const request = requestOf({ messages: [{ role: 'user', content: 'x'.repeat(1_000) }], max_tokens: 1 });
    const heldAt = (more: Record<string, string>) => {
      const plan = makePlan(request, planFactsOf([entryOf('acme', { ...priced('2', '0'), ...more })]));
      if (plan instanceof GatewayError) throw plan;
      return worstCaseCost(plan, request.size());
    };
    const plain = heldAt({});
    expect(plain).toBeGreaterThan(0n);
    expect(heldAt({ cached_input_price_per_million: '6' })).toBe(3n * plain);
    expect(heldAt({ cache_write_input_price_per_million: '6' })).toBe(3n * plain);
    expect(heldAt({ cache_write_1h_input_price_per_million: '6' })).toBe(3n * plain);
    expect(heldAt({ cache_write_input_price_per_million: '1', cached_input_price_per_million: '0' })).toBe(plain);
  });

  it('is the whole context with audio, even if an assistant message only refers to it', () => {
    const audio = { messages: [{ role: 'assistant', audio: { id: 'audio-1' } }] };
    expect(reservedFor(audio, 'input')).toBe(contextLength);
  });
});

const readers = { 'chat-completions': chatCompletions, messages, responses };

it.each(spokenInterfaces)(
  'an image counts by its pixels and never by its bytes: $name',
  ({ id, hello, imageOf, smallImageTokens }) => {
    const sizeWith = (dataBytes: number) => {
      const content = [imageOf(png(100, 100, dataBytes))];
      const body = jsonTextOf(hello('m', { messages: [{ role: 'user', content }], max_tokens: 5 }));
      const request = readers[id as keyof typeof readers].readRequest(body, { bodyBytes: 9, dropsUnusedFields: false });
      if (!('size' in request)) throw request;
      const { textBytes, mediaTokens } = request.size();
      return { textBytes, mediaTokens };
    };
    const size = sizeWith(1_000_000);
    expect(size).toEqual(sizeWith(0));
    expect(size.mediaTokens).toBe(smallImageTokens);
    expect(size.textBytes).toBeLessThan(400);
  },
);

describe('what a call reserves for its output', () => {
  it('is bounded, whatever is asked for at whatever price: the store keeps numbers of 38 digits', () => {
    const plan = makePlan(
      requestOf({ max_tokens: Number.MAX_SAFE_INTEGER, n: 128 }),
      planFactsOf([entryOf('acme', priced('0', '999999999'))]),
    );
    if (plan instanceof GatewayError) throw plan;
    expect(worstCaseCost(plan, requestOf({ max_tokens: Number.MAX_SAFE_INTEGER, n: 128 }).size())).toBe(10n ** 30n);
  });

  it('has room for a prediction that is rejected, which is billed beside what was asked for', () => {
    const prediction = { type: 'content', content: 'x'.repeat(1_000) };
    expect(reservedFor({}, 'output')).toBe(10);
    expect(reservedFor({ prediction }, 'output')).toBeGreaterThanOrEqual(1_010);
  });
});

describe('an estimate of what a call has used', () => {
  const text = fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 2_000 }) });
  const picture = fc.tuple(fc.nat(4_000), fc.nat(4_000), fc.nat(20_000), fc.constantFrom('low', 'high', undefined));
  const part = fc.oneof(
    text,
    picture.map(([width, height, bytes, detail]) => image(png(width, height, bytes), detail)),
    fc.constant(image(remote)),
    fc.constant({ type: 'input_audio', input_audio: { data: 'AAAA' } }),
  );
  const entry = fc.record({
    context_length: fc.integer({ min: 1, max: 200_000 }),
    max_output_tokens: fc.integer({ min: 1, max: 8_000 }),
    input_price_per_million: fc.constantFrom('0', '0.50', '3'),
    output_price_per_million: fc.constantFrom('0', '2', '15'),
    cached_input_price_per_million: fc.constantFrom('0.10', '5', undefined),
    cache_write_input_price_per_million: fc.constantFrom('0.20', '6', undefined),
    cache_write_1h_input_price_per_million: fc.constantFrom('0.30', '7', undefined),
  });
  const members = fc.record(
    { max_tokens: fc.integer({ min: 1, max: 10_000 }), n: fc.integer({ min: 1, max: 4 }), prediction: fc.object() },
    { requiredKeys: [] },
  );
  const report = fc.constantFrom(
    undefined,
    {},
    { completion_tokens: 1e9 },
    { prompt_tokens_details: { cached_tokens: 1e6 } },
    { prompt_tokens_details: { cache_write_tokens: 1e6 } },
  );

  it('never exceeds what the call reserves, whatever is in it and however much was relayed', () => {
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 5 }),
        fc.array(entry, { minLength: 1, maxLength: 3 }),
        members,
        report,
        fc.nat(10_000_000),
        fc.constantFrom('included' as const, 'additive' as const),
        (parts, entries, sentFields, reportedUsage, outputBytes, reasoning_tokens) => {
          const providers = entries.map((_entry, index) => providerOf(`p${index}`, { reasoning_tokens }));
          const entryList = entries.map((more, index) => entryOf(`p${index}`, more));
          const request = requestOf({ ...user(...parts), ...sentFields });
          const plan = makePlan(request, {
            ...planFactsOf(entryList, providers),
            // Audio is a feature of this model.
            catalogue: catalogueOf([modelOf('m', { modalities: ['text', 'audio'], providers: entryList })], providers),
          });
          if (plan instanceof GatewayError) throw plan;
          const size = request.size();
          const bill = openBill();
          for (const candidate of plan) {
            const { cost, usage } = bill.charge({
              candidate,
              reported: readUsageReport(reportedUsage),
              output: { outputBytes },
              payer: 'workspace',
              size,
            });
            expect(usage.estimated).toBe(true);
            expect(cost.total).toBeLessThanOrEqual(worstCaseCost(plan, size));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
