export {
  type AwsCredentials,
  type AwsEnvironment,
  hasAwsCredentials,
  readAwsCredentials,
  type Variables,
} from './aws-environment.ts';
export { type Environment, readEnvironment, readVariable } from './environment.ts';
