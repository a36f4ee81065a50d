// What a workspace keeps of its credit when its document is written again.
import type { WorkspaceDocument } from './document.ts';

/**
 * The document as it is stored over `former`. The credit is set when the workspace is created, and only then (contract 9).
 * A number of shards that is not named stays. Throws an Error for the operator for a smaller one: the credit in the others
 * would no longer be found.
 */
export function keepCredit(document: WorkspaceDocument, former: WorkspaceDocument | undefined): WorkspaceDocument {
  if (former === undefined) return document;
  const { credit_shards = former.credit_shards } = document;
  const [stored, named] = [former.credit_shards ?? 1, credit_shards ?? 1];
  if (named < stored) {
    throw new Error(
      `workspace ${document.id} has its credit in ${stored} shards, and the file says credit_shards: ${named}: ` +
        `what is in the others would not be found any more. Leave it out, or write ${stored} or more`,
    );
  }
  return { ...document, credit_usd: former.credit_usd, credit_shards };
}
