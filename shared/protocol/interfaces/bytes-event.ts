// A piece of an answer that is no text: its bytes, each a character, under the type of the answer as its name. So streams
// of bytes go through everything that streams of events do.
import type { AnswerEvent, EventDetails, UsageReport } from '../wire/index.ts';

const bytesType = /^audio\//;

export const isBytesType = (type: string | undefined): type is string => type !== undefined && bytesType.test(type);

/** A class, because it costs less to make than an object with a getter. */
export class BytesEvent implements AnswerEvent {
  readonly name: string;
  readonly text: string;
  readonly details: EventDetails;

  /** `usage`: where its provider reports one beside the bytes. */
  constructor(contentType: string, text: string, usage?: UsageReport) {
    this.name = contentType;
    this.text = text;
    this.details = { hasOutput: text !== '', isLast: false, usage, outputBytes: 0, contentType };
  }

  get json(): never {
    throw new Error('bytes are no JSON');
  }
}
