// The claims of README.md about other gateways, each with its source and the date on which it was read. A claim that
// something is missing names the pages that were searched for it.
import { describe, expect, it } from '#jest';
import { readMarkdownFiles } from '../support/source-files.ts';

interface Source {
  /** The source: an address, or `owner/repository: path` of a public repository. */
  readonly at: string;
  readonly readOn: string;
}
const source = (readOn: string, at: string): Source => ({ at, readOn });

const litellm = {
  deploy: source('2026-05-02', 'BerriAI/litellm-docs: docs/proxy/deploy.md'),
  reservation: source('2026-11-29', 'BerriAI/litellm: litellm/proxy/spend_tracking/budget_reservation.py'),
  docs: source('2026-05-02', 'BerriAI/litellm-docs: docs'),
  prompts: source('2026-11-29', 'BerriAI/litellm-docs: docs/proxy/custom_prompt_management.md'),
  semanticCache: source('2026-11-29', 'BerriAI/litellm-docs: docs/proxy/caching_semantic.md'),
  guardrails: source('2026-11-29', 'BerriAI/litellm-docs: docs/proxy/guardrails'),
};
const portkey = {
  readme: source('2026-05-25', 'Portkey-AI/gateway: README.md'),
  docs: source('2026-08-21', 'Portkey-AI/docs-core: product'),
  stores: source('2026-11-29', 'Portkey-AI/docs-core: product/enterprise-offering/components.mdx'),
  prompts: source('2026-08-21', 'Portkey-AI/docs-core: product/prompt-engineering-studio/prompt-versioning.mdx'),
  batches: source('2026-11-29', 'Portkey-AI/docs-core: product/ai-gateway/batches.mdx'),
  cache: source('2026-11-29', 'https://portkey.ai/docs/product/ai-gateway/cache-simple-and-semantic'),
  guardrails: source('2026-11-29', 'https://portkey.ai/docs/aigw/product/guardrails/guardrails-for-batches'),
  mcp: source('2026-11-29', 'Portkey-AI/docs-core: product/ai-gateway/remote-mcp.mdx'),
};
const bifrost = {
  stores: source('2026-11-29', 'https://docs.getbifrost.ai/deployment-guides/config-json/storage'),
  budgets: source('2026-11-29', 'maximhq/bifrost: docs/features/governance/budget-and-limits.mdx'),
  docs: source('2026-08-22', 'maximhq/bifrost: docs/features'),
  prompts: source('2026-11-29', 'https://docs.getbifrost.ai/changelogs/ent-v1.3.9'),
  batches: source('2026-11-29', 'https://docs.getbifrost.ai/changelogs/v1.5.14'),
  semanticCache: source('2026-11-29', 'maximhq/bifrost: docs/features/semantic-caching.mdx'),
  guardrails: source('2026-11-29', 'https://docs.getbifrost.ai/deployment-guides/helm/guardrails'),
  mcp: source('2026-11-29', 'maximhq/bifrost: docs/features/governance/mcp-tools.mdx'),
};
const openrouter = {
  docs: source('2026-08-22', 'OpenRouterTeam/docs: guides'),
  caps: source('2026-08-22', 'OpenRouterTeam/docs: guides/routing/provider-selection.mdx'),
  policy: source('2026-08-22', 'OpenRouterTeam/docs: guides/features/zdr.mdx'),
  presets: source('2026-08-22', 'OpenRouterTeam/docs: guides/features/presets.mdx'),
  budgets: source('2026-08-22', 'OpenRouterTeam/docs: guides/best-practices/latency-and-performance.mdx'),
  batches: source('2026-11-29', 'https://openrouter.ai/docs/projects/docs/batch-quickstart'),
  cache: source('2026-08-22', 'OpenRouterTeam/docs: guides/features/response-caching.mdx'),
  guardrails: source('2026-11-29', 'OpenRouterTeam/docs: guides/features/guardrails.mdx'),
  tools: source('2026-11-29', 'OpenRouterTeam/docs: guides/features/server-tools.mdx'),
};

type Claim = readonly [says: string, source: Source | undefined];
/** Each row is in the order of the table's columns: LiteLLM, Portkey, Bifrost, OpenRouter. */
const claims: Readonly<Record<string, readonly [Claim, Claim, Claim, Claim]>> = {
  'runs in your own account': [
    ['yes', litellm.deploy],
    ['yes', portkey.readme],
    ['yes', bifrost.stores],
    ['no', openrouter.docs],
  ],
  'scales to zero': [
    ['no', litellm.deploy],
    ['partly (Workers)', portkey.readme],
    ['no', bifrost.stores],
    ['hosted', openrouter.docs],
  ],
  'state it needs': [
    ['Postgres (+Redis)', litellm.deploy],
    ['Redis, Mongo or S3', portkey.stores],
    ['SQLite or Postgres', bifrost.stores],
    ['hosted', openrouter.docs],
  ],
  'a retry gets the stored answer': [
    ['no', litellm.docs],
    ['no', portkey.docs],
    ['no', bifrost.docs],
    ['no', openrouter.docs],
  ],
  "reserves a call's highest cost": [
    ['partly since 1.84', litellm.reservation],
    ['?', undefined],
    ['no', bifrost.budgets],
    ['no', openrouter.budgets],
  ],
  'price cap per request': [
    ['no', litellm.docs],
    ['no', portkey.docs],
    ['no', bifrost.docs],
    ['yes', openrouter.caps],
  ],
  'enforced data policy': [
    ['no', litellm.docs],
    ['partly', portkey.docs],
    ['no', bifrost.docs],
    ['yes, silently', openrouter.policy],
  ],
  'stored prompts with revisions': [
    ['partly', litellm.prompts],
    ['yes', portkey.prompts],
    ['yes', bifrost.prompts],
    ['not by revision', openrouter.presets],
  ],
  'images, audio; batch': [
    ['yes', litellm.docs],
    ['yes', portkey.batches],
    ['yes', bifrost.batches],
    ['yes', openrouter.batches],
  ],
  'semantic cache': [
    ['yes', litellm.semanticCache],
    ['enterprise', portkey.cache],
    ['yes', bifrost.semanticCache],
    ['no', openrouter.cache],
  ],
  guardrails: [
    ['yes', litellm.guardrails],
    ['yes', portkey.guardrails],
    ['enterprise', bifrost.guardrails],
    ['yes', openrouter.guardrails],
  ],
  'MCP and agents': [
    ['yes', litellm.docs],
    ['yes', portkey.mcp],
    ['yes', bifrost.mcp],
    ['yes', openrouter.tools],
  ],
};

const [readme] = readMarkdownFiles([]);
const [, section = ''] = readme?.text.split('## Beside others\n') ?? [];
const [table = ''] = section.split(/^## /m);
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('the comparison of README.md', () => {
  it('says of each other gateway what a source says that is named here with its date, and nothing else', () => {
    const [head, ...capabilities] = rows;
    expect(head?.slice(2)).toEqual(['LiteLLM', 'Portkey', 'Bifrost', 'OpenRouter']);
    const cellsByName = Object.fromEntries(capabilities.map(([name = '', , ...cells]) => [name, cells]));
    expect(cellsByName).toEqual(
      Object.fromEntries(Object.entries(claims).map(([name, cells]) => [name, cells.map(([text]) => text)])),
    );
  });

  it('has a source for each claim but those that it marks as not established', () => {
    for (const [says, from] of Object.values(claims).flat()) {
      if (says === '?') expect(from).toBeUndefined();
      else expect(from?.at).toMatch(/^https:\/\/\S+$|^[\w.-]+\/[\w.-]+: [\w./-]+$/);
    }
  });

  it('says in which months the sources were read', () => {
    const days = Object.values(claims).flatMap((cells) => cells.flatMap(([, from]) => from?.readOn ?? []));
    const month = (day = '') => new Date(day).toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
    const [first, last] = [days.toSorted()[0], days.toSorted().at(-1)];
    expect(table).toContain(`${month(first)} to ${month(last)} ${last?.slice(0, 4)}`);
  });
});
