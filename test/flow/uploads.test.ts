// Simultaneous uploads take turns in the memory of a process: as many are served as fit, none in part, and the others
// get a time after which to retry.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '#jest';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { createMemoryBudget, headWeight } from '../../shared/protocol/memory-budget/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const mib = 1024 * 1024;
const maxBytes = 24 * mib;
/** The share of the memory for large requests. */
const largeMaxBytes = maxBytes / 2;

const clock = manualClock();
const budget = createMemoryBudget(clock, { maxBytes });
/** The answers that their provider holds back. */
let openAnswers: (() => void)[] | undefined;
let peakBytes = 0;
let provider: ScriptedProvider;
let gateway: Harness;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing, call) => {
    peakBytes = Math.max(peakBytes, budget.bytesInUse());
    const isForm = provider.bodies[call]?.startsWith('--') === true;
    const answer = () => sendJson(outgoing, isForm ? '{"text":"Hello."}' : completionOf({ content: 'Yes.' }));
    if (openAnswers === undefined) answer();
    else openAnswers.push(answer);
  });
  const entry = (apis: string) => [{ provider: apis, upstream: 'm', more: { apis: [apis] } }];
  gateway = await startHarness({
    models: { sound: entry('transcriptions'), chat: entry('chat-completions') },
    providers: {
      transcriptions: { base_url: provider.url, apis: ['transcriptions'] },
      'chat-completions': { base_url: provider.url },
    },
    replace: () => ({ memory: budget }),
  });
});
afterEach(async () => {
  openAnswers = undefined;
  await gateway.settled();
  expect(budget.bytesInUse()).toBe(0);
  expect(peakBytes).toBeLessThanOrEqual((maxBytes * 2) / 3);
});
afterAll(async () => {
  await expectBalancedBooks(gateway);
  await gateway.stop();
  await provider.stop();
});

const transcribe = () => {
  const form = new FormData();
  form.set('model', 'sound');
  form.set('file', new Blob([Buffer.alloc(3 * mib, 7)]), 'a.mp3');
  return fetch(`${gateway.url}/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  });
};
const atOnce = 12;

it('all are served in turn while their turns are short', async () => {
  const callsBefore = provider.bodies.length;
  const answers = await Promise.all(Array.from({ length: atOnce }, transcribe));
  expect(answers.map(({ status }) => status)).toEqual(new Array(atOnce).fill(200));
  expect(provider.bodies.length - callsBefore).toBe(atOnce);
});

it('as many are served as fit, the others get 503 and a time, and small calls pass by', async () => {
  openAnswers = [];
  const outcomes: Response[] = [];
  const transcriptions = Array.from({ length: atOnce }, () => transcribe().then((response) => outcomes.push(response)));
  const [headBytes, bytesOfEach] = [headWeight('transcriptions', true) * 3 * mib, 3.01 * mib];
  const fitting = 1 + Math.floor((largeMaxBytes - headBytes) / bytesOfEach);
  while (openAnswers.length < fitting) await nextTurn();
  const [callsBefore, calls] = [provider.bodies.length, openAnswers];
  openAnswers = undefined;
  expect((await gateway.post(hello('chat'))).status).toBe(200);
  // Served calls keep their bodies while another provider may need them.
  while (outcomes.length < atOnce - fitting) {
    clock.advance(100);
    await nextTurn();
  }
  for (const response of outcomes) {
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
  }
  expect(provider.bodies.length - callsBefore).toBe(1);
  for (const answer of calls) answer();
  await Promise.all(transcriptions);
  expect(outcomes.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(fitting);
});

it('slow ones give way to a call that waits: 503, their connections end, and no provider sees them', async () => {
  const callsBefore = provider.bodies.length;
  const { hostname, port } = new URL(gateway.url);
  const slow = [0, 1].map(() => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    socket.write(
      `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${gateway.key}\r\n` +
        `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${3 * mib}\r\n\r\n--x\r\n`,
    );
    return { closed: once(socket, 'close'), text: () => text };
  });
  while (budget.bytesInUse() < 9 * mib) await nextTurn();
  clock.advance(20_000);
  // The refused uploads do not wait any more.
  expect(budget.bytesInUse()).toBeGreaterThan(9 * mib);
  let isAnswered = false;
  const call = gateway
    .post({ ...hello('chat'), messages: [{ role: 'user', content: 'word '.repeat(mib / 10) }] })
    .finally(() => {
      isAnswered = true;
    });
  while (!isAnswered) {
    await nextTurn();
    clock.advance(50);
  }
  expect((await call).status).toBe(200);
  for (const { closed, text } of slow) {
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 503 /);
    expect(text()).toContain('RATE_LIMITER_UNAVAILABLE');
    expect(text()).toMatch(/connection: close/i);
  }
  expect(provider.bodies.length - callsBefore).toBe(1);
});
