// Gathers the text of an answer while it goes to the client.
import { frameStreamType } from '../../../shared/foundation/constants/index.ts';
import { eventsOfFrameText } from '../../../shared/protocol/event-frames/index.ts';
import type { BodyPart, GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { toEventLine } from '../../../shared/protocol/wire/index.ts';

/** `take`: the part of a text that is kept. */
export function watchAnswer(take: (text: string) => string) {
  const parts: string[] = [];
  let status: number | undefined;
  let isOfFrames = false;
  const add = (text: string) => void parts.push(take(text));
  return {
    gathered: () =>
      status === undefined ? null : { status, body: isOfFrames ? asEventLines(parts.join('')) : parts.join('') },
    watched(response: GatewayResponse): GatewayResponse {
      ({ status } = response);
      isOfFrames = response.headers['content-type'] === frameStreamType;
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

/** As server-sent events, which people and programs read. */
const asEventLines = (frames: string): string =>
  eventsOfFrameText(frames)
    .map(({ name, text }) => toEventLine(name === invokedChunk ? bytesIn(text) : text, name))
    .join('');

/** Events of InvokeModel have those of the model inside. */
const invokedChunk = 'chunk';

function bytesIn(text: string): string {
  const { bytes } = JSON.parse(text) as { readonly bytes: string };
  return Buffer.from(bytes, 'base64').toString('utf8');
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
