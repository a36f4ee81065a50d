// The list of models as clients of Amazon Bedrock read it: inference profiles, in pages.
import { instantOf } from '../../foundation/time/index.ts';
import type { ModelListItem, ModelObject } from '../../protocol/wire/index.ts';
import { pageOf } from './pages.ts';

const pageSizes = { param: 'maxResults', fallback: 1_000, max: 1_000, zeroIsNone: false };

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

/** Throws invalid_request for a page that there cannot be. */
export function toProfilePage(models: readonly ModelListItem[], query: string): ProfilePage {
  const parameters = new URLSearchParams(query);
  const isOfAccount = (parameters.get('type') ?? parameters.get('typeEquals')) === 'APPLICATION';
  const page = pageOf(isOfAccount ? [] : models.filter(isServed), {
    size: { ...pageSizes, sent: parameters.get('maxResults') },
    token: { param: 'nextToken', sent: parameters.get('nextToken') },
  });
  return {
    inferenceProfileSummaries: page.models.map(toProfile),
    ...(page.nextToken === undefined ? {} : { nextToken: page.nextToken }),
  };
}
