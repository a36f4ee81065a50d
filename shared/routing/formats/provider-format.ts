// What a format is: how a candidate is called. Types only.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ClientInterface, ClientRequest, PassedOn } from '../../protocol/interfaces/index.ts';
import type { EventText } from '../../protocol/wire/index.ts';
import type { DescribeText, NoAnswer, Send } from '../providers/index.ts';

export interface FormatCall {
  readonly clientInterface: ClientInterface;
  readonly request: ClientRequest;
  readonly passedOn: PassedOn;
  /** Names an answer to which the provider gives no id. */
  readonly correlationId: string;
  readonly createdSeconds: number;
  /** No provider may keep anything of the call. */
  readonly zdr: boolean;
}

/** An answer in the form of the client's interface, whatever the provider speaks. */
export type FormatAnswer =
  | {
      readonly kind: 'json';
      readonly text: string;
      readonly describe: DescribeText;
    }
  | {
      readonly kind: 'stream';
      /** In batches, as they came off the wire. An empty one is a comment. */
      readonly events: AsyncIterable<EventText[]>;
      /** Called at the end: a socket that is read to its end serves the next call. */
      readonly drain: () => void;
      readonly describe: DescribeText;
    };

/** Rejects where `send` does, or where the body breaks. */
export type Format = (call: FormatCall, candidate: Candidate, send: Send) => Promise<FormatAnswer | NoAnswer>;
