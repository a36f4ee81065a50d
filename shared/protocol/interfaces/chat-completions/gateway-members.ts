/** Members that are the gateway's own and never reach a provider as they were sent. */
export const gatewayMembers: ReadonlySet<string> = new Set([
  'provider',
  'models',
  'cache',
  'preset',
  'usage',
  'reasoning',
]);
