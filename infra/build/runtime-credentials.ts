// Stands in for the SDK's credential chain inside the bundles. Lambda and the local run put credentials into the
// environment; the rest of the chain (SSO, profiles, web identity) is 135 KB of a 338 KB bundle and never runs there.
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
