// The provider inside the process: no socket, no wait. What is measured with it is the gateway alone.
import type { Transport, UpstreamAnswer } from '../../../shared/routing/providers/index.ts';
import { asksForStream, jsonAnswer, streamEvents } from '../upstream-answers.ts';

export interface UpstreamMarks {
  /** When the provider was called last. */
  calledAtMs: number | undefined;
  /** When its last byte was handed over. */
  endedAtMs: number | undefined;
}

export function instantUpstream(marks: UpstreamMarks): Transport {
  async function* handOver(events: readonly Buffer[]): AsyncGenerator<Buffer> {
    const last = events.at(-1);
    for (const event of events) {
      // Before it is taken: whoever reads an end marker need not read on.
      if (event === last) marks.endedAtMs = performance.now();
      yield event;
    }
  }
  return {
    async send({ body }): Promise<UpstreamAnswer> {
      marks.calledAtMs = performance.now();
      const isStream = asksForStream(body);
      return {
        status: 200,
        headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' },
        body: handOver(isStream ? streamEvents : [jsonAnswer]),
        drain: () => {},
      };
    },
    close: () => {},
  };
}
