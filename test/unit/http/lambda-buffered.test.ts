import { describe, expect, it } from '#jest';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { createBufferedHandler } from '../../../shared/protocol/http/index.ts';
import { adapterDependencies, answering, chatEvent, correlationId, gate } from './fixtures.ts';

describe('a buffered handler', () => {
  it('declares fewer than three parameters, or Node 24 refuses it', () => {
    expect(createBufferedHandler(answering({}), adapterDependencies().dependencies).length).toBeLessThan(3);
  });

  it('returns status, headers and body', async () => {
    const { dependencies, clock } = adapterDependencies();
    const handler = createBufferedHandler(answering({ status: 201, headers: { a: 'b' }, body: '{}' }), dependencies);
    expect(await handler(chatEvent(), {})).toEqual({ statusCode: 201, headers: { a: 'b' }, body: '{}' });
    expect(clock.pending()).toBe(0);
  });

  it('returns nothing before finish is done', async () => {
    const { dependencies } = adapterDependencies();
    const settled = gate();
    const handler = createBufferedHandler(answering({ finish: () => settled.opened }), dependencies);
    let returned = false;
    const running = handler(chatEvent(), {}).then(() => {
      returned = true;
    });
    await nextTurn();
    expect(returned).toBe(false);
    settled.open();
    await running;
    expect(returned).toBe(true);
  });

  it('joins a body that comes in pieces', async () => {
    const { dependencies, clock } = adapterDependencies();
    const body = (async function* () {
      yield 'a';
      yield 'b';
    })();
    const handler = createBufferedHandler(answering({ body }), dependencies);
    expect((await handler(chatEvent(), {})).body).toBe('ab');
    expect(clock.pending()).toBe(0);
  });

  it('answers a failure with the internal_error envelope, and a failed finish not at all', async () => {
    const { dependencies, events } = adapterDependencies();
    const failing = createBufferedHandler(() => Promise.reject(new Error('broken')), dependencies);
    const answer = await failing(chatEvent(), { callbackWaitsForEmptyEventLoop: true });
    expect(answer.statusCode).toBe(500);
    expect(answer.headers['x-request-id']).toBe(correlationId);
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'internal_error', correlation_id: correlationId });
    const finish = () => Promise.reject(new Error('ledger'));
    const unsettled = createBufferedHandler(answering({ body: '{}', finish }), dependencies);
    expect((await unsettled(chatEvent(), {})).statusCode).toBe(200);
    expect(events()).toEqual(['request_failed', 'finish_failed']);
  });
});
