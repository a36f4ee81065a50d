// Delays events of a stream until their texts are checked, and releases them with the texts that the check returned.
import { upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import {
  type AnswerTexts,
  type BlockedEnd,
  brokenSignatureOf,
  type EventPiece,
  withoutSpelling,
} from '../../protocol/interfaces/index.ts';
import { type AnswerAllocation, answerBytes, type CallMemory, takeAnswer } from '../../protocol/memory-budget/index.ts';
import type { AnswerEvent } from '../../protocol/wire/index.ts';
import { type JsonText, replaceValues } from '../../protocol/wire/index.ts';
import type { CheckedText, CheckedTexts } from './check-texts.ts';

export interface EventWindowOptions {
  readonly memory: CallMemory;
  readonly answers: AnswerTexts;
  readonly end: BlockedEnd;
  readonly windowCharacters: number;
  readonly check: (texts: readonly CheckedText[]) => Promise<CheckedTexts>;
}

interface Channel {
  /** The end of the text that the client has, for the next check. */
  sent: string;
  pending: string;
  readonly kind: CheckedText['kind'];
  /** True if a mask has changed a text of the channel. */
  isChanged: boolean;
  /** The whole text that has left, as it came and as it left. */
  raw: string;
  masked: string;
  /** True if more text of the channel has come since the text was compared with whole texts. */
  hasGrown: boolean;
  /** Number of pending characters when its end was awaited. */
  waitedAtCharacters: number;
}

interface HeldEvent {
  readonly event: AnswerEvent;
  readonly json: JsonText;
  readonly texts: readonly EventPiece[];
}

/**
 * Number of windows for which a finding that reaches the end of a text is awaited, because the finding may continue in
 * the next events.
 */
const openWindowsMax = 4;
/** Fraction of a window after which an awaited finding is checked again. */
const checksPerWindow = 4;
/** Bytes of events that are checked before their window is full, because a single call has no other bound. */
const heldMaxBytes = 8 * 1024 * 1024;

/** The result if there is no memory for an event. */
export interface NoEventMemory {
  readonly kind: 'not_held';
  readonly error: unknown;
}

export type Stopped = Exclude<CheckedTexts, { readonly kind: 'passed' }> | NoEventMemory;

/** Events that wait for their check. */
export class EventWindow {
  readonly #options: EventWindowOptions;
  readonly #allocation: AnswerAllocation;
  readonly #channels = new Map<string, Channel>();
  /** Whole texts that were checked, and their results. */
  readonly #known = new Map<string, string>();
  /** Texts whose pieces were checked. */
  readonly #repeated = new Set<string>();
  #held: HeldEvent[] = [];
  #characters = 0;
  /** Set while the end of a finding is awaited. */
  #nextCheckAtCharacters = 0;
  #heldBytes = 0;
  /** Bytes of the texts that may be repeated as a whole. */
  #bytesInUse = 0;
  #hasLeft = false;

  constructor(options: EventWindowOptions) {
    this.#options = options;
    this.#allocation = options.memory.openAnswer();
  }

  /**
   * Returns true if the window has to be checked. An event without a text waits for the events before it, and at the
   * start for the first check.
   */
  isFull(): boolean {
    if (this.#heldBytes >= heldMaxBytes || this.#options.answers.eventsStandAlone) return true;
    if (this.#characters === 0) return this.#hasLeft;
    return this.#characters >= Math.max(this.#options.windowCharacters, this.#nextCheckAtCharacters);
  }

  /** Adds an event. Returns undefined if it waits now. */
  async hold(event: AnswerEvent): Promise<NoEventMemory | undefined> {
    const { json } = event;
    const texts = event.details.isEndMarker === true ? [] : this.#options.answers.eventPieces(json);
    try {
      const bytes = this.#heldBytes + event.text.length;
      const parts = { heldEvent: bytes, checkedText: this.#bytesInUse };
      await takeAnswer(this.#allocation, parts);
    } catch (error) {
      return { kind: 'not_held', error };
    }
    this.#heldBytes += event.text.length;
    for (const { text, kind, channel: name } of texts) {
      if (kind === 'signature') continue;
      this.#characters += text.length;
      if (name === undefined) continue;
      const channel = this.#channels.get(name) ?? openChannel(kind);
      this.#channels.set(name, channel);
      channel.pending += text;
      channel.hasGrown = true;
      this.#bytesInUse += text.length;
    }
    this.#held.push({ event, json, texts });
    return undefined;
  }

  /** Drops the events. The start of a stream has no text to withhold. */
  drop(): { readonly start: AnswerEvent[]; readonly dropped: AnswerEvent[] } {
    this.#allocation.keepOnly(0);
    const { end } = this.#options;
    const first = this.#held.findIndex(({ texts }) => texts.length > 0);
    const dropped = this.#held.splice(Math.max(0, first)).map(({ event }) => event);
    const start = this.#held.splice(0).map(({ event }) => event);
    for (const { json } of start) end.see(json);
    if (!this.#hasLeft && start.length === 0 && dropped[0] !== undefined) end.identify?.(dropped[0].json);
    return { start, dropped };
  }

  /**
   * Returns the events of a window that has passed, none if the end of a finding is awaited; otherwise why it has
   * not passed.
   */
  async release(isEnd: boolean): Promise<AnswerEvent[] | Stopped> {
    const pending = [...this.#channels.values()].filter((channel) => channel.pending !== '');
    const grown = [...this.#channels.values()].filter(({ hasGrown }) => hasGrown);
    const hasWholes = this.#held.some(({ texts }) => texts.some(({ channel }) => channel === undefined));
    for (const { raw, pending } of hasWholes ? grown : []) {
      this.#repeated.add(raw + pending);
      this.#bytesInUse += raw.length + pending.length;
    }
    const wholes = hasWholes ? wholeTextsOf(this.#held, this.#repeated, this.#known) : [];
    const openTexts = pending.map(({ sent, pending: text, kind }) => ({ text: sent + text, kind }));
    const result = await this.#options.check([...openTexts, ...wholes].filter(isShown));
    if (result.kind !== 'passed') return result;
    if (!isEnd && this.#waitsForMore(pending, openTexts, result.texts)) return [];
    const passed = result.texts.values();
    const replaced = new Map<Channel, string>();
    for (const [at, channel] of pending.entries()) {
      const { text } = openTexts[at] as CheckedText;
      const maskedText = isShown({ text }) ? (passed.next().value ?? text) : text;
      // A mask that reaches into text which the client already has cannot remove that text.
      const isCall = channel.kind === 'call';
      if (!isCall && !maskedText.startsWith(channel.sent)) return reachesBack;
      const now = isCall ? channel.pending : maskedText.slice(channel.sent.length);
      if (now !== channel.pending) {
        replaced.set(channel, now);
        channel.isChanged = true;
      }
      passOn(channel, now, this.#options.windowCharacters);
    }
    for (const { text, kind } of wholes) {
      const now = passed.next().value ?? text;
      this.#known.set(text, kind === 'text' ? now : text);
      this.#bytesInUse += text.length;
    }
    for (const channel of hasWholes ? grown : []) {
      channel.hasGrown = false;
      if (channel.raw !== channel.masked) this.#known.set(channel.raw, channel.masked);
    }
    return this.#passed(replaced);
  }

  /**
   * Returns true if more text has to be awaited. `checked` has the results of the texts that were checked, in their
   * order.
   */
  #waitsForMore(pending: readonly Channel[], openTexts: readonly CheckedText[], checked: readonly string[]): boolean {
    const { windowCharacters } = this.#options;
    if (this.#characters >= openWindowsMax * windowCharacters || this.#heldBytes >= heldMaxBytes) return false;
    const texts = checked.values();
    let waits = false;
    for (const [at, { text, kind }] of openTexts.entries()) {
      const channel = pending[at];
      if (channel === undefined || !isShown({ text })) continue;
      const maskedText = texts.next().value ?? text;
      // Text that has not grown since has ended.
      const isOpen = kind === 'text' && endsInMask(text, maskedText);
      waits ||= isOpen && channel.waitedAtCharacters !== channel.pending.length;
      channel.waitedAtCharacters = channel.pending.length;
    }
    this.#nextCheckAtCharacters = waits ? this.#characters + Math.ceil(windowCharacters / checksPerWindow) : 0;
    return waits;
  }

  #passed(replaced: Map<Channel, string>): AnswerEvent[] {
    const state = { channels: this.#channels, replaced, known: this.#known };
    const events = this.#held.map((one) => masked(one, state, this.#options.answers));
    for (const { json } of events) this.#options.end.see(json);
    this.#held = [];
    this.#characters = 0;
    this.#nextCheckAtCharacters = 0;
    this.#heldBytes = 0;
    this.#hasLeft = true;
    // A single event cannot repeat more than this.
    if (this.#bytesInUse > upstreamEventMaxBytes) this.#forget();
    this.#allocation.keepOnly(answerBytes({ checkedText: this.#bytesInUse }));
    return events;
  }

  /** Forgets checked texts. A text that is repeated after this call is checked once more. */
  #forget(): void {
    for (const channel of this.#channels.values()) Object.assign(channel, { raw: '', masked: '', hasGrown: false });
    this.#known.clear();
    this.#repeated.clear();
    this.#bytesInUse = 0;
  }
}

const openChannel = (kind: Channel['kind']): Channel => ({
  ...{ sent: '', pending: '', kind, isChanged: false, raw: '', masked: '', hasGrown: true, waitedAtCharacters: 0 },
});

/** True if the masked part reaches the end of the text. */
const endsInMask = (text: string, maskedText: string): boolean =>
  text !== maskedText && text.at(-1) !== maskedText.at(-1);

const isShown = ({ text }: { readonly text: string }): boolean => text.trim() !== '';

function passOn(channel: Channel, now: string, windowCharacters: number): void {
  const { pending } = channel;
  // A text that no mask has changed is in memory once. It is one string for a window, because V8 needs more memory to
  // join the short texts of events than for the texts.
  channel.raw += pending;
  channel.masked += now === pending ? pending : now;
  channel.sent = (channel.sent + now).slice(-windowCharacters);
  channel.pending = '';
  channel.waitedAtCharacters = 0;
}

const reachesBack = {
  kind: 'blocked',
  guardrail: '',
  message: 'Text of the answer cannot be masked, as its beginning has been sent.',
} as const;

/** Returns the whole texts that repeat neither pieces nor an earlier text. */
function wholeTextsOf(
  held: readonly HeldEvent[],
  pieceTexts: ReadonlySet<string>,
  known: ReadonlyMap<string, string>,
): CheckedText[] {
  const wholes = new Map<string, CheckedText>();
  for (const one of held.flatMap(({ texts }) => texts)) {
    if (!isText(one)) continue;
    const isNew = one.channel === undefined && !pieceTexts.has(one.text) && !known.has(one.text);
    if (isNew && one.text.trim() !== '') wholes.set(one.text, one);
  }
  return [...wholes.values()];
}

const isText = (piece: EventPiece): piece is EventPiece & CheckedText => piece.kind !== 'signature';

interface MaskState {
  readonly channels: ReadonlyMap<string, Channel>;
  /** Texts of this window that were changed. The first piece carries the whole text. */
  readonly replaced: Map<Channel, string>;
  readonly known: ReadonlyMap<string, string>;
}

/** Returns the event with the masked text of a window in its first piece; the others become empty. */
function masked(
  { event, json, texts }: HeldEvent,
  state: MaskState,
  { spellingFields }: Pick<AnswerTexts, 'spellingFields'>,
): AnswerEvent {
  const changes = texts.flatMap((piece) => changesOf(piece, state));
  const changedValues = new Set(changes.map(([value]) => value));
  const changedItems = new Set(
    texts.flatMap(({ value, signedItem }) => (changedValues.has(value) ? (signedItem ?? []) : [])),
  );
  const signatures = texts.flatMap((piece): [number, string][] =>
    belongsToChangedItem(piece, changedItems, state) ? [[piece.value, brokenSignatureOf(json, piece.value)]] : [],
  );
  if (changes.length + signatures.length === 0) return event;
  const text = replaceValues(json, withoutSpelling(json, [...changes, ...signatures], spellingFields));
  return Object.create(event, { text: { value: text, enumerable: true } }) as AnswerEvent;
}

function changesOf({ value, text, kind, channel: name }: EventPiece, state: MaskState): [number, string][] {
  if (kind === 'signature') return [];
  const channel = name === undefined ? undefined : state.channels.get(name);
  const now = channel === undefined ? (state.known.get(text) ?? text) : state.replaced.get(channel);
  if (channel !== undefined && now !== undefined) state.replaced.set(channel, '');
  return now === undefined || now === text ? [] : [[value, JSON.stringify(now)]];
}

/** True for a signature of a text that was changed, in this window or before. */
function belongsToChangedItem(
  { kind, channel: prefix, signedItem }: EventPiece,
  changedItems: ReadonlySet<number>,
  { channels }: MaskState,
): boolean {
  if (kind !== 'signature') return false;
  if (prefix === undefined) return signedItem !== undefined && changedItems.has(signedItem);
  return channels.entries().some(([name, { isChanged }]) => isChanged && name.startsWith(prefix));
}
