import { describe, expect, it } from '#jest';
import { ask, chunksOf, contentOf, manualClock, streamed, withSimulator } from './simulated.ts';

describe('pauses', () => {
  it('waits before the first byte, and answers when the time has come', async () => {
    const clock = manualClock();
    await withSimulator(
      async (simulator) => {
        let isAnswered = false;
        const answer = ask(simulator, 'slow:2000').then((got) => {
          isAnswered = true;
          return got;
        });
        await simulator.until((calls) => calls.length === 1);
        expect([isAnswered, simulator.calls[0]?.status]).toEqual([false, null]);
        expect(await clock.fire()).toBe(2000);
        expect((await answer).status).toBe(200);
        expect(clock.armed()).toBe(0);
      },
      { clock },
    );
  });

  it('paces streams by its clock: between chunks, not before the first', async () => {
    const clock = manualClock();
    await withSimulator(
      async (simulator) => {
        const answer = ask(simulator, 'slow-chunks:700', { max_tokens: 2, ...streamed });
        const delays = [];
        for (let gap = 0; gap < 5; gap += 1) delays.push(await clock.fire());
        expect(delays).toEqual([700, 700, 700, 700, 700]);
        expect(chunksOf((await answer).text)).toHaveLength(5);
      },
      { clock },
    );
  });

  it.each(['silent', 'stall', 'stall-after-role', 'trickle-comments:1', 'endless:1'])(
    '%s goes on until the client leaves, which is noticed, and then leaves no timer behind',
    async (model) => {
      const clock = manualClock();
      await withSimulator(
        async (simulator) => {
          const client = new AbortController();
          const answer = ask(simulator, model, streamed, { signal: client.signal }).catch((reason) => reason);
          await simulator.until((calls) => calls.length === 1);
          expect(simulator.calls[0]).toMatchObject({ ended: false, closedEarly: false });
          client.abort();
          await simulator.until(([call]) => call?.ended === true);
          expect(simulator.calls[0]?.closedEarly).toBe(true);
          await answer;
          await simulator.stop();
          expect(clock.armed()).toBe(0);
        },
        { clock },
      );
    },
  );

  it.each([
    ['stall', 'Hello! You wrote'],
    ['stall:1', 'Hello!'],
    ['stall-after-role', ''],
  ])('%s says "%s" and then nothing, no finish reason and no end mark', (model, said) =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      const events = said === '' ? 1 : 1 + said.split(' ').length;
      let text = '';
      const hasEvents = Promise.withResolvers<void>();
      const onPiece = (piece: string) => {
        text += piece;
        if (text.split('\n\n').length > events) hasEvents.resolve();
      };
      const answer = ask(simulator, model, streamed, { signal: client.signal, onPiece });
      await hasEvents.promise;
      // A whole stream of another call passes in the meantime.
      await ask(simulator, 'echo', streamed);
      client.abort();
      await answer;
      expect(contentOf(text)).toBe(said);
      expect(text).not.toMatch(/DONE|"stop"/);
      await simulator.until(([call]) => call?.closedEarly === true);
    }),
  );

  it('stalls a JSON answer in the middle of its declared length', () =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      const answer = await ask(simulator, 'stall', {}, { signal: client.signal, onPiece: () => client.abort() });
      expect(answer.isBroken).toBe(true);
      expect(answer.text.length * 2).toBeLessThanOrEqual(Number(answer.headers['content-length']));
    }));

  it('trickles comments and nothing else', () =>
    withSimulator(async (simulator) => {
      const client = new AbortController();
      let text = '';
      const onPiece = (piece: string) => {
        text += piece;
        if (text.length > 60) client.abort();
      };
      await ask(simulator, 'trickle-comments:1', streamed, { signal: client.signal, onPiece });
      expect(text).toMatch(/^(: keep-alive\n\n)+/);
      expect(text).not.toContain('data:');
    }));
});
