import { expect, it } from '#jest';
import { type ClientRequest, openBodyMemory } from '../../../shared/protocol/interfaces/index.ts';
import { createMemoryBudget } from '../../../shared/protocol/memory-budget/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

const requestWith = (characters: number) => {
  const raw = {
    messages: [{ content: [{ text: 'Look.' }, { image_url: { url: 'A'.repeat(characters) } }] }],
    model: 'm',
  };
  return { raw, text: () => ({ text: JSON.stringify(raw) }) } as unknown as ClientRequest;
};

it('media of a long body are counted until they are measured, and then neither counted nor kept', () => {
  const memory = createMemoryBudget(manualClock());
  const call = memory.open();
  const request = requestWith(100_000);
  const { mediaBytes, letGoMedia } = openBodyMemory(call, request, 0);
  expect(mediaBytes).toBe(100_000);
  void call.reserve(150_000);
  letGoMedia();
  expect(memory.bytesInUse()).toBe(50_000);
  expect(JSON.stringify(request.raw)).not.toContain('AAAA');
});

it('those of a short one are in its share, and stay', () => {
  const request = requestWith(20_000);
  const { mediaBytes, letGoMedia } = openBodyMemory(createMemoryBudget(manualClock()).open(), request, 0);
  letGoMedia();
  expect([mediaBytes, JSON.stringify(request.raw).includes('AAAA')]).toEqual([0, true]);
});
