// A list of texts that its provider takes one by one: four of them at a time.
import { expect, it } from '#jest';
import { startHarness } from '../support/harness.ts';

it('goes out in four concurrent parts, no more and no fewer, and comes back in its order', async () => {
  let inFlight = 0;
  let most = 0;
  const full = Promise.withResolvers<void>();
  const more = { output_price_per_million: '0', max_output_tokens: 1, apis: ['embeddings'] };
  const gateway = await startHarness({
    models: { titan: [{ provider: 'bedrock', upstream: 'amazon.titan-embed-text-v2:0', more }] },
    providers: { bedrock: { kind: 'bedrock' } },
    replace: ({ transport }) => ({
      transport: {
        ...transport,
        async send(request) {
          inFlight += 1;
          most = Math.max(most, inFlight);
          if (inFlight === 4) full.resolve();
          // The first four wait for each other.
          await full.promise;
          return transport.send(request).finally(() => {
            inFlight -= 1;
          });
        },
      },
    }),
  });
  const input = Array.from({ length: 12 }, (_, at) => `text number ${at}`);
  const answer = await gateway.postTo('/embeddings', { model: 'titan', input });
  const { data } = (await answer.json()) as { data: { index: number }[] };
  expect(data.map(({ index }) => index)).toEqual(input.map((_, at) => at));
  expect(gateway.simulator.calls).toHaveLength(12);
  expect(most).toBe(4);
  await gateway.stop();
});
