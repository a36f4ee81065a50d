// Why a schema cannot be used, with its place as a JSON pointer. Client text appears shortened only.

const segmentMaxCharacters = 40;
const pathMaxCharacters = 200;

const shorten = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`);

/** One step further down: member names are escaped as in RFC 6901. */
export const joinPath = (path: string, member: string | number): string =>
  `${path}/${shorten(String(member), segmentMaxCharacters).replaceAll('~', '~0').replaceAll('/', '~1')}`;

export class UnusableSchema extends Error {
  /** `items` are a list, as draft 7 has them and 2020-12 has not. */
  readonly isListOfItems: boolean;
  /** `problem` continues the sentence "The schema at /a/b …". */
  constructor(path: string, problem: string, isListOfItems = false) {
    super(`The schema${path === '' ? '' : ` at ${shorten(path, pathMaxCharacters)}`} ${problem}.`);
    this.isListOfItems = isListOfItems;
  }
}
