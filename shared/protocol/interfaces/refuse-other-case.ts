import { fail } from '../../errors/index.ts';

/** Such a name is a used one itself, or none. */
const lowerCase = /^[a-z0-9_]*$/;

/**
 * Refuses a name that differs from a used one in its case only. A provider that reads names without case (many Go servers)
 * would see another `model` or `max_tokens` than the one that was checked and paid for.
 */
export function otherCaseCheck(used: Iterable<string>): (names: Iterable<string>) => void {
  /** Lower case → the name as the gateway knows it. */
  const usedNames: ReadonlyMap<string, string> = new Map([...used].map((name) => [name.toLowerCase(), name]));
  const maxCharacters = Math.max(...[...usedNames.keys()].map(({ length }) => length));
  return (names) => {
    for (const name of names) {
      if (name.length > maxCharacters || lowerCase.test(name)) continue;
      // Upper case first, because Go takes a long s for an s.
      const known = usedNames.get(name.toUpperCase().toLowerCase());
      if (known === undefined || known === name) continue;
      throw fail('invalid_request', { message: `${known}: was also sent in another letter case`, param: known });
    }
  };
}
