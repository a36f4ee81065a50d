export { type AwsEnvironment, hasAwsCredentials, readRegion, type Variables } from './aws-environment.ts';
export { type Environment, readEnvironment, readVariable } from './environment.ts';
