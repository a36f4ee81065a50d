// The list of models as clients of Amazon Bedrock read it: inference profiles, in pages.
import { fail } from '../../errors/index.ts';
import { instantOf } from '../../foundation/time/index.ts';
import type { ModelListItem, ModelObject } from '../../protocol/wire/index.ts';

const pageMaxResults = 1_000;

/** As ListInferenceProfiles of @aws-sdk/client-bedrock has them. An id of the catalogue is the id of a profile. */
interface ProfilePage {
  readonly inferenceProfileSummaries: readonly object[];
  readonly nextToken?: string;
}

const isServed = (model: ModelListItem): model is ModelObject =>
  'apis' in model && model.apis?.includes('converse') === true;

function toProfile({ id, display_name, created }: ModelObject): object {
  const inferenceProfileArn = `arn:aws:bedrock:::inference-profile/${id}`;
  const createdAt = instantOf(created * 1_000);
  return {
    inferenceProfileName: display_name,
    inferenceProfileId: id,
    inferenceProfileArn,
    models: [{ modelArn: `arn:aws:bedrock:::foundation-model/${id}` }],
    status: 'ACTIVE',
    type: 'SYSTEM_DEFINED',
    createdAt,
    updatedAt: createdAt,
  };
}

/** Throws invalid_request for a page that there cannot be. A token of a page is the id of its first model. */
export function toProfilePage(models: readonly ModelListItem[], query: string): ProfilePage {
  const parameters = new URLSearchParams(query);
  const isOfAccount = (parameters.get('type') ?? parameters.get('typeEquals')) === 'APPLICATION';
  const profiles = isOfAccount ? [] : models.filter(isServed);
  const size = readSize(parameters.get('maxResults'));
  const start = startOf(profiles, parameters.get('nextToken'));
  const next = profiles[start + size];
  return {
    inferenceProfileSummaries: profiles.slice(start, start + size).map(toProfile),
    ...(next === undefined ? {} : { nextToken: next.id }),
  };
}

function readSize(written: string | null): number {
  if (written === null || written === '') return pageMaxResults;
  if (/^[1-9]\d{0,8}$/.test(written)) return Math.min(Number(written), pageMaxResults);
  throw fail('invalid_request', { message: 'maxResults: must be a whole number above 0.', param: 'maxResults' });
}

function startOf(profiles: readonly ModelObject[], token: string | null): number {
  if (token === null || token === '') return 0;
  const start = profiles.findIndex(({ id }) => id === token);
  if (start < 0) throw fail('invalid_request', { message: 'nextToken: is none of this list.', param: 'nextToken' });
  return start;
}
