import { expect, it } from '#jest';
import { type ClientRequest, openBodyMemory } from '../../../shared/protocol/interfaces/index.ts';
import {
  createMemoryBudget,
  openBodyAllocation,
  requestBytes,
  sizeOfRequest,
} from '../../../shared/protocol/memory-budget/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

function memoryOf(characters: number) {
  const raw = {
    messages: [{ content: [{ text: 'Look.' }, { image_url: { url: 'A'.repeat(characters) } }] }],
    model: 'm',
  };
  const body = { text: JSON.stringify(raw), tableBytes: 200, letGo: () => {} };
  const request = { raw, text: () => body, letGoValues: () => {} } as unknown as ClientRequest;
  const budget = createMemoryBudget(manualClock());
  const size = sizeOfRequest(body);
  const allocation = openBodyAllocation(budget.open().openRequest(), { workspace: 'a' }, () => size);
  return { request, budget, size, body: openBodyMemory(request, allocation) };
}

it('media of a long body are kept until they are measured, and those of a short one stay', () => {
  const [long, short] = [memoryOf(100_000), memoryOf(20_000)];
  for (const { body } of [long, short]) body.letGoMedia();
  expect([long, short].map(({ request }) => JSON.stringify(request.raw).includes('AAAA'))).toEqual([false, true]);
});

it('a long body gives all its memory back when it is let go, but for what others keep of it; a short one stays as its text', async () => {
  for (const [characters, path, expected] of [
    [100_000, undefined, () => 0],
    [100_000, 'translatedStream', (size: number) => size + 400],
    [20_000, undefined, (size: number) => size + 1_400],
  ] as const) {
    const { body, budget, size, request } = memoryOf(characters);
    await body.allocation.take('read', 'relayed', 'translated');
    expect(budget.bytesInUse()).toBe(requestBytes(['translated'], size));
    body.allocation.keep('relayedSent');
    expect(budget.bytesInUse()).toBe(size.textBytes + 1_400);
    // Another attempt takes the memory again.
    await body.allocation.take('translated');
    body.letGo(path);
    expect(budget.bytesInUse()).toBe(expected(size.textBytes));
    expect(JSON.stringify(request.raw).length > 1_000).toBe(characters === 20_000);
  }
});
