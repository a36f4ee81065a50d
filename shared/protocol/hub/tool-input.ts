// Writes arguments of a tool call as the input of a block, which must be an object. They are written piece by piece, so
// that a stream and a JSON answer agree. Invalid JSON is closed where it breaks, and the whole text is added as
// `raw_input`.

export interface InputWriter {
  /** Adds a piece; returns the part of the input that is now certain. */
  readonly add: (piece: string) => string;
  /** Returns the rest of the input. */
  readonly end: () => string;
}

type State =
  | 'start'
  /** After an opening bracket, or a comma. */
  | 'first'
  | 'item'
  | 'name'
  | 'colon'
  | 'value'
  /** Inside a string value. */
  | 'text'
  /** After a value. */
  | 'next'
  | 'ended'
  | 'broken';

/** Maximum nesting. Bodies of clients are no deeper. */
const depthMax = 64;

/**
 * Maximum length of a word or a number. No useful number has as many digits, and an unfinished number is read again
 * with each piece.
 */
const bareMaxCharacters = 1_024;

const blanks = /[ \t\n\r]+/y;
const bareCharacters = /[\w+.-]+/y;
const bareValue = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/;
/**
 * Matches text and escapes inside a string. The number of escapes is bounded, because V8 remembers each while it
 * searches.
 */
const textAndEscapes = /[^"\\\p{Cc}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\p{Cc}]*){0,512}/uy;
const begunEscape = /^\\(u[\da-fA-F]{0,3})?$/;
/** True for characters that JSON requires to be escaped. */
const isControl = (character: string): boolean => character < ' ';

export const createInputWriter = (): InputWriter => new InputReading();

class InputReading implements InputWriter {
  #whole = '';
  /** Unread text, which may continue in the next piece. */
  #rest = '';
  #at = 0;
  #out = '';
  /** Text that is sent with the next value, such as a comma or a name. */
  #pending = '';
  #state: State = 'start';
  #isBegun = false;
  #isInText = false;
  #hasMembers = false;
  readonly #closers: string[] = [];

  readonly add = (piece: string): string => {
    this.#whole += piece;
    this.#rest += piece;
    return this.#advance(false);
  };

  readonly end = (): string => this.#advance(true) + this.#ending();

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#rest)?.[0] ?? '';
  }

  #go(to: State, read: number): number {
    this.#state = to;
    return read;
  }

  #release(text: string): void {
    if (this.#closers.length === 1) this.#hasMembers = true;
    this.#out += this.#pending + text;
    this.#pending = '';
  }

  #begin(bracket: string): number {
    if (this.#closers.length === depthMax) return this.#go('broken', 0);
    this.#release(bracket);
    this.#isBegun = true;
    this.#closers.push(bracket === '{' ? '}' : ']');
    return this.#go('first', 1);
  }

  #finish(): number {
    const closer = this.#closers.pop() ?? '';
    // The last piece waits for a possible continuation.
    if (this.#closers.length === 0) return this.#go('ended', 1);
    this.#out += closer;
    return this.#go('next', 1);
  }

  #readText(isEnd: boolean): number {
    const write = (text: string, read = text.length): number => {
      if (this.#state === 'name') this.#pending += text;
      else this.#out += text;
      return read;
    };
    const text = this.#take(textAndEscapes);
    if (text !== '') return write(text);
    const character = this.#rest[this.#at] ?? '';
    if (character === '"') {
      const isName = this.#state === 'name';
      write(character);
      this.#isInText = false;
      return this.#go(isName ? 'colon' : 'next', 1);
    }
    // Models write raw line ends inside strings.
    if (character !== '\\') return write(isControl(character) ? JSON.stringify(character).slice(1, -1) : character, 1);
    return !isEnd && begunEscape.test(this.#rest.slice(this.#at, this.#at + 6)) ? 0 : this.#go('broken', 0);
  }

  #beginValue(character: string, isEnd: boolean): number {
    if (character === '{' || character === '[') return this.#begin(character);
    if (character === '"') {
      this.#release(character);
      this.#isInText = true;
      return this.#go('text', 1);
    }
    const bare = this.#take(bareCharacters);
    if (bare.length > bareMaxCharacters) return this.#go('broken', 0);
    if (!isEnd && this.#at + bare.length === this.#rest.length) return 0;
    if (!bareValue.test(bare)) return this.#go('broken', 0);
    this.#release(bare);
    return this.#go('next', bare.length);
  }

  /** Returns the number of characters read; 0 when more must come, or the rest is invalid. */
  #step(isEnd: boolean): number {
    if (this.#state === 'name' || this.#state === 'text') return this.#readText(isEnd);
    const blank = this.#take(blanks);
    if (blank !== '') return blank.length;
    const character = this.#rest[this.#at] ?? '';
    const isCloser = character === this.#closers.at(-1);
    switch (this.#state) {
      case 'start':
        return character === '{' ? this.#begin(character) : this.#go('broken', 0);
      case 'colon':
        this.#pending += character;
        return this.#go(character === ':' ? 'value' : 'broken', 1);
      case 'next':
        if (isCloser) return this.#finish();
        this.#pending = character;
        return this.#go(character === ',' ? 'item' : 'broken', 1);
      case 'value':
        return this.#beginValue(character, isEnd);
      case 'first':
      case 'item':
        if (isCloser && this.#state === 'first') return this.#finish();
        if (this.#closers.at(-1) === ']') return this.#beginValue(character, isEnd);
        this.#pending += character;
        return this.#go(character === '"' ? 'name' : 'broken', 1);
      default:
        return this.#go('broken', 0);
    }
  }

  #advance(isEnd: boolean): string {
    this.#out = '';
    this.#at = 0;
    for (let read = 1; read > 0 && this.#at < this.#rest.length && this.#state !== 'broken'; this.#at += read)
      read = this.#step(isEnd);
    this.#rest = this.#state === 'broken' ? '' : this.#rest.slice(this.#at);
    return this.#out;
  }

  #ending(): string {
    if (this.#state === 'ended') return '}';
    if (this.#whole.trim() === '') return '{}';
    const closed = `${this.#isBegun ? '' : '{'}${this.#isInText ? '"' : ''}${this.#closers.slice(1).toReversed().join('')}${this.#hasMembers ? ',' : ''}`;
    return `${closed}"raw_input":${JSON.stringify(this.#whole)}}`;
  }
}
