// Frames of AWS's event streams: each event is read once and as it was written, whatever pieces its bytes come in, by
// the gateway's codec and by that of the SDK.
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/core/event-streams';
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import { eventsOfFrameText, frameOf, frameText, readFrames } from '../../../shared/protocol/event-frames/index.ts';
import type { EventText } from '../../../shared/protocol/wire/index.ts';
import { inTurns } from '../../support/in-turns.ts';

const eventMaxBytes = 64 * 1024;
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

async function* piecesOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function eventsIn(bytes: Uint8Array, sizes: readonly number[] = [bytes.length]): Promise<EventText[]> {
  const events: EventText[] = [];
  for await (const batch of readFrames(piecesOf(bytes, sizes), eventMaxBytes)) events.push(...batch);
  return events;
}

const bytesOf = (events: readonly EventText[]) => Buffer.concat(events.map(frameOf));
const event = fc.record({
  name: fc.constantFrom('messageStart', 'contentBlockDelta', 'throttlingException', 'chunk', 'ping'),
  text: fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => JSON.stringify({ text })),
});
const events = fc.array(event, { maxLength: 8 });
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });

describe('frames', () => {
  it('are read as they were written, whatever pieces they come in', async () => {
    await fc.assert(
      fc.asyncProperty(events, sizes, async (eventList, cuts) => {
        expect(await eventsIn(bytesOf(eventList), cuts)).toEqual(eventList);
      }),
    );
  });

  it('that come at once are read in turns, each once and in order', async () => {
    const eventList = Array.from({ length: 2_000 }, (_none, at) => ({ name: 'ping', text: JSON.stringify({ at }) }));
    const batches: (readonly [turn: number, events: readonly EventText[]])[] = [];
    await inTurns(async (turn) => {
      const bytes = bytesOf(eventList);
      for await (const batch of readFrames(piecesOf(bytes, [bytes.length]), eventMaxBytes))
        batches.push([turn(), batch]);
    });
    expect(batches.flatMap(([, batch]) => batch)).toEqual(eventList);
    expect(Math.max(...batches.map(([, batch]) => batch.length))).toBe(inOneTurn.events);
    expect(new Set(batches.map(([turn]) => turn)).size).toBe(batches.length);
  });

  it('are a text of their bytes, which is read as far as its frames are whole', () => {
    fc.assert(
      fc.property(events, fc.nat({ max: 30 }), (eventList, cut) => {
        const text = eventList.map(frameText).join('');
        expect(Buffer.from(text, 'latin1').equals(bytesOf(eventList))).toBe(true);
        expect(eventsOfFrameText(text)).toEqual(eventList);
        const read = eventsOfFrameText(text.slice(0, Math.max(0, text.length - cut)));
        expect(read).toEqual(eventList.slice(0, read.length));
      }),
    );
  });

  it.each([
    ['contentBlockDelta', 'event', ':event-type'],
    ['validationException', 'exception', ':exception-type'],
  ])('have the headers of AWS: %s', (name, kind, header) => {
    const { headers, body } = codec.decode(frameOf({ name, text: '{"a":1}' }));
    expect(headers[':message-type']?.value).toBe(kind);
    expect(headers[header]?.value).toBe(name);
    expect(headers[':content-type']?.value).toBe('application/json');
    expect(Buffer.from(body).toString()).toBe('{"a":1}');
  });

  it('end at bytes that are no frame, which are no event of JSON', async () => {
    const good = frameOf({ name: 'messageStart', text: '{}' });
    const bad = Buffer.from(frameOf({ name: 'messageStop', text: '{"stopReason":"end_turn"}' }));
    bad[bad.length - 1] = (bad.at(-1) ?? 0) ^ 1;
    const read = await eventsIn(Buffer.concat([good, bad, good]));
    expect(read.map(({ name }) => name)).toEqual(['messageStart', undefined]);
    expect(() => JSON.parse(read.at(-1)?.text ?? '{}')).toThrow();
    const json = Buffer.from('{"message":"an answer without frames"}');
    const [other, ...more] = await eventsIn(json, [5]);
    expect([other?.name, more]).toEqual([undefined, []]);
    expect(() => JSON.parse(other?.text ?? '{}')).toThrow();
  });

  it('beyond the bound of an event are refused before they are read', async () => {
    const head = Buffer.alloc(16);
    head.writeUInt32BE(eventMaxBytes + 1, 0);
    head.writeUInt32BE(crc32(head.subarray(0, 8)), 8);
    await expect(eventsIn(head)).rejects.toThrow(RangeError);
  });

  it('of errors that no model of the service has are exceptions', async () => {
    const text = (value: string) => ({ type: 'string' as const, value });
    const headers = {
      ':message-type': text('error'),
      ':error-code': text('InternalError'),
      ':error-message': text('It broke.'),
    };
    const frame = codec.encode({ headers, body: new Uint8Array() });
    expect(await eventsIn(frame)).toEqual([{ name: 'InternalErrorException', text: '{"message":"It broke."}' }]);
  });
});
