// Search units, in which reranking is billed: a query with up to a hundred documents is one; of a long document each part
// counts as one (docs.cohere.com/docs/how-does-cohere-pricing-work, aws.amazon.com/bedrock/pricing, November 2026).
const documentsPerUnit = 100;
/** A document and the query, in tokens. */
const partTokens = 500;
/** However long the query is. */
const partTokensMin = 100;

interface Searched {
  /** Bytes of each document. */
  readonly sizes: readonly number[];
  readonly queryBytes: number;
}

/** `bytesPerToken`: 1 for the most units that it can be, 4 for what it usually is. */
export function searchUnits({ sizes, queryBytes }: Searched, bytesPerToken: number): number {
  const tokensOf = (bytes: number) => Math.ceil(bytes / bytesPerToken);
  const partMax = Math.max(partTokensMin, partTokens - tokensOf(queryBytes));
  const parts = sizes.reduce((sum, bytes) => sum + Math.max(1, Math.ceil(tokensOf(bytes) / partMax)), 0);
  return Math.ceil(parts / documentsPerUnit);
}
