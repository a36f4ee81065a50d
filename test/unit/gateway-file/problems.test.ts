// How problems read: the wrong name, where it could be, and the line.
import { describe, expect, it } from '#jest';
import { formatProblem } from '../../../shared/configuration/gateway-file/index.ts';
import { exampleText, problemsOf, spoiled } from './example-file.ts';

const linesOf = (text: string) => problemsOf(text).map((problem) => formatProblem(problem, 'gateway.yaml'));
const lineOf = (written: string, text = exampleText): number => text.slice(0, text.indexOf(written)).split('\n').length;

describe('a problem', () => {
  it('quotes a name that is not there, says where it was looked for and which name is near', () => {
    const text = spoiled('- provider: acme', '- provider: acmee');
    expect(linesOf(text)).toEqual([
      `models[0].providers[0].provider: there is no provider "acmee" in providers; did you mean acme? (line ${lineOf('- provider: acmee', text)})`,
    ]);
  });

  it('lists the names there are where none is near', () => {
    const text = spoiled('[acme/small-1]', '[something-else]');
    expect(problemsOf(text)[0]?.message).toBe(
      'there is no model "something-else" in models; known are acme/large-1, acme/small-1, auto',
    );
  });

  it('says of a member that stands in the wrong place where it belongs', () => {
    const text = spoiled('reasoning_style: effort', 'rate_limit_rpm: 60');
    expect(problemsOf(text)).toEqual([
      {
        path: 'providers[0].rate_limit_rpm',
        message: 'is not known here; it is a member of models[].providers[]',
        line: lineOf('rate_limit_rpm: 60', text),
      },
    ]);
  });

  it('says of a mistyped member which one is meant', () => {
    expect(problemsOf(spoiled('rpm: 60,', 'rmp: 60,'))[0]?.message).toBe('is not known here; did you mean rpm?');
  });

  it('quotes a plain word in the place of a name, and nothing that may be a secret', () => {
    const messageOf = (id: string) =>
      problemsOf(spoiled('  - id: team-a', `  - id: "${id}"`)).find(({ path }) => path === 'workspaces[0].id')?.message;
    expect(messageOf('team a')).toMatch(/, not "team a"$/);
    for (const id of ['sk key 0123456789', 'a b'.repeat(20), '']) expect(messageOf(id)).toMatch(/underscores$/);
  });

  it('names the member that a short name begins', () => {
    const text = spoiled('spend_limit_usd: "5.00"', 'spend_limit: "5.00"');
    expect(problemsOf(text)).toMatchObject([{ message: 'is not known here; did you mean spend_limit_usd?' }]);
  });

  it('says of a mistyped word which one is meant', () => {
    const text = spoiled('modalities: [text, image]', 'modalities: [text, images]');
    expect(problemsOf(text)).toMatchObject([
      {
        path: 'models[0].modalities[1]',
        message: 'must be one of text, image, audio, video, file, not "images"; did you mean image?',
      },
    ]);
  });

  it('of a member that is missing has the line of what it is missing in', () => {
    const text = spoiled('        input_price_per_million: "2.50"\n', '');
    expect(problemsOf(text)).toEqual([
      {
        path: 'models[0].providers[0].input_price_per_million',
        message: 'is required',
        line: lineOf('- provider: acme', text),
      },
    ]);
  });

  it('has its line also behind an anchor, and in what is written on one line', () => {
    const text = [
      'providers: []',
      'models: []',
      'workspaces:',
      '  - id: a',
      '    keys: &keys [{ name: x, rpm: 0 }]',
      '  - id: b',
      '    keys: *keys',
    ].join('\n');
    expect(problemsOf(text).map(({ path, line }) => [path, line])).toEqual([
      ['workspaces[0].keys[0].rpm', 5],
      ['workspaces[1].keys[0].rpm', 5],
    ]);
  });

  it('of the file as a whole names the file', () => {
    expect(linesOf('')).toEqual(['gateway.yaml: is empty']);
    expect(linesOf('providers: []\nmodels: [')).toEqual([
      expect.stringMatching(/^gateway\.yaml: line 2, column \d+: /),
    ]);
  });

  it('cuts a name that is too long to be one', () => {
    const [problem] = problemsOf(spoiled('[acme/small-1]', `["${'x'.repeat(100)}"]`));
    expect(problem?.message).toContain(`"${'x'.repeat(64)}…"`);
  });
});
