// A piece of an answer that is no text: its bytes, each a character, under the type of the answer as its name. So streams
// of bytes go through everything that streams of events do.
import type { AnswerEvent, EventDetails } from '../wire/index.ts';

const bytesType = /^audio\//;

export const isBytesType = (type: string | undefined): type is string => type !== undefined && bytesType.test(type);

/** A class, because it costs less to make than an object with a getter. */
export class BytesEvent implements AnswerEvent {
  readonly name: string;
  readonly text: string;
  readonly details: EventDetails;

  constructor(contentType: string, text: string) {
    this.name = contentType;
    this.text = text;
    this.details = { hasOutput: text !== '', isLast: false, usage: undefined, outputBytes: 0, contentType };
  }

  get json(): never {
    throw new Error('bytes are no JSON');
  }
}
