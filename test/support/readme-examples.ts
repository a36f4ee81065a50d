// Gateway files in the documentation, and a start with one of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { readMarkdownFiles } from './source-files.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface ReadmeExample {
  /** The page and its heading. */
  readonly place: string;
  readonly text: string;
}

/** Every block of YAML except those that name a file of another program. */
export const readmeExamples: readonly ReadmeExample[] = readMarkdownFiles().flatMap(({ path, text }) =>
  [...text.matchAll(/^```ya?ml\n([\s\S]*?)^```/gm)].map(({ 1: example = '', index }) => {
    const heading = /^#+ (.*)$/gm;
    const headings = [...text.slice(0, index).matchAll(heading)].map(([, title]) => title);
    return { place: `${path}, ${headings.at(-1)}`, text: example };
  }),
);

/** Examples that are complete gateway files. */
export const wholeExamples = readmeExamples.filter(({ text }) => /^providers:/m.test(text) && /^models:/m.test(text));

export interface StartedExample {
  readonly url: string;
  readonly key: string;
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/** Starts a gateway of its own with the unchanged file: only the addresses of its providers and guardrails differ. */
export async function startExample(text: string, addressOf: (provider: string) => string): Promise<StartedExample> {
  const file = parse(text) as {
    readonly providers: readonly { readonly id: string }[];
    readonly guardrails?: readonly { readonly id: string }[];
  };
  const guardrails = file.guardrails?.map(({ id }) => ({ id, kind: 'http', url: `${addressOf(id)}/guardrail` }));
  const providers = file.providers.map((provider) => ({ ...provider, base_url: addressOf(provider.id) }));
  const config = join(temporaryFolder(), 'gateway.yaml');
  writeFileSync(config, stringify({ ...file, providers, ...(guardrails && { guardrails }) }));
  const lines: string[] = [];
  const options = { port: 0, host: '127.0.0.1', config, data: undefined, dynamodb: undefined, log: 'off' } as const;
  const { url, stop } = await startLocalGateway(options, (line) => lines.push(line));
  const [key = ''] = lines.flatMap((line) => /^key .*\(shown once\): (\S+)$/.exec(line)?.[1] ?? []);
  return { url, key, lines, stop };
}
