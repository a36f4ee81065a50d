// A page is read in one sitting: 800 words. Longer ones are listed with their words, which may only become fewer.
import { describe, expect, it } from '#jest';
import { readMarkdownFiles } from '../support/source-files.ts';

const pageWords = 800;

/** Rounded up to the next 50, so that not each sentence changes this list. */
const longerPages: Readonly<Record<string, number>> = {
  'functions/gateway/README.md': 1_900,
  'functions/operator/README.md': 2_250,
  'infra/bench/README.md': 2_600,
  'infra/cdk/README.md': 2_200,
  'infra/cdk/guides/many-calls.md': 1_200,
  'infra/cdk/guides/restoring.md': 900,
  'infra/cdk/guides/stages.md': 1_000,
  'infra/cli/README.md': 1_400,
  'infra/local/README.md': 1_100,
  'infra/local/simulator/README.md': 1_550,
  'infra/openapi/README.md': 2_400,
  'shared/accounting/README.md': 1_250,
  'shared/accounting/holds/README.md': 1_000,
  'shared/configuration/gateway-file/README.md': 1_600,
  'shared/foundation/telemetry/README.md': 850,
  'shared/protocol/http/README.md': 1_250,
  'shared/routing/formats/hub/README.md': 2_250,
  'shared/routing/guardrails/README.md': 850,
  'test/clients/README.md': 2_300,
};

/** Words with a letter or a digit: signs of tables and lists are none. */
const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{Letter}\p{Number}]/u.test(word)).length;

describe('a page', () => {
  const counts = readMarkdownFiles(['shared', 'functions', 'infra', 'test', '.github']).map(
    ({ path, text }) => [path, countWords(text)] as const,
  );

  it('has at most 800 words, or no more than it had', () => {
    expect(counts.filter(([path, words]) => words > (longerPages[path] ?? pageWords))).toEqual([]);
  });

  it('lowers its number in the list, or leaves it, when it became shorter by 100 words', () => {
    const found = new Map(counts);
    const stale = Object.entries(longerPages).filter(([path, ceiling]) => (found.get(path) ?? 0) < ceiling - 150);
    expect(stale).toEqual([]);
  });
});
