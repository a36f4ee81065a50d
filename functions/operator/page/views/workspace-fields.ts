// Fields in the form of a workspace, and the request made from them.
import type { Workspace } from '../connection/documents.ts';
import { readContentLog } from '../parts/content-log-fields.tsx';
import { formValues } from '../parts/form.tsx';

type Fields = Pick<
  Workspace,
  | 'spend_limit_usd'
  | 'concurrency'
  | 'tpm'
  | 'function_concurrency'
  | 'models'
  | 'guardrails'
  | 'features'
  | 'member_keys'
> & {
  readonly id: string;
  readonly content_log: ReturnType<typeof readContentLog>;
  readonly credit_usd: string;
  readonly data_policy: {
    readonly zdr: boolean | null;
    readonly data_collection: 'deny' | null;
    readonly data_residency: string[] | null;
  };
};

export function readWorkspaceForm(form: HTMLFormElement): Fields {
  const values = formValues(form);
  const { has, text, number, list } = values;
  const [models, regions] = [list('models'), list('data_residency')];
  const memberMax = number('member_max');
  return {
    id: text('id'),
    credit_usd: text('credit_usd') || '0',
    spend_limit_usd: text('spend_limit_usd') || null,
    concurrency: number('concurrency'),
    tpm: number('tpm'),
    function_concurrency: number('function_concurrency'),
    models: models.length === 0 ? 'all' : models,
    guardrails: list('guardrails').length === 0 ? null : list('guardrails'),
    data_policy: {
      zdr: has('zdr') ? true : null,
      data_collection: has('deny') ? 'deny' : null,
      data_residency: regions.length === 0 ? null : regions,
    },
    features: { byok: has('byok'), presets: has('presets') },
    // A share alone keeps nothing.
    content_log: text('content_keep') === '' ? null : { share: 1, ...readContentLog(values) },
    member_keys:
      memberMax === null
        ? null
        : {
            max: memberMax,
            rpm: number('member_rpm'),
            concurrency: number('member_concurrency'),
            spend_limit_usd: text('member_spend_limit_usd') || null,
            spend_limit_reset: (text('member_spend_limit_reset') || null) as 'daily' | 'weekly' | 'monthly' | null,
            expires_in: text('member_expires_in') || null,
          },
  };
}

/** Differences from the stored workspace, down to the fields of its policy. */
export const workspaceChanges = ({ id: _id, credit_usd: _credit, ...fields }: Fields, former: Workspace) =>
  differing(fields, former);

export const newWorkspace = ({ id, credit_usd, ...fields }: Fields) => ({
  id,
  credit_usd,
  ...differing(fields, undefined),
});

function differing<Wanted extends object>(wanted: Wanted, former: object | undefined): Partial<Wanted> {
  const entries = Object.entries(wanted).flatMap(([name, value]): [string, unknown][] => {
    const before: unknown = (former as Record<string, unknown> | undefined)?.[name] ?? null;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const inner = differing(value, (before ?? {}) as object);
      return Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }
    if (value === null && former === undefined) return [];
    return JSON.stringify(value) === JSON.stringify(before) ? [] : [[name, value]];
  });
  return Object.fromEntries(entries) as Partial<Wanted>;
}
