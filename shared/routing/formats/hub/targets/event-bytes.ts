import { type EventText, toEventLine } from '../../../../protocol/wire/index.ts';

export type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

export const eventBytes = (events: readonly EventText[]): Uint8Array =>
  Buffer.from(events.map(({ name, text }) => toEventLine(text, name)).join(''));
