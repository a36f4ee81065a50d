// Arguments of a tool call as the input of a block, which has to be an object. They are written piece by piece, so that a stream and
// a JSON answer say the same: what is no JSON is closed where it breaks, and the whole text stands beside it, as `raw_input`.

export interface InputWriter {
  /** What of the input is certain with this piece. */
  readonly add: (piece: string) => string;
  /** What is left of it. */
  readonly end: () => string;
}

/** Of a whole text. */
export function inputText(text: string): string {
  const input = createInputWriter();
  return input.add(text) + input.end();
}

type State =
  | 'start'
  /** Behind an opening bracket, or a comma. */
  | 'first'
  | 'item'
  | 'name'
  | 'colon'
  | 'value'
  /** In a string that is a value. */
  | 'text'
  /** Behind a value. */
  | 'next'
  | 'ended'
  | 'broken';

/** Bodies of clients are no deeper. */
const depthMax = 64;

/** Of a word or a number: no number of use has as many digits, and what is not ended is read again with each piece. */
const bareMaxCharacters = 1_024;

const blanks = /[ \t\n\r]+/y;
const bareCharacters = /[\w+.-]+/y;
const bareValue = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/;
const plainCharacters = /[^"\\\p{Cc}]+/uy;
const wholeEscape = /\\(["\\/bfnrt]|u[\da-fA-F]{4})/y;
const begunEscape = /^\\(u[\da-fA-F]{0,3})?$/;
/** The least that JSON wants escaped. */
const isControl = (character: string): boolean => character < ' ';

export function createInputWriter(): InputWriter {
  let whole = '';
  /** What is not read yet: it may go on in the next piece. */
  let rest = '';
  let at = 0;
  let out = '';
  /** What goes out with the value that follows: a comma, a name. */
  let pending = '';
  let state: State = 'start';
  let isBegun = false;
  let isInText = false;
  let hasMembers = false;
  const closers: string[] = [];

  function take(pattern: RegExp): string {
    pattern.lastIndex = at;
    return pattern.exec(rest)?.[0] ?? '';
  }

  function go(to: State, read: number): number {
    state = to;
    return read;
  }

  function release(text: string): void {
    if (closers.length === 1) hasMembers = true;
    out += pending + text;
    pending = '';
  }

  function begin(bracket: string): number {
    if (closers.length === depthMax) return go('broken', 0);
    release(bracket);
    isBegun = true;
    closers.push(bracket === '{' ? '}' : ']');
    return go('first', 1);
  }

  function finish(): number {
    const closer = closers.pop() ?? '';
    // The last one waits for what may follow.
    if (closers.length === 0) return go('ended', 1);
    out += closer;
    return go('next', 1);
  }

  function readText(isEnd: boolean): number {
    const write = (text: string, read = text.length): number => {
      if (state === 'name') pending += text;
      else out += text;
      return read;
    };
    const plain = take(plainCharacters);
    if (plain !== '') return write(plain);
    const character = rest[at] ?? '';
    if (character === '"') {
      const isName = state === 'name';
      write(character);
      isInText = false;
      return go(isName ? 'colon' : 'next', 1);
    }
    // Models write line ends as they are.
    if (character !== '\\') return write(isControl(character) ? JSON.stringify(character).slice(1, -1) : character, 1);
    const escaped = take(wholeEscape);
    if (escaped !== '') return write(escaped);
    return !isEnd && begunEscape.test(rest.slice(at, at + 6)) ? 0 : go('broken', 0);
  }

  function beginValue(character: string, isEnd: boolean): number {
    if (character === '{' || character === '[') return begin(character);
    if (character === '"') {
      release(character);
      isInText = true;
      return go('text', 1);
    }
    const bare = take(bareCharacters);
    if (bare.length > bareMaxCharacters) return go('broken', 0);
    if (!isEnd && at + bare.length === rest.length) return 0;
    if (!bareValue.test(bare)) return go('broken', 0);
    release(bare);
    return go('next', bare.length);
  }

  /** How many characters were read. None: more has to come, or there is nothing to be made of them. */
  function step(isEnd: boolean): number {
    if (state === 'name' || state === 'text') return readText(isEnd);
    const blank = take(blanks);
    if (blank !== '') return blank.length;
    const character = rest[at] ?? '';
    const isCloser = character === closers.at(-1);
    switch (state) {
      case 'start':
        return character === '{' ? begin(character) : go('broken', 0);
      case 'colon':
        pending += character;
        return go(character === ':' ? 'value' : 'broken', 1);
      case 'next':
        if (isCloser) return finish();
        pending = character;
        return go(character === ',' ? 'item' : 'broken', 1);
      case 'value':
        return beginValue(character, isEnd);
      case 'first':
      case 'item':
        if (isCloser && state === 'first') return finish();
        if (closers.at(-1) === ']') return beginValue(character, isEnd);
        pending += character;
        return go(character === '"' ? 'name' : 'broken', 1);
      default:
        return go('broken', 0);
    }
  }

  function advance(isEnd: boolean): string {
    out = '';
    at = 0;
    for (let read = 1; read > 0 && at < rest.length && state !== 'broken'; at += read) read = step(isEnd);
    rest = state === 'broken' ? '' : rest.slice(at);
    return out;
  }

  function ending(): string {
    if (state === 'ended') return '}';
    if (whole.trim() === '') return '{}';
    const closed = `${isBegun ? '' : '{'}${isInText ? '"' : ''}${closers.slice(1).toReversed().join('')}${hasMembers ? ',' : ''}`;
    return `${closed}"raw_input":${JSON.stringify(whole)}}`;
  }

  return {
    add(piece) {
      whole += piece;
      rest += piece;
      return advance(false);
    },
    end: () => advance(true) + ending(),
  };
}
