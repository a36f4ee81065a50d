// A file is a module: code that one file of the same folder alone imports lives in that file. Exceptions are files that
// are loaded on demand, that would be too long together, that a table of interfaces or formats requires, and ideas of
// their own.
import { basename, dirname, extname, posix } from 'node:path';
import { describe, expect, it } from '#jest';
import { readSourceFiles, type SourceFile } from '../support/source-files.ts';

const linesMax = 400;
const ideasMax = 60;

/** Files that are an idea of their own, though one file alone imports them. */
const ideas: readonly string[] = [
  // These files are a power, a format or a protocol that is read and tested by itself.
  'infra/bench/against/compare.ts',
  'infra/model-list/read-genai-prices.ts',
  'shared/accounting/provider-health/counter-shards.ts',
  'shared/configuration/byok/data-keys.ts',
  'shared/errors/vendor-words.ts',
  'shared/protocol/http/connection-phases.ts',
  'shared/protocol/http/http2-exchange.ts',
  'shared/routing/formats/hub/stop-search.ts',
  'shared/routing/guardrails/find-personal.ts',
  'shared/routing/guardrails/http-guardrail.ts',
  'shared/storage/aws-clients/pooled-request-handler.ts',
  'shared/storage/dynamodb-store/command-inputs.ts',
  'shared/storage/dynamodb-store/shared-updates.ts',
  'shared/storage/sqlite-store/log-sync.ts',
  'shared/storage/sqlite-store/sqlite-store.ts',
  // These files are steps of a call; the file that runs the steps in turn stays short.
  'functions/gateway/admission/key-models.ts',
  'functions/gateway/provider/check-output.ts',
  // These files hold one rule of the planner each, or one list of models each.
  'shared/routing/formats/hub/embed-in-parts.ts',
  'shared/routing/formats/hub/images-in-parts.ts',
  'shared/routing/model-listing/google-listing.ts',
  'shared/routing/planner/auto-models.ts',
  'shared/routing/planner/price-cap.ts',
  'shared/routing/planner/provider-choice.ts',
  // An interface has its request, its answer, its fields and its errors in separate files of its folder.
  'shared/protocol/interfaces/chat-completions/schema-check.ts',
  'shared/protocol/interfaces/chat-completions/translation/chat-fields.ts',
  'shared/protocol/interfaces/chat-completions/upstream-body.ts',
  'shared/protocol/interfaces/chat-completions/write-answer.ts',
  'shared/protocol/interfaces/converse/exceptions.ts',
  'shared/protocol/interfaces/converse/read-converse-request.ts',
  'shared/protocol/interfaces/generate-content/generate-request.ts',
  'shared/protocol/interfaces/generate-content/write-stream.ts',
  'shared/protocol/interfaces/messages/translation/message-fields.ts',
  'shared/protocol/interfaces/responses/response-hub-needs.ts',
  'shared/protocol/interfaces/responses/responses-request.ts',
  'shared/protocol/interfaces/responses/translation/item-fields.ts',
  'shared/protocol/interfaces/responses/write-response.ts',
  'shared/routing/formats/hub/targets/anthropic-events.ts',
  // These files are documents and schemas that are read as tables.
  'infra/local/demo/demo-file.ts',
  'infra/openapi/description/account-schemas.ts',
  'infra/openapi/description/answer-schemas.ts',
  'shared/configuration/management/account-documents.ts',
  // These files are a stack, a check or a program that a command runs by itself.
  'infra/bench/test-bed/inspect-process.ts',
  'infra/build/package.ts',
  'infra/cdk/api-stack.ts',
  'infra/cdk/data-stack.ts',
  'infra/cdk/deployment/check-routes.ts',
  'infra/local/built-files.ts',
  'infra/local/terminal-log.ts',
  'infra/verify/emulated-stage/committed-settings.ts',
  // These files are the simulator's behaviours, by kind.
  'infra/local/simulator/behaviours/faults-after-output.ts',
  'infra/local/simulator/behaviours/faults-before-output.ts',
  'infra/local/simulator/behaviours/usages.ts',
  'infra/local/simulator/guardrail.ts',
  'infra/local/simulator/play.ts',
  'infra/local/simulator/serve-request.ts',
];

/** Names of files that are the entry of a folder, or that a program starts. */
const entry = /(^|\/)(index|main|handler|container|routes|serve)\.tsx?$/;
/** Names of files that every interface has, and files of the simulator that every format has. */
const required =
  /^shared\/protocol\/interfaces\/[^/]+\/(texts|other-delivery|foreign-[\w-]+)\.ts$|^infra\/local\/simulator\/formats\//;

const statement = /\b(import|export)\b[^;'"`]*?\bfrom\s+'(\.[^']+)'|\b(?:import|URL)\('(\.[^']+)'/g;

/** Returns the files that one other file of their folder alone imports, and that are short enough to live in it. */
function singleImports(files: readonly Pick<SourceFile, 'path' | 'text'>[]): readonly string[] {
  const importers = new Map<string, Set<string>>();
  const apart = new Set<string>();
  for (const { path, text } of files) {
    for (const [, word, target, onDemand] of text.matchAll(statement)) {
      const file = posix.join(posix.dirname(path), target ?? onDemand ?? '');
      if (word !== 'import') apart.add(file);
      else importers.set(file, (importers.get(file) ?? new Set()).add(path));
    }
  }
  const linesOf = new Map(files.map(({ path, text }) => [path, text.split('\n').length]));
  return [...importers].flatMap(([file, paths]) => {
    const [importer = ''] = paths;
    if (paths.size !== 1 || apart.has(file) || entry.test(file) || entry.test(importer)) return [];
    if (dirname(importer) !== dirname(file) || extname(importer) < extname(file)) return [];
    const together = (linesOf.get(file) ?? 0) + (linesOf.get(importer) ?? 0);
    return together > linesMax ? [] : [file];
  });
}

const importOf = (path: string) => `import { x } from '${path}';`;
const exportOf = (path: string) => `export { x } from '${path}';`;

describe('a file that one file of its folder alone imports', () => {
  it(`lives in it, but for at most ${ideasMax} ideas of their own`, () => {
    const singles = singleImports(readSourceFiles(['shared', 'functions', 'infra'])).filter(
      (path) => !required.test(path) && !basename(path).endsWith('.d.ts'),
    );
    expect(singles.filter((path) => !ideas.includes(path)).toSorted()).toEqual([]);
    expect(ideas.filter((path) => !singles.includes(path))).toEqual([]);
    expect(ideas.length).toBeLessThanOrEqual(ideasMax);
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['is found', { 'a/one.ts': '', 'a/two.ts': importOf('./one.ts') }, ['a/one.ts']],
    ['stays where it is loaded on demand', { 'a/one.ts': '', 'a/two.ts': `const x = import('${'./one.ts'}');` }, []],
    [
      'stays where its folder shows it',
      { 'a/one.ts': '', 'a/two.ts': importOf('./one.ts') + exportOf('./one.ts') },
      [],
    ],
    [
      'stays where two import it',
      { 'a/one.ts': '', 'a/two.ts': importOf('./one.ts'), 'b/three.ts': importOf('../a/one.ts') },
      [],
    ],
    [
      'stays where both are long',
      { 'a/one.ts': '\n'.repeat(390), 'a/two.ts': `${importOf('./one.ts')}\n`.repeat(20) },
      [],
    ],
  ])('%s', (_, texts, found) => {
    expect(singleImports(Object.entries(texts).map(([path, text]) => ({ path, text })))).toEqual(found);
  });
});
