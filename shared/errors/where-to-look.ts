/** For the message of a failure whose attempts are on record under the id of the request. */
export const whereToLook = (correlationId: string): string =>
  `GET /v1/generation?id=${correlationId} shows each attempt, \`gw calls show\` also what the providers said.`;
