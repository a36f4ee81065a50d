// `import litellm config.yaml > gateway.yaml`: converts another gateway's file to a gateway file.
import { readFile } from 'node:fs/promises';
import type { CommandLine } from '../args/command-line.ts';
import { readText } from '../args/option-values.ts';
import type { CommandOutcome, StorelessSession } from '../args/session.ts';
import { importLiteLlm } from '../litellm/gateway-file.ts';

export function addImport(program: CommandLine): void {
  program
    .command('import')
    .description('gateway files made of files of other gateways')
    .command('litellm')
    .description("print a gateway file made of LiteLLM's config.yaml")
    .takesArgument('FILE', readText)
    .notes(
      'Models, their credentials (os.environ/NAME), fallbacks, weights, limits, budgets, aliases and guardrails are taken over;',
      'what has no counterpart is a comment at the head, with its line. Secrets that stand in the file are not copied.',
      'Variables of addresses and names are read from this shell.',
    )
    .doesWithoutStore(importFile);
}

async function importFile({ terminal, variables }: StorelessSession, path: string): Promise<CommandOutcome> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`cannot read ${path}`);
  const { text: file, notes } = await importLiteLlm(text, variables).catch((error: Error) => {
    throw new Error(`${path} ${error.message}`);
  });
  if (notes.length > 0) terminal.writeError(`gw import litellm: ${notes.length} comments at the head say what differs`);
  return { json: { file, notes }, lines: () => file.replace(/\n$/, '').split('\n') };
}
