// Defines a piece of an answer that is not text. The piece has its bytes, one per character, and the type of the answer
// as its name. This way streams of bytes pass through everything that streams of events pass through.
import type { AnswerEvent, EventDetails, UsageReport } from '../wire/index.ts';

const bytesType = /^audio\//;

export const isBytesType = (type: string | undefined): type is string => type !== undefined && bytesType.test(type);

/** A piece of bytes. It is a class, because it costs less to make than an object with a getter. */
export class BytesEvent implements AnswerEvent {
  readonly name: string;
  readonly text: string;
  readonly details: EventDetails;

  /** `usage` is set if its provider reports it next to the bytes. */
  constructor(contentType: string, text: string, usage?: UsageReport) {
    this.name = contentType;
    this.text = text;
    this.details = { hasOutput: text !== '', isLast: false, usage, outputBytes: 0, contentType };
  }

  get json(): never {
    throw new Error('bytes are no JSON');
  }
}
