import { describe, expect, it } from '#jest';
import { sha256Hex } from '../../../shared/foundation/ids/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { anyOrigin, createOriginCheck } from '../../../shared/protocol/http/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';

const secretOf = (letter: string) => letter.repeat(48);
const [older, newer, unknown] = ['o', 'n', 'u'].map(secretOf) as [string, string, string];
const headersWith = (...values: string[]) => ({ 'x-gw-origin-secret': values });

/** Starts a check. `stored` is the text of the secret, or the failure of its read. */
function start(stored: string | Error) {
  const clock = manualClock();
  const lines: string[] = [];
  const state = { stored, reads: 0, isHeld: false };
  const openReads: (() => void)[] = [];
  const check = createOriginCheck({
    clock,
    log: createLog({ clock, write: (line) => lines.push(line) }),
    async readSecrets() {
      state.reads += 1;
      // The read returns the secret of the moment at which it began.
      const { stored: answer } = state;
      if (state.isHeld) await new Promise<void>((resolve) => void openReads.push(resolve));
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const release = () => {
    state.isHeld = false;
    for (const resolve of openReads.splice(0)) resolve();
  };
  return { check, clock, lines, state, release };
}

describe('the origin of a request', () => {
  it('does not matter to a stage without an edge', async () => {
    for (const headers of [{}, headersWith('anything')]) expect(await anyOrigin.accepts(headers)).toBe(true);
  });

  it('is accepted by the former and by the new secret, and refused when absent, wrong, sent twice, or sent as a hash', async () => {
    const { check, state } = start(`${newer},${older}`);
    for (const value of [older, newer]) expect(await check.accepts(headersWith(value))).toBe(true);
    expect(state.reads).toBe(1);
    const refusedHeaders = [
      {},
      headersWith(),
      headersWith(''),
      headersWith(unknown),
      headersWith(older, older),
      headersWith(sha256Hex(older)),
      headersWith(`${newer},${older}`),
    ];
    for (const headers of refusedHeaders) expect(await check.accepts(headers)).toBe(false);
  });

  it('is that of the next read for a secret that is unknown: a new one is accepted at once, without a new process', async () => {
    const { check, state } = start(older);
    expect(await check.accepts(headersWith(older))).toBe(true);
    state.stored = `${newer},${older}`;
    const both = await Promise.all([
      check.accepts(headersWith(newer)),
      check.accepts(headersWith(older)),
      check.accepts(headersWith(newer)),
    ]);
    expect(both).toEqual([true, true, true]);
    expect(state.reads).toBe(2);
  });

  it('waits for a read that began after the request, if one is under way that may be too old', async () => {
    const { check, state, clock, release } = start(older);
    await check.accepts(headersWith(older));
    state.isHeld = true;
    clock.advance(300_000);
    const refreshing = check.accepts(headersWith(older));
    state.stored = newer;
    const verdict = check.accepts(headersWith(newer));
    await nextTurn();
    release();
    expect(await Promise.all([refreshing, verdict])).toEqual([true, true]);
    expect(state.reads).toBe(3);
  });

  it('costs one read in five seconds if callers make secrets up, and none if they send none', async () => {
    const { check, state, clock } = start(older);
    for (let call = 0; call < 100; call += 1) {
      expect(await check.accepts(headersWith(unknown))).toBe(false);
      expect(await check.accepts({})).toBe(false);
      expect(await check.accepts(headersWith(older))).toBe(true);
    }
    expect(state.reads).toBe(2);
    clock.advance(5_000);
    await check.accepts(headersWith(unknown));
    expect(state.reads).toBe(3);
  });

  it('that was removed is refused once the copy is five minutes old', async () => {
    const { check, state, clock } = start(`${newer},${older}`);
    await check.accepts(headersWith(older));
    state.stored = newer;
    clock.advance(299_999);
    expect(await check.accepts(headersWith(older))).toBe(true);
    clock.advance(1);
    expect(await check.accepts(headersWith(older))).toBe(false);
    expect(await check.accepts(headersWith(newer))).toBe(true);
  });

  it('is judged by the former copy while the secret cannot be read, after half a second at most; an unknown one is 503, not 404', async () => {
    const { check, state, clock, lines } = start(older);
    await check.accepts(headersWith(older));
    clock.advance(300_000);
    state.isHeld = true;
    const waiting = check.accepts(headersWith(older));
    await nextTurn();
    clock.advance(500);
    expect(await waiting).toBe(true);
    state.isHeld = false;
    const brokenStart = start(older);
    await brokenStart.check.accepts(headersWith(older));
    brokenStart.state.stored = new Error('denied');
    await expect(brokenStart.check.accepts(headersWith(newer))).rejects.toThrow(StoreUnavailable);
    expect(await brokenStart.check.accepts(headersWith(older))).toBe(true);
    expect(brokenStart.lines.map((line) => JSON.parse(line).event)).toEqual(['origin_secret_unreachable']);
    // The failure ends when its cause ends.
    brokenStart.state.stored = newer;
    brokenStart.clock.advance(1_000);
    expect(await brokenStart.check.accepts(headersWith(newer))).toBe(true);
    expect(lines).toEqual([]);
  });

  it('is 503 to every request while a new process could not read the secret, which it asks for once a second', async () => {
    const { check, state, clock } = start(new Error('denied'));
    await check.warm();
    for (let call = 0; call < 5; call += 1)
      await expect(check.accepts(headersWith(older))).rejects.toThrow(StoreUnavailable);
    // The reads are those of the start and of the first call, which does not wait for the pause after a failure.
    expect(state.reads).toBe(2);
    state.stored = older;
    clock.advance(1_000);
    expect(await check.accepts(headersWith(older))).toBe(true);
  });

  it('is every one while the text says so, with or without a secret', async () => {
    const { check, clock, state } = start(`${newer},direct`);
    for (const headers of [{}, headersWith(newer), headersWith(unknown), headersWith(older, older)])
      expect(await check.accepts(headers)).toBe(true);
    state.stored = newer;
    clock.advance(300_000);
    expect(await check.accepts({})).toBe(false);
    expect(await check.accepts(headersWith(newer))).toBe(true);
  });

  it.each(['', ',', 'short', `${older},`, `${older}, ${newer}`, `{"secret":"${older}"}`])(
    'is accepted by nothing if the text is malformed: %p, which no line repeats',
    async (text) => {
      const { check, lines } = start(text);
      for (const headers of [{}, headersWith(''), headersWith(older), headersWith(text)])
        await expect(check.accepts(headers)).rejects.toThrow(StoreUnavailable);
      expect(lines.join('')).toContain('the text of the origin secrets is malformed');
      expect(lines.join('')).not.toContain(older);
    },
  );
});
