// Gathers the text of an answer while it goes to the client.
import type { BodyPart, GatewayResponse } from '../../../shared/protocol/http/index.ts';

/** `take`: the part of a text that is kept. */
export function watchAnswer(take: (text: string) => string) {
  const parts: string[] = [];
  let status: number | undefined;
  const add = (text: string) => void parts.push(take(text));
  return {
    gathered: () => (status === undefined ? null : { status, body: parts.join('') }),
    watched(response: GatewayResponse): GatewayResponse {
      ({ status } = response);
      const { body, closeBroken } = response;
      if (typeof body === 'string') {
        add(body);
        return response;
      }
      const closing = (why: 'failed' | 'over_time'): string => {
        const end = closeBroken?.(why) ?? '';
        add(end);
        return end;
      };
      return { ...response, body: watchedParts(body, add), ...(closeBroken && { closeBroken: closing }) };
    },
  };
}

function watchedParts(body: AsyncIterable<BodyPart>, add: (text: string) => void): AsyncIterable<BodyPart> {
  return {
    [Symbol.asyncIterator]() {
      const parts = body[Symbol.asyncIterator]();
      return {
        async next() {
          const read = await parts.next();
          if (read.done !== true) add(read.value.text);
          return read;
        },
        return: async () => (await parts.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
