// A long body is sent in pieces, and arrives as one body.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '#jest';
import { createOutgoingCalls, readText } from '../../../shared/foundation/outgoing/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';

describe('a long body', () => {
  it('arrives as it was written, wherever its pieces are cut, and says when all of it has left', async () => {
    const receivedBytes: Buffer[] = [];
    const server = createServer(async (incoming, outgoing) => {
      receivedBytes.push(await buffer(incoming));
      outgoing.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const calls = createOutgoingCalls({ clock: systemClock, socketsMax: 1, idleSocketMs: 1_000 });
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const texts = ['a', 'aa'].map((start) => `${start}${'😀'.repeat(700_000)}é`);
    const file = Buffer.alloc(1_000_001, 'file');
    const bodies = [...texts, ['{"a":"', { base64Of: file }, '","b":"é"}'], [{ base64Of: file.subarray(0, 1) }]];
    const expected = [...texts, `{"a":"${file.toString('base64')}","b":"é"}`, file.toString('base64', 0, 1)];
    let sentCount = 0;
    for (const body of bodies) {
      const signal = new AbortController().signal;
      const onSent = () => (sentCount += 1);
      const answer = await calls.send({
        url,
        method: 'POST',
        headers: {},
        body,
        connectTimeoutMs: 3_000,
        signal,
        onSent,
      });
      expect(await readText(answer.body, 100)).toBe('{}');
    }
    expect(receivedBytes.map((bytes, at) => bytes.equals(Buffer.from(expected[at] ?? '')))).toEqual(
      bodies.map(() => true),
    );
    expect(sentCount).toBe(bodies.length);
    calls.close();
    server.close();
  });
});
