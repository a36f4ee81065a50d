import { EventEmitter } from 'node:events';
import { describe, expect, it } from '#jest';
import { guardProcess } from '../../../shared/protocol/http/index.ts';
import { adapterDependencies } from './fixtures.ts';

describe('the process guard', () => {
  it('logs an unhandled rejection once however often it is installed', () => {
    // Pitfall 7: with a listener the process lives.
    const { dependencies, lines } = adapterDependencies();
    const source = new EventEmitter();
    guardProcess(dependencies.log, source);
    guardProcess(dependencies.log, source);
    expect(source.listenerCount('unhandledRejection')).toBe(1);
    source.emit('unhandledRejection', new TypeError('lost'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'unhandled_rejection', error: { name: 'TypeError' } });
  });
});
