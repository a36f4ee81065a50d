import { fail } from '../../errors/index.ts';
import { findMember, type JsonText } from '../wire/index.ts';

/**
 * Refuses a name that stands twice in one object of these members, at any depth: a restriction must not be overruled by its own
 * double.
 */
export function refuseDoubles(json: JsonText, members: Iterable<string>): void {
  for (const member of members) {
    const found = findMember(json, member);
    if (found !== undefined) refuseIn(json, found, member);
  }
}

/** Every value in it follows it directly, however deep. */
function refuseIn(json: JsonText, value: number, member: string): void {
  const end = json.next(value);
  for (let inner = value; inner < end; inner += 1) {
    if (!json.isObject(inner)) continue;
    const names = new Set<string>();
    for (const { name } of json.members(inner)) {
      const shown = name.slice(0, nameMaxCharacters);
      if (names.has(name))
        throw fail('invalid_request', { message: `${member}: "${shown}" stands in it twice`, param: member });
      names.add(name);
    }
  }
}

const nameMaxCharacters = 64;
