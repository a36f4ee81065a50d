import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '#jest';
import { createUnreadAnswers } from '../../../shared/protocol/http/unread-answers.ts';

/** A response whose reader takes nothing until it is told to. */
class Unread extends EventEmitter {
  destroyed = false;
  writableLength = 0;
  reads = false;
  write(text: string): boolean {
    if (!this.reads) this.writableLength += text.length;
    return this.reads;
  }
  drain(): void {
    this.writableLength = 0;
    this.emit('drain');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const asResponse = (unread: Unread) => unread as unknown as ServerResponse;

describe('answers that are not read', () => {
  it('wait for their readers up to the bound, then the one that has stood still for longest ends', () => {
    const answers = createUnreadAnswers(100);
    const [first, second, third] = [new Unread(), new Unread(), new Unread()];
    const sink = answers.watch(asResponse(first), 40);
    expect(sink.write('x'.repeat(10))).toBe(false);
    answers.watch(asResponse(second), 40).write('x'.repeat(10));
    first.drain();
    sink.write('x'.repeat(10));
    expect([first.destroyed, second.destroyed]).toEqual([false, false]);
    answers.watch(asResponse(third), 40).write('x'.repeat(10));
    expect([first.destroyed, second.destroyed, third.destroyed]).toEqual([false, true, false]);
  });

  it('count no more once they are read, and those that are read never do', () => {
    const answers = createUnreadAnswers(100);
    for (let count = 0; count < 20; count += 1) {
      const read = new Unread();
      answers.watch(asResponse(read), 90).write('x'.repeat(10));
      read.drain();
      expect(read.destroyed).toBe(false);
    }
    const reading = new Unread();
    reading.reads = true;
    const sink = answers.watch(asResponse(reading), 1_000);
    for (let piece = 0; piece < 20; piece += 1) expect(sink.write('x'.repeat(50))).toBe(true);
    expect(reading.destroyed).toBe(false);
  });

  it('of a client that left count no more', () => {
    const answers = createUnreadAnswers(100);
    const [left, stays] = [new Unread(), new Unread()];
    answers.watch(asResponse(left), 90).write('x');
    left.destroy();
    answers.watch(asResponse(stays), 90).write('x');
    expect(stays.destroyed).toBe(false);
  });
});
