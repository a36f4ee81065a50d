// One name has one meaning: a reader who looks for a type finds one declaration of it.
import { describe, expect, it } from '#jest';
import { readSourceFiles } from '../support/source-files.ts';

/** Names that are declared twice for one meaning. The list only becomes shorter. */
const sameMeaning: Readonly<Record<string, string>> = {
  JsonObject: 'The schema reader and the wire formats are on one floor, and neither imports the other.',
  NewKey: "The page has the management API's document of it.",
};

describe('an exported type', () => {
  it('has a name of its own: one that two folders need is prefixed by what it belongs to', () => {
    const declared = new Map<string, string[]>();
    for (const { path, text } of readSourceFiles(['shared', 'functions', 'infra', 'test'])) {
      for (const [, name = ''] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm)) {
        declared.set(name, [...(declared.get(name) ?? []), path]);
      }
    }
    const several = [...declared].filter(([, paths]) => paths.length > 1);
    expect(Object.fromEntries(several.filter(([name]) => !(name in sameMeaning)))).toEqual({});
    expect(several.map(([name]) => name).toSorted()).toEqual(Object.keys(sameMeaning));
  });
});
