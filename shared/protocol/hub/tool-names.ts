// Makes tool names that every target accepts. Some targets allow 64 characters, and some do not allow all characters
// that others allow. A shortened name is restored in the answer.
import { sha256Hex } from '../../foundation/ids/index.ts';

export interface ToolNames {
  /** Returns the name for the target. The same name is always shortened to the same. */
  readonly short: (name: string) => string;
  /** Returns the name for the client. */
  readonly long: (name: string) => string;
}

const nameMaxCharacters = 64;
const commonName = /^[a-zA-Z_][\w-]{0,63}$/;
const digestCharacters = 8;

export function createToolNames(): ToolNames {
  const longByShort = new Map<string, string>();
  return {
    short(name) {
      if (commonName.test(name)) return name;
      const plain = name.replaceAll(/[^\w-]/g, '_').replace(/^(?![a-zA-Z_])/, '_');
      const beginning = plain.slice(0, nameMaxCharacters - digestCharacters - 1);
      const short = `${beginning}_${sha256Hex(name).slice(0, digestCharacters)}`;
      longByShort.set(short, name);
      return short;
    },
    long: (name) => longByShort.get(name) ?? name,
  };
}
