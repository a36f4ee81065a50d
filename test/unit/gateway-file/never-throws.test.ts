import fc from 'fast-check';
import { stringify } from 'yaml';
import { expect, it } from '#jest';
import { readGatewayFile } from '../../../shared/configuration/gateway-file/index.ts';
import { exampleText, fileOf } from './example-file.ts';

const answers = (text: string): void => {
  const result = readGatewayFile(text);
  if (!result.ok) expect(result.problems.length).toBeGreaterThan(0);
};

it('any text is answered with a file or with problems, never with a throw', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), answers));
  const yamlPieces = fc.constantFrom(
    '- ',
    'a: ',
    '&x ',
    '*x',
    '[',
    ']',
    '{',
    '}',
    '\n',
    '  ',
    '"',
    "'",
    '|',
    '? ',
    '!!set ',
    '---',
    '<<: ',
    '#',
    '1',
  );
  fc.assert(
    fc.property(
      fc.array(yamlPieces, { maxLength: 40 }).map((pieces) => pieces.join('')),
      answers,
    ),
  );
});

it('any value in any place of the file is answered with a file or with problems, never with a throw', () => {
  const places = placesOf(fileOf(exampleText), []);
  const value = fc.oneof(
    fc.jsonValue(),
    fc.object(),
    fc.constantFrom({ __proto__: 1 }, [], {}, null, 'x', -1, 1.5, true),
  );
  fc.assert(
    fc.property(fc.constantFrom(...places), value, (place, instead) => {
      const file = structuredClone(fileOf(exampleText));
      set(file, place, instead);
      answers(stringify(file));
    }),
    // Each place about once.
    { numRuns: 150 },
  );
});

it('what was read can be written and read again without a change', () => {
  const file = fileOf(exampleText);
  expect(fileOf(stringify(file))).toEqual(file);
});

type Place = (string | number)[];

function placesOf(value: unknown, place: Place): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  const steps: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...(place.length > 0 ? [place] : []), ...steps.flatMap(([step, item]) => placesOf(item, [...place, step]))];
}

function set(target: unknown, place: Place, value: unknown): void {
  const [step, ...rest] = place;
  if (typeof target !== 'object' || target === null || step === undefined) return;
  const members = target as Record<string | number, unknown>;
  if (rest.length === 0) members[step] = value;
  else set(members[step], rest, value);
}
