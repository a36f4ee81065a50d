/** Environment variables the bundles read. None of them is a secret. */
export const environmentNames = {
  stage: 'GW_STAGE',
  /** Origin secrets the door accepts: SHA-256 in hex, two of them comma-separated during a rotation. */
  originSecretHashes: 'GW_ORIGIN_SECRET_SHA256',
  logLevel: 'GW_LOG_LEVEL',
} as const;
